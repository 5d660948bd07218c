"""`record`: the command is itself, the recording ends when it is told to, refusals come before the start."""

import os
import re
import shlex
import shutil
import signal
import tempfile
from pathlib import Path

import pytest
from support import capture
from support import run as tool
from support.run import BINARY, TARGETS
from support.terminal import Terminal
from test_errors import refused

MIRROR = str(TARGETS / "mirror.py")
SPIN = """
import os, signal, sys, time

def work():
    return sum(i * i for i in range(2000))

if len(sys.argv) > 2:
    signal.signal(signal.SIGINT, lambda *_: os.write(1, b"not yet\\n"))
print("ready", flush=True)
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    work()
print("done", flush=True)
"""


def command(python, words, options=()):
    return [str(BINARY), "record"] + list(options) + ["--", python.path] + [str(w) for w in words]


def record(python, words, cwd, options=(), **rest):
    return tool.run(command(python, words, options), cwd, python, **rest)


def spin(folder):
    (folder / "spin.py").write_text(SPIN)
    return "spin.py"


def only(folder, pattern):
    """The one file that the pattern names."""
    (found,) = folder.glob(pattern)
    return found


def names(path):
    return capture.read(path).names()


def test_the_program_is_itself(program, python, tmp_path):
    """From another folder, with spaces; output, input, status; ours is on stderr, behind its own."""
    folder = tmp_path / "a folder"
    folder.mkdir()
    shutil.copy(MIRROR, folder / "my script.py")
    words = ["a folder/my script.py", "one", "two words", "", "-o", "--", "ünïcode"]
    expected = tool.plain(python, words, tmp_path, stdin=b"some\ninput\n")
    result = record(python, words, tmp_path, stdin=b"some\ninput\n")
    assert (result.status, result.stdout) == (expected.status, expected.stdout), result
    assert result.status == 3
    assert result.stderr.startswith(expected.stderr)
    ours = result.err[len(expected.err) :]
    path = only(tmp_path, "my_script-*.fah")
    # a run too short for a sample says what helps, in five lines more
    assert path.name in ours and len(ours.splitlines()) < 13 and "\x1b" not in ours, ours
    it = capture.read(path)
    assert it.complete and int(path.stem.rsplit("-", 1)[1]) == it.processes[1].pid


def test_duration_ends_the_recording_not_the_program(program, python, tmp_path):
    """The file is there while the program runs on, and nothing of later is in it."""
    (tmp_path / "it.py").write_text(
        "import os, sys, time\n"
        "def before():\n    sum(range(1000))\n"
        "def after():\n    sum(range(1000))\n"
        "print('ready', flush=True)\n"
        "while not os.path.exists('x.fah'):\n    before()\n"
        "end = time.thread_time() + 0.1\n"
        "while time.thread_time() < end:\n    after()\n"
        "print('still here', flush=True)\nsys.exit(7)\n"
    )
    # the test clock, so that a busy machine has samples as well
    env = {"FIXINGAHOLE_TEST_HZ": "500"}
    result = record(python, ["it.py"], tmp_path, ["-d", "1", "-o", "x.fah"], env=env)
    assert (result.status, result.out) == (7, "ready\nstill here\n"), result
    it = capture.read(tmp_path / "x.fah")
    assert it.complete and it.meta["stopped_by"] == "duration"
    assert "before" in it.names() and "after" not in it.names()
    assert len(it.samples) == it.agent_samples, "samples were lost at the end"
    assert "--duration" in result.err, result
    said = tool.inspect(tmp_path / "x.fah").out
    assert "the program went on" in said and "running when the recording ended" in said and "killed" not in said, said


def test_kill_ends_the_program(program, some_python, tmp_path):
    result = record(some_python, [spin(tmp_path), "100"], tmp_path, ["-d", "0.5", "--kill", "-q"])
    assert (result.status, result.err) == (143, ""), result
    path = only(tmp_path, "spin-*.fah")
    assert capture.read(path).complete
    assert "by --kill" in tool.inspect(path).out and "went on" not in tool.inspect(path).out
    result = record(some_python, [spin(tmp_path), "100"], tmp_path, ["-d", "0.5", "--kill", "-o", "x.fah"])
    said = " ".join(result.err.split())
    assert "ended by --duration; the program was ended then, by --kill." in said, result
    # what ends by itself was not killed
    result = record(some_python, ["-c", ""], tmp_path, ["-d", "100", "--kill", "-o", "x.fah"])
    assert result.status == 0 and "kill" not in result.err, result


