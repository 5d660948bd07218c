"""A profiled program is the same program: what it sees, prints, returns and dies of."""

import os
import pty
import shutil
import signal
import subprocess

import pytest
from support import run as tool
from support.endings import ENDINGS
from support.run import (
    BINARY,
    TARGETS,
    capture_of,
    copy_tool,
    inspect,
    plain,
    profile,
    profile_command,
)

MIRROR = str(TARGETS / "mirror.py")


def script(folder, text, name="script.py"):
    path = folder / name
    path.write_text(text)
    return str(path)


def same(python, args, cwd, options=("-q",), profiled=None, expected=None, **rest):
    """Plain, then profiled: nothing may differ. `profiled`: the arguments in our form; `expected`: what a
    plain run has said already, where a shorter one says the same."""
    if expected is None:
        expected = plain(python, args, cwd, **rest)
    result = profile(python, profiled if profiled is not None else args, cwd, options, **rest)
    assert result.status == expected.status, "plain:\n%s\nprofiled:\n%s" % (expected, result)
    assert result.out == expected.out
    assert result.err == expected.err
    assert (result.stdout, result.stderr) == (expected.stdout, expected.stderr)
    return result


def test_all_that_a_program_sees(program, python, tmp_path):
    result = same(
        python, [MIRROR, "one", "two words", "", "ünïcode"], tmp_path, stdin=b"some\ninput\n"
    )
    assert result.status == 3 and b"'some\\ninput\\n'" in result.stdout
    assert capture_of(result).stat().st_size > 0


def test_what_is_kept_for_logs_moves_no_collection(program, python, tmp_path):
    """The modules that are changed for it are there before the program, or are its first act."""
    same(python, [MIRROR], tmp_path, stdin=b"", env={"PYTHONWARNINGS": "default"})
    for imported in ("logging", "warnings, logging, dataclasses"):
        path = script(tmp_path, "import %s\n%s" % (imported, open(MIRROR).read()))
        same(python, [path], tmp_path, stdin=b"", env={"PYTHONWARNINGS": None})


COLLECTIONS = """
import gc
def show():
    print(gc.get_count()[0], [(s["collections"], s["collected"]) for s in gc.get_stats()])
show()
import random, threading
show()
import logging
show()
print(gc.collect())
import inspect, email.message, unittest
show()
"""


def test_collections_come_when_they_would(program, python, tmp_path):
    """Each of them, and to a few objects: tuples that an audit hook is given, on the way of one import."""
    path = script(tmp_path, COLLECTIONS)
    env = {"PYTHONHASHSEED": "0", "PYTHONWARNINGS": None}
    plain(python, [path], tmp_path, env=env)  # so that all is compiled
    seen = []
    for result in (plain(python, [path], tmp_path, env=env), profile(python, [path], tmp_path, ["-q"], env=env)):
        seen.append([line.partition(" ")[::2] for line in result.out.splitlines()])
    for (count, rest), (profiled, rest_profiled) in zip(*seen):
        assert rest == rest_profiled, seen
        assert abs(int(count) - int(profiled)) < 16, seen


def test_code(program, python, tmp_path):
    same(
        python,
        ["-c", open(MIRROR).read(), "one", "-x"],
        tmp_path,
        profiled=["--code", open(MIRROR).read(), "one", "-x"],
    )


def test_module(program, python, tmp_path):
    package = tmp_path / "a_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    shutil.copy(MIRROR, package / "__main__.py")
    shutil.copy(MIRROR, tmp_path / "a_module.py")
    for name in ("a_package", "a_module", "a_package.__main__"):
        same(
            python,
            ["-m", name, "one", "--two"],
            tmp_path,
            profiled=["--module", name, "one", "--two"],
        )