def test_kill_ends_a_program_that_does_not_want_to(program, system_python, tmp_path):
    (tmp_path / "it.py").write_text(
        "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(100)\n"
    )
    result = record(system_python, ["it.py"], tmp_path, ["-d", "1", "--kill", "-q"])
    assert result.status == 137, result


def test_a_program_that_waits(program, python, tmp_path):
    """Waiting is recorded without a sample: nothing is missing, and of a few samples there is no rate."""
    words = ["-c", "import time; time.sleep(0.7)"]
    result = record(python, words, tmp_path, ["-i", "-r", "5", "-f", "folded", "-o", "x.txt"])
    assert result.status == 0, result
    assert "waiting (sleep)" in (tmp_path / "x.txt").read_text(), result
    said = " ".join(result.err.split())
    assert "What helps" not in said and "no sample to show" not in said, result
    assert re.search(r"The program waited 0\.\ds? ?.* of .*recorded|\d samples? \(5 Hz of CPU time asked\)", said), result


def test_interrupted_and_ended(program, some_python, tmp_path):
    """^C to the group, once: the program ends of it, all is recorded, its status is ours."""
    process = tool.start(command(some_python, [spin(tmp_path), "100"]), tmp_path, some_python)
    assert process.stdout.readline() == b"ready\n"
    os.killpg(process.pid, signal.SIGINT)
    result = tool.finish(process)
    assert result.status == 130 and b"KeyboardInterrupt" in result.stderr, result
    assert capture.read(only(tmp_path, "spin-*.fah")).complete


def test_interrupted_and_going_on(program, some_python, tmp_path):
    """Once: the file is written while the program goes on. Twice: we are gone, it is not."""
    words = [spin(tmp_path), "2.5", "stay"]
    process = tool.start(command(some_python, words, ["-o", "x.fah"]), tmp_path, some_python)
    assert process.stdout.readline() == b"ready\n"
    os.killpg(process.pid, signal.SIGINT)
    assert process.stdout.readline() == b"not yet\n"
    tool.wait_until((tmp_path / "x.fah").exists, what="the capture")
    assert process.poll() is None, "the program is waited for"
    it = capture.read(tmp_path / "x.fah")
    assert it.complete and it.meta["stopped_by"] == "interrupt"
    said = tool.inspect(tmp_path / "x.fah").out
    assert "an interrupt" in said and "running when the recording ended" in said and "killed" not in said, said
    os.killpg(process.pid, signal.SIGINT)
    assert process.stdout.readline() == b"not yet\n"
    assert process.wait(30) == -signal.SIGINT
    assert process.stdout.read() == b"done\n", "the program was harmed"
    process.stdout.close()
    process.stderr.close()


def test_interrupts_that_are_ignored(program, system_python, tmp_path):
    """As a shell starts what runs in the background: neither we nor the program take notice."""
    words = command(system_python, [spin(tmp_path), "1"], ["-q"])
    ignoring = ["sh", "-c", 'trap "" INT; exec "$@"', "sh"] + words
    process = tool.start(ignoring, tmp_path, system_python)
    assert process.stdout.readline() == b"ready\n"
    os.killpg(process.pid, signal.SIGINT)
    os.killpg(process.pid, signal.SIGINT)
    result = tool.finish(process)
    assert (result.status, result.out) == (0, "done\n"), result
    assert "stopped_by" not in capture.read(only(tmp_path, "spin-*.fah")).meta


def test_on_a_terminal(program, system_python, tmp_path):
    """A line says how it goes and is erased; ^C as it is typed."""
    at = Terminal(command(system_python, [spin(tmp_path), "100"]), tmp_path)
    at.until(b" samples (")
    os.write(at.master, b"\x03")
    status = at.end()
    assert os.WEXITSTATUS(status) == 130, at.text
    assert re.search(rb"\n\d+ s, [\d,]+ samples \(\d+/s\), [\d,]+ dropped, RSS \d+ MB\x1b\[K\r\n", at.text)
    after = at.text.rsplit(b"KeyboardInterrupt", 1)[1]
    assert b"spin-" in after and b"RSS" not in after


def test_quiet_on_a_terminal(program, system_python, tmp_path):
    at = Terminal(command(system_python, [spin(tmp_path), "1.5"], ["-q"]), tmp_path)
    assert at.end() == 0 and at.text == b"ready\r\ndone\r\n", at.text


@pytest.mark.parametrize(
    "words, name",
    [
        (["env", "X=1", "{python}", "-u", "dir/it.py", "x"], "it"),
        (["{python}", "-m", "it"], "it"),
        (["{python}", "-c", "print('hi')"], "python"),
        (["sh", "-c", "{python} dir/it.py | cat"], "sh"),
        (["./script"], "script"),
    ],
)
def test_any_command(program, system_python, words, name, tmp_path):
    """Found in PATH, or with a first line of its own; what it starts is recorded."""
    (tmp_path / "dir").mkdir()
    text = "import time\ndef mine():\n    sum(range(1000))\nend = time.thread_time() + 0.1\n"
    text += "while time.thread_time() < end:\n    mine()\nprint('hi')\n"
    for path in "dir/it.py", "it.py", "script":
        (tmp_path / path).write_text("#!%s\n%s" % (system_python.path, text))
    (tmp_path / "script").chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(system_python.path)
    words = [word.format(python="python") for word in words]
    env = {"PATH": "%s:%s" % (tmp_path / "bin", os.environ["PATH"])}
    expected = tool.run(words, tmp_path, env=env)
    result = tool.run([str(BINARY), "record", "-q", "--"] + words, tmp_path, env=env)
    assert (result.status, result.stdout, result.stderr) == (0, b"hi\n", b""), result
    assert expected.stdout == result.stdout
    found = names(only(tmp_path, name + "-*.fah"))
    assert name == "python" or "mine" in found


def test_a_program_killed_and_not_python(program, tmp_path):
    result = tool.run([str(BINARY), "record", "--", "sh", "-c", "kill -9 $$"], tmp_path)
    assert result.status == 137 and result.out == "" and "not Python" in result.err, result


def first_child(process):
    """As soon as there is one: it waits for the capture then, and is not the program yet."""
    path = "/proc/%d/task/%d/children" % (process.pid, process.pid)
    return int(tool.wait_until(lambda: open(path).read().split(), what="the program's process")[0])


@pytest.mark.parametrize("killed", ["program", "profiler"])
def test_killed_before_it_is_the_program(program, killed, tmp_path):
    os.mkfifo(str(tmp_path / "fifo"))
    for _ in range(10):
        words = [str(BINARY), "record", "-q", "-o", "x.fah", "--", "sh", "-c", "read x <fifo; echo hi"]
        process = tool.start(words, tmp_path)
        pid = first_child(process)
        os.kill(pid if killed == "program" else process.pid, signal.SIGKILL)
        fifo = os.open(str(tmp_path / "fifo"), os.O_RDWR)  # waits for nobody, and lets the program go on
        os.write(fifo, b"\n" * 10)
        result = tool.finish(process)
        os.close(fifo)
        assert result.err == "", result
        if killed == "profiler":
            assert result.out == "hi\n", "the program did not run"
        else:
            assert (result.status, result.out) == (137, ""), result
            assert capture.read(tmp_path / "x.fah").complete


def test_an_existing_result_is_replaced_whole(program, system_python, tmp_path):
    (tmp_path / "x.fah").write_text("old")
    (tmp_path / "x.fah").chmod(0o600)
    result = record(system_python, ["-c", "pass"], tmp_path, ["-o", "x.fah"])
    assert result.status == 0 and capture.read(tmp_path / "x.fah").complete, result
    assert os.listdir(str(tmp_path)) == ["x.fah"]


def chains(text):
    """Of folded stacks: what ends in each function, as tuples of names."""
    lines = [line.rsplit(" ", 1)[0] for line in text.splitlines()]
    return {tuple(frame.split(" (")[0] for frame in line.split(";")) for line in lines}


def test_what_to_type_next_can_be_typed(program, system_python, tmp_path):
    """A path with letters that a shell takes for its own is quoted."""
    for name in ("x y.fah", "it's $1.fah", "plain.fah"):
        result = record(system_python, [spin(tmp_path), "0.3"], tmp_path, ["-o", name])
        (words,) = [line[len("Next: ") :] for line in result.err.splitlines() if line.startswith("Next: ")]
        assert shlex.split(words) == ["fixingahole", "flame", name], result
        assert "Capture: %s\n" % name in result.err, result