@pytest.mark.parametrize(
    "options, passed, seen",
    [
        (
            [],
            ["a", "-q", "--rate", "5"],
            "['a', '-q', '--rate', '5']",
        ),  # the first foreign word begins them
        ([], ["--", "-q", "--rate"], "['-q', '--rate']"),
        ([], ["--unknown", "-q"], "['--unknown', '-q']"),
        ([], ["-q"], "[]"),  # ours, also after FILE
        (["--rate", "100"], ["-q", "x"], "['x']"),
    ],
)
def test_whose_arguments(program, system_python, options, passed, seen, tmp_path):
    path = script(tmp_path, "import sys\nprint(sys.argv[1:])\n")
    result = profile(system_python, [path] + passed, tmp_path, options)
    assert result.status == 0 and result.out.splitlines()[0] == seen, result


@pytest.mark.parametrize("ending", sorted(ENDINGS))
def test_ending(program, some_python, ending, tmp_path):
    result = same(some_python, [script(tmp_path, ENDINGS[ending])], tmp_path)
    if ending == "files":
        assert (tmp_path / "made").read_text() == "text"
    assert inspect(capture_of(result)).status == 0


def same_told(python, args, cwd, **rest):
    """Plain, then with all calls told, then with all lines: nothing may differ but what we say at the end."""
    expected = plain(python, args, cwd, **rest)
    for name, options in (("calls", ["-o"]), ("lines", ["-l", "-f", "*", "--in", ".", "-q", "-o"])):
        folder = cwd.parent / name
        folder.mkdir(exist_ok=True)
        command = [str(BINARY), name, *options, str(folder / "result"), "--python", python.path]
        result = tool.run(command + args, cwd, python, **rest)
        assert (result.status, result.out) == (expected.status, expected.out), (name, expected, result)
        ours = result.err[len(expected.err) :].splitlines()
        assert result.err.startswith(expected.err) and all(line.startswith("fixingahole: ") for line in ours), (expected, result)
    return expected


def test_all_that_a_program_sees_while_calls_and_lines_are_told(program, python, tmp_path):
    (tmp_path / "work").mkdir()
    shutil.copy(MIRROR, tmp_path / "work" / "mirror.py")
    result = same_told(python, ["mirror.py", "one", "two words", "", "-o"], tmp_path / "work", stdin=b"some\ninput\n")
    assert result.status == 3, result
    assert (tmp_path / "calls" / "result").is_file() and (tmp_path / "lines" / "result").is_file()


@pytest.mark.parametrize("ending", sorted(ENDINGS))
def test_ending_while_calls_and_lines_are_told(program, told_python, ending, tmp_path):
    (tmp_path / "work").mkdir()
    same_told(told_python, [script(tmp_path / "work", ENDINGS[ending])], tmp_path / "work")