def test_an_export_is_the_result(program, python, tmp_path):
    """By -f or by the name's end; the capture is kept where that is asked for."""
    path = spin(tmp_path)
    result = record(python, [path, "0.3"], tmp_path, ["-o", "x.prof", "-n", "-s", "-f", "raw", "-F"])
    assert (result.status, result.out) == (0, "ready\ndone\n"), result
    assert sorted(os.listdir(str(tmp_path))) == ["spin.py", "x.prof"]
    found = chains((tmp_path / "x.prof").read_text())
    assert any("work" in chain[1:] for chain in found), found
    # sum() stands between the function and its generator; the program's native start is left out.
    python_names = {"<module>", "work", "work.<locals>.<genexpr>", "(no Python)"}
    inside = [chain for chain in found if chain[0] == "<module>" and "work" in chain]
    assert any(set(chain) - python_names for chain in inside), found
    assert "x.prof" in result.err and ".fah" not in result.err, result


def test_an_export_with_its_capture(program, system_python, tmp_path):
    path = spin(tmp_path)
    options = ["-o", "out.d/x.folded", "--keep", "-F", "--only", "work"]
    (tmp_path / "out.d").mkdir()
    (tmp_path / "out.d" / "x.folded").write_text("old")
    result = record(system_python, [path, "0.3"], tmp_path, options)
    assert result.status == 0 and "±" in result.err, result
    assert {chain[0] for chain in chains((tmp_path / "out.d" / "x.folded").read_text())} == {"work"}
    assert "work" in names(tmp_path / "out.d" / "x.fah")
    assert sorted(os.listdir(str(tmp_path / "out.d"))) == ["x.fah", "x.folded"]


def test_function_is_the_letter_of_py_spy(program, system_python, tmp_path):
    """-F has no value: what follows is the command, and frames are by function; without it by line."""
    (tmp_path / "it.py").write_text(
        "import time\n"
        "def work():\n    sum(range(3000))\n    sum(range(4000))\n    sum(range(5000))\n"
        "while time.process_time() < 0.4:\n    work()\n"
    )
    result = record(system_python, ["it.py"], tmp_path, ["-o", "x.folded", "--keep", "-F"])
    assert result.status == 0, result
    by_line = tool.run([str(BINARY), "export", "x.fah", "-f", "folded"], tmp_path)
    lines, functions = by_line.out.splitlines(), (tmp_path / "x.folded").read_text().splitlines()
    assert len([line for line in lines if re.search(r"work \(it\.py:[345]\) \d+$", line)]) == 3, by_line
    (work,) = [line for line in functions if line.startswith("<module> (it.py);work (it.py) ")]
    assert not re.search(r":\d+\)", "".join(functions)), functions
    of_lines = sum(int(line.split()[-1]) for line in lines if ";work (" in line)
    assert int(work.split()[-1]) == pytest.approx(of_lines, abs=5) and of_lines > 200000, (work, by_line)


def test_children_are_told_apart_where_asked(program, system_python, tmp_path):
    words = ["-c", "import subprocess, sys; subprocess.run([sys.executable] + sys.argv[1:])"]
    words += [spin(tmp_path), "0.3"]
    result = record(system_python, words, tmp_path, ["-o", "x.folded", "-s", "-F", "--keep"])
    assert result.status == 0 and "2 processes" in result.err, result
    roots = [chain for chain in chains((tmp_path / "x.folded").read_text()) if "work" in chain]
    assert roots and all(re.fullmatch(r"process \d+", chain[0]) for chain in roots), roots
    plain = tool.run([str(BINARY), "export", "x.fah", "-f", "folded", "-F"], tmp_path)
    assert any(chain[:2] == ("<module>", "work") for chain in chains(plain.out)), plain


def test_an_export_named_by_us(program, system_python, tmp_path):
    result = record(system_python, [spin(tmp_path), "0.3"], tmp_path, ["-f", "folded", "-q"])
    assert (result.status, result.err) == (0, ""), result
    assert "work" in only(tmp_path, "spin-*").read_text()
    assert re.fullmatch(r"spin-\d+\.folded", only(tmp_path, "spin-*").name)


def test_an_export_to_stdout_stands_behind_the_program(program, system_python, tmp_path):
    words = [spin(tmp_path), "1"]
    options = ["-f", "folded", "-o", "-", "-d", "0.6"]
    env = {"TMPDIR": str(tmp_path)}
    result = record(system_python, words, tmp_path, options, env=env)
    ready, done, *folded = result.out.splitlines()
    assert (result.status, ready, done) == (0, "ready", "done"), result
    # which chain comes first is chance: the interpreter may have been sampled before the program began
    assert all(re.fullmatch(r".+ \d+", line) for line in folded), result
    assert any(chain[0] == "<module>" for chain in chains("\n".join(folded))), result
    assert os.listdir(str(tmp_path)) == ["spin.py"]


def test_an_export_that_fails_leaves_the_capture(program, system_python, tmp_path):
    words = [spin(tmp_path), "0.2"]
    result = record(system_python, words, tmp_path, ["-o", "x.folded", "--only", "absent"])
    assert (result.status, result.out) == (0, "ready\ndone\n"), result
    kept = only(tmp_path, "x.folded-*.fah")
    assert "absent" in result.err and kept.name in result.err, result
    assert not (tmp_path / "x.folded").exists() and "work" in names(kept)


@pytest.mark.parametrize(
    "words, status, said",
    [
        ([], 2, "which command"),
        (["--"], 2, "which command"),
        (["-p", "1"], 2, "attaching"),
        (["-d", "soon", "--", "sh", "-c", ":"], 2, "soon"),
        (["-d", "0", "--", "sh"], 2, "--duration"),
        (["-r", "-5", "--", "sh"], 2, "--rate"),
        (["--budget", "0", "--", "sh"], 2, "--budget"),
        (["--nonsense", "--", "sh"], 2, "--nonsense"),
        (["--", "no-such-command"], 1, "no-such-command"),
        (["--", "./no/such"], 1, "No such file"),
        (["--", "./folder"], 1, "folder"),
        (["--", "./text"], 1, "not executable"),
        (["--", "./garbage"], 1, "garbage"),
        (["-o", "folder", "--", "touch", "ran"], 2, "folder"),
        (["-o", "link", "--", "touch", "ran"], 2, "link"),
        (["-o", "dangling", "--", "touch", "ran"], 2, "dangling"),
        (["-o", "pipe", "--", "touch", "ran"], 2, "pipe"),
        (["-o", "no/such", "--", "touch", "ran"], 2, "no/such"),
        (["-o", "text/x", "--", "touch", "ran"], 2, "text/x"),
        (["-o", "-", "--", "touch", "ran"], 2, "-f"),
        (["-f", "nonsense", "--", "touch", "ran"], 2, "folded"),
        (["-f", "folded", "-o", "link", "--", "touch", "ran"], 2, "link"),
        (["-f", "folded", "-o", "no/such", "--", "touch", "ran"], 2, "no/such"),
        (["-o", "x.folded", "--keep", "--", "touch", "ran"], 2, "x.fah"),
    ],
)
def test_refused(program, words, status, said, tmp_path):
    """One line before anything is started, and nothing is left or changed."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("text\n")
    (tmp_path / "garbage").write_text("garbage\n")
    (tmp_path / "garbage").chmod(0o755)
    (tmp_path / "link").symlink_to("text")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "x.fah").symlink_to("text")
    os.mkfifo(str(tmp_path / "pipe"))
    refused(["record"] + words, tmp_path, status, said)
    assert (tmp_path / "text").read_text() == "text\n"


@pytest.mark.skipif(os.getuid() != 0, reason="SKIP: only root can become nobody")
def test_as_nobody(program, system_python):
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    with tempfile.TemporaryDirectory() as top:
        os.chmod(top, 0o755)
        binary = tool.copy_tool(Path(top) / "tool")
        work = Path(top) / "work"
        work.mkdir()
        spin(work)
        words = nobody + [str(binary), "record", "--", system_python.path, "spin.py", "0.2"]
        result = tool.run(words, work)
        assert result.status == 2 and result.stdout == b"" and "ermission" in result.err, result
        assert len(result.err.splitlines()) == 1 and os.listdir(str(work)) == ["spin.py"]
        work.chmod(0o777)
        result = tool.run(words, work)
        assert (result.status, result.out) == (0, "ready\ndone\n"), result
        assert "work" in names(only(work, "spin-*.fah"))