def test_statuses_on_every_python(program, python, tmp_path):
    for number, (text, status) in enumerate(
        [
            ("pass", 0),
            ("raise SystemExit(3)", 3),
            ("1/0", 1),
            (ENDINGS["signal KILL"], 137),
            (ENDINGS["signal SEGV"], 139),
        ]
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert same(python, [script(folder, text)], folder).status == status


def test_without_q_the_program_speaks_first_and_is_not_changed(program, some_python, tmp_path):
    path = script(
        tmp_path, "import sys\nprint('mine')\nsys.stderr.write('mine too\\n')\nsys.exit(3)\n"
    )
    expected = plain(some_python, [path], tmp_path)
    result = profile(some_python, [path], tmp_path, options=[])
    assert result.status == 3
    assert result.stdout.startswith(expected.stdout) and len(result.stdout) > len(expected.stdout)
    assert result.stderr.startswith(expected.stderr)
    assert len(result.err.splitlines()) <= len(expected.err.splitlines()) + 3


@pytest.mark.parametrize(
    "name",
    [
        "with space.py",
        "ünïcödé ☃.py",
        "-dash.py",
        "no_suffix",
        "two.dots.py",
        "quote'\".py",
        "new\nline.py",
    ],
)
def test_strange_names(program, system_python, name, tmp_path):
    folder = tmp_path / "a folder ☃"
    folder.mkdir()
    shutil.copy(MIRROR, folder / name)
    result = same(system_python, [str(folder / name)], folder)
    assert result.folder.name and (result.folder / name).exists(), os.listdir(result.folder)


def test_from_another_folder_and_by_relative_path(program, some_python, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "elsewhere").mkdir()
    shutil.copy(MIRROR, tmp_path / "sub" / "mirror.py")
    same(some_python, ["sub/mirror.py"], tmp_path)
    same(some_python, ["../sub/mirror.py"], tmp_path / "elsewhere")


def test_through_a_symlink(program, system_python, tmp_path):
    (tmp_path / "link.py").symlink_to(MIRROR)
    same(system_python, ["link.py"], tmp_path)


def in_terminal(command, cwd):
    """Runs with a terminal as stdin, stdout and stderr; its output and status."""
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(str(cwd))
        os.execvpe(command[0], command, tool.environment({"TERM": "xterm"}))
    out = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:
            break
        if not part:
            break
        out += part
    os.close(master)
    return os.waitpid(pid, 0)[1], out


def test_on_a_terminal(program, system_python, tmp_path):
    expected = in_terminal([system_python.path, MIRROR], tmp_path)
    result = in_terminal(profile_command(system_python, [MIRROR], ["-q"]), tmp_path)
    assert result[0] == expected[0]
    assert result[1].decode() == expected[1].decode()


def test_interrupt_from_the_terminal_ends_the_program_and_keeps_the_report(
    program, some_python, tmp_path
):
    """^C goes to the whole foreground group: the program decides, the profiler stays to write."""
    path = script(
        tmp_path, "import time\nprint('ready', flush=True)\nwhile True:\n    time.sleep(0.01)\n"
    )
    process = tool.start(profile_command(some_python, [path], ["-q"]), tmp_path, some_python)
    assert process.stdout.readline() == b"ready\n"
    os.killpg(process.pid, signal.SIGINT)
    result = tool.finish(process)
    assert result.status == 130 and b"KeyboardInterrupt" in result.stderr, result
    result.folder = tool.run_folder(tmp_path / "performance")
    assert inspect(capture_of(result)).status == 0


SHELLS = """
import os, subprocess, threading

threads = [threading.Thread(target=os.system, args=("sleep 0.%d" % i,)) for i in (1, 2, 3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print([line for line in open("/proc/self/status") if line.startswith(("SigIgn", "SigBlk"))], flush=True)
for command in (
    ["env", "true"],
    ["sh", "-c", "trap 'echo trapped' USR1; kill -USR1 $$"],
    ["timeout", "5", "true"],
    ["env", "-i", "/bin/sh", "-c", "echo $LD_PRELOAD; exit 7"],
):
    print(command, subprocess.call(command), flush=True)
print(os.system("exit 5") >> 8, os.system("kill -TERM $$"), flush=True)
"""


def test_shells_and_what_they_start(program, python, tmp_path):
    """system() in several threads at once; programs without libdl, which old C libraries keep apart."""
    result = same(python, [script(tmp_path, SHELLS)], tmp_path)
    assert b"trapped" in result.stdout and b"exit 7'] 7" in result.stdout, result


def test_where_nobody_may_be_waited_for(program, system_python, tmp_path):
    """SIGCHLD ignored by whoever started us: we end, and the program still has it ignored."""
    path = script(tmp_path, "import signal\nprint(signal.getsignal(signal.SIGCHLD))\n")
    command = profile_command(system_python, [path], ["-q"])
    trapped = ["sh", "-c", 'trap "" CHLD; exec "$@"', "sh"]
    result = tool.run(trapped + command, tmp_path)
    expected = tool.run(trapped + [system_python.path, path], tmp_path)
    assert (result.status, result.stdout) == (0, expected.stdout), result


def test_terminated(program, system_python, tmp_path):
    """SIGTERM to the profiler alone, as a container's end: the program gets it."""
    path = script(
        tmp_path, "import time\nprint('ready', flush=True)\nwhile True:\n    time.sleep(0.01)\n"
    )
    process = tool.start(profile_command(system_python, [path], ["-q"]), tmp_path, system_python)
    assert process.stdout.readline() == b"ready\n"
    os.kill(process.pid, signal.SIGTERM)
    assert tool.finish(process).status == 143


def test_a_reader_that_goes_away(program, system_python, tmp_path):
    """`profile … | head -1`: the program dies of the pipe as it would, and nobody hangs."""
    path = script(tmp_path, "import sys\nwhile True:\n    print('x' * 1000)\n")
    command = " ".join("'%s'" % part for part in profile_command(system_python, [path], ["-q"]))
    result = tool.run(["sh", "-c", command + " | head -n 1"], tmp_path)
    assert result.stdout == b"x" * 1000 + b"\n"
    expected = tool.run(["sh", "-c", "%s %s | head -n 1" % (system_python.path, path)], tmp_path)
    assert result.err == expected.err


def as_nobody(command, cwd):
    return tool.run(
        ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + command,
        cwd,
        env={"HOME": "/nonexistent"},
    )


@pytest.mark.skipif(os.getuid() != 0, reason="SKIP: only root can become nobody")
def test_as_nobody(program, system_python, tmp_path_factory):
    import tempfile

    with tempfile.TemporaryDirectory() as top:
        os.chmod(top, 0o755)
        from pathlib import Path

        binary = copy_tool(Path(top) / "tool")
        work = Path(top) / "work"
        work.mkdir()
        os.chown(work, 65534, 65534)
        shutil.copy(MIRROR, work / "mirror.py")
        expected = as_nobody([system_python.path, "mirror.py"], work)
        result = as_nobody(
            [str(binary), "profile", "-q", "--python", system_python.path, "mirror.py"], work
        )
        assert (result.status, result.out, result.err) == (
            expected.status,
            expected.out,
            expected.err,
        )
        burn = script(work, "s = sum(i for i in range(3 * 10**6))\n", "burn.py")
        result = as_nobody([str(binary), "profile", "--python", system_python.path, burn], work)
        assert result.status == 0 and "burn.py" in result.out, result
        assert tool.run_folder(work / "performance").stat().st_uid == 65534


def test_no_home_no_path_no_locale(program, system_python, tmp_path):
    path = script(tmp_path, "import os\nprint(sorted(os.environ.items()))\n")
    command = ["env", "-i", str(BINARY), "profile", "-q", "--python", system_python.path, path]
    expected = tool.run(["env", "-i", system_python.path, path], tmp_path)
    result = tool.run(command, tmp_path)
    assert (result.status, result.out, result.err) == (expected.status, expected.out, expected.err)


def test_closed_standard_streams(program, system_python, tmp_path):
    path = script(
        tmp_path,
        "import os, sys\nopen('seen', 'w').write(repr((sys.stdin, sys.stdout, "
        "sorted(os.listdir('/proc/self/fd')))))\n",
    )
    seen = []
    for command in ([system_python.path, path], profile_command(system_python, [path], ["-q"])):
        line = " ".join("'%s'" % part for part in command) + " <&- >&- 2>&-"
        assert subprocess.call(["sh", "-c", line], cwd=str(tmp_path), env=tool.environment()) == 0
        seen.append((tmp_path / "seen").read_text())
    assert seen[0] == seen[1]


def test_its_own_preload_stays(program, system_python, tmp_path):
    """A program that is started with a preload of its own keeps it, and its children too."""
    library = tmp_path / "libmine.so"
    (tmp_path / "mine.c").write_text("int fah_test_preload_of_the_program = 1;\n")
    subprocess.check_call(["gcc", "-shared", "-fPIC", "-o", str(library), str(tmp_path / "mine.c")])
    path = script(
        tmp_path,
        "import os, subprocess\nprint(sorted(os.environ.items()))\n"
        "print('libmine' in open('/proc/self/maps').read())\n"
        "print(subprocess.run(['grep', '-c', 'libmine', '/proc/self/maps'], stdout=-1)"
        ".stdout)\nprint(subprocess.run(['env'], stdout=-1).stdout)\n",
    )
    result = same(system_python, [path], tmp_path, env={"LD_PRELOAD": str(library)})
    assert "True" in result.out
