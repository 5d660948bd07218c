"""Children that would refuse the preload, or show it, start and print as they do without us."""

import os
import shutil

import pytest
from support import capture, foreign
from support.run import TARGETS, capture_of, plain, profile

SPAWN = str(TARGETS / "spawn.py")


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    return tmp_path_factory.mktemp("foreign")


def same(python, args, cwd, **rest):
    expected = plain(python, [SPAWN] + args, cwd, **rest)
    assert expected.status == 0, expected
    result = profile(python, [SPAWN] + args, cwd, **rest)
    for ours, theirs in zip(result.out.splitlines(), expected.out.splitlines()):
        assert ours == theirs
    assert (result.status, result.out, result.err) == (expected.status, expected.out, expected.err)
    assert capture.read(capture_of(result)).complete
    return result


@pytest.mark.parametrize("kind", sorted(foreign.KINDS))
def test_kind(program, system_python, kind, built, tmp_path):
    path = foreign.build(kind, built)
    if path is None:
        pytest.skip("SKIP: this machine cannot build a program of the kind %s" % kind)
    result = same(system_python, [path, "an argument"], tmp_path)
    assert "hello from a" in result.out and "LD_PRELOAD" not in result.out


@pytest.mark.parametrize("kind", ["musl", "asan", "i386", "glibc static"])
def test_kind_from_other_pythons(program, local_python, kind, built, tmp_path):
    """Versions start children in different ways (vfork, posix_spawn)."""
    path = foreign.build(kind, built)
    if path is None:
        pytest.skip("SKIP: this machine cannot build a program of the kind %s" % kind)
    same(local_python, [path], tmp_path)


@pytest.mark.skipif(os.getuid() != 0, reason="SKIP: only root can give a program away")
@pytest.mark.parametrize("kind", ["glibc", "musl", "i386"])
def test_setuid(program, system_python, kind, built, tmp_path):
    path = foreign.build(kind, built)
    if path is None:
        pytest.skip("SKIP: cannot build")
    owned = str(tmp_path / "owned")
    shutil.copy(path, owned)
    os.chown(owned, 65534, 65534)
    os.chmod(owned, 0o4755)
    for folder in [tmp_path] + list(tmp_path.parents):
        if folder != folder.parent and not os.stat(str(folder)).st_mode & 1:
            os.chmod(str(folder), 0o711)
    result = same(system_python, [owned], tmp_path)
    assert "user 65534" in result.out


@pytest.mark.skipif(os.getuid() != 0, reason="SKIP: only root can chroot")
@pytest.mark.parametrize("kind", ["glibc", "glibc static", "musl static"])
def test_chrooted(program, system_python, kind, built, tmp_path):
    path = foreign.build(kind, built)
    if path is None:
        pytest.skip("SKIP: cannot build")
    root = foreign.small_root(tmp_path, [path])
    result = same(
        system_python, ["--chroot", str(root), "/bin/" + os.path.basename(path)], tmp_path
    )
    assert result.out.count("hello from a") == 3, result


@pytest.mark.parametrize(
    "command",
    [
        ["env"],
        ["/usr/bin/env", "-u", "HOME"],
        ["true"],
        ["false"],
        ["/bin/sh", "-c", "env; echo $0 $$ >/dev/null; kill -9 $$"],
        ["/no/such/program"],
        ["/etc/passwd"],
        ["/"],
    ],
)
def test_command(program, some_python, command, tmp_path):
    same(some_python, command, tmp_path)


def test_scripts(program, some_python, tmp_path):
    """#! lines: the interpreter is what is started, not the script's file."""
    body = "import os, sys\nprint(sorted(os.environ.items()), sys.argv)\n"
    ways = {
        "shell.sh": "#!/bin/sh\nenv | sort\necho \"$0 $@\"\n",
        "python.py": "#!%s\n%s" % (some_python.path, body),
        "env.py": "#!/usr/bin/env python3\n" + body,
    }
    for name, text in sorted(ways.items()):
        path = tmp_path / name
        path.write_text(text)
        path.chmod(0o755)
        same(some_python, [str(path), "an argument"], tmp_path)


def test_a_script_whose_interpreter_is_foreign(program, system_python, built, tmp_path):
    for kind in ("musl", "i386", "asan", "glibc static"):
        interpreter = foreign.build(kind, built)
        if interpreter is None:
            continue
        path = tmp_path / ("script-" + kind.replace(" ", "-"))
        path.write_text("#!%s word\n" % interpreter)
        path.chmod(0o755)
        same(system_python, [str(path)], tmp_path)


EXECS = r"""
import errno, os, sys, time

def attempt(way, path):
    pid = os.fork()
    if pid == 0:
        try:
            if way == "exec":
                os.execv(path, ["x"])
            elif way == "execvp":
                os.execvp(path, ["x"])
            elif way == "fexec":
                os.execve(os.open(path, os.O_RDONLY | os.O_NONBLOCK), ["x"], {})
            else:
                os.waitpid(os.posix_spawn(path, ["x"], {}), 0)
            os._exit(0)
        except OSError as e:
            os._exit(e.errno)
    return errno.errorcode.get(os.waitpid(pid, 0)[1] >> 8)

os.mkdir("d")
os.mkfifo("pipe", 0o755)
os.mkfifo("waiting", 0o755)
os.symlink("loop", "loop")
open("plain", "w").close()
open("empty", "w").close()
os.chmod("empty", 0o755)
open("noise", "w").write("#!/no/such/interpreter\n")
os.chmod("noise", 0o755)
open("bent", "w").write("#!pipe\n")
os.chmod("bent", 0o755)
writer = os.fork()
if writer == 0:
    os.open("waiting", os.O_WRONLY)  # until somebody opens it for reading
    open("woken", "w").close()
    os._exit(0)
while open("/proc/%d/stat" % writer).read().rsplit(")", 1)[1].split()[0] != "S":
    time.sleep(0.01)
for path in ("d", "pipe", "waiting", "loop", "plain", "empty", "noise", "bent", "none", "d/none",
             "plain/none", "", "x" * 300, "/dev/null", "/dev/tty", "/dev/ptmx"):
    for way in ("exec", "execvp", "spawn"):
        print(path[:20], way, attempt(way, path))
print("fexec", attempt("fexec", "/dev/null"), attempt("fexec", "plain"))
time.sleep(0.2)
print("woken:", os.path.exists("woken"))
os.kill(writer, 9)
os.wait()
"""


def test_what_cannot_be_executed(program, some_python, tmp_path):
    """Pipes, devices, terminals: the same error, nobody is woken, nothing waits."""
    results = []
    for name, runner in (("plain", plain), ("profiled", profile)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "execs.py").write_text(EXECS)
        results.append(runner(some_python, ["execs.py"], folder, timeout=60))
    expected, result = results
    assert expected.status == 0 and "woken: False" in expected.out, expected
    assert (result.status, result.out, result.err) == (expected.status, expected.out, expected.err)


MOVES = r"""
import ctypes, os, sys

libc = ctypes.CDLL(None, use_errno=True)
STRINGS = ctypes.c_char_p * 3

def spawn(function, path, move=None, fd=None):
    actions = ctypes.create_string_buffer(256)
    libc.posix_spawn_file_actions_init(actions)
    libc.posix_spawn_file_actions_adddup2(actions, 1, 1)
    if move:
        libc.posix_spawn_file_actions_addchdir_np(actions, move.encode())
    if fd is not None:
        libc.posix_spawn_file_actions_addfchdir_np(actions, fd)
    pid = ctypes.c_int()
    environment = STRINGS(b"PATH=" + os.environb[b"PATH"], b"WORD=1", None)
    sys.stdout.flush()
    err = getattr(libc, function)(
        ctypes.byref(pid), path.encode(), actions, None, STRINGS(b"name", b"word", None), environment)
    status = os.waitpid(pid.value, 0)[1] if not err else None
    print(function, path, move, err, status, flush=True)

for move in (None, "there"):
    spawn("posix_spawn", "./program", move)
    spawn("posix_spawn", "program", move)
    spawn("posix_spawn", os.path.abspath("program"), move)
    for path in ("/usr/bin:.", ".:/usr/bin", ":/usr/bin", "/usr/bin:", "there", "folders:there",
                 "/none", "", "folders"):
        os.environ["PATH"] = path
        spawn("posix_spawnp", "program", move)
fd = os.open("there", os.O_RDONLY)
spawn("posix_spawn", "./program", fd=fd)
spawn("posix_spawnp", "program", fd=fd)
for path in ("here:there", ":there", "there:", "folders:there", "folders", "", "/none:.", "there"):
    pid = os.fork()
    if pid == 0:
        os.environ["PATH"] = path
        err = libc.execvpe(b"program", STRINGS(b"name", b"word", None), STRINGS(b"WORD=1", None, None))
        os._exit(ctypes.get_errno())
    print("execvpe", path, os.waitpid(pid, 0)[1] >> 8, flush=True)
"""


@pytest.mark.parametrize("kinds", [("glibc", "asan"), ("asan", "glibc"), ("glibc", "musl")])
def test_programs_that_are_found_elsewhere(program, some_python, kinds, built, tmp_path):
    """The program that is looked at must be the one that will run: folders that change, PATH."""
    paths = [foreign.build(kind, built) for kind in kinds]
    if None in paths:
        pytest.skip("SKIP: this machine cannot build one of %s" % (kinds,))
    script = tmp_path / "moves.py"
    script.write_text(MOVES)
    for place, path in zip((".", "there"), paths):
        (tmp_path / place).mkdir(exist_ok=True)
        shutil.copy(path, str(tmp_path / place / "program"))
    (tmp_path / "folders" / "program").mkdir(parents=True)
    expected = plain(some_python, [str(script)], tmp_path)
    if some_python.foreign and "GLIBC_" in expected.err:
        pytest.skip("SKIP: what is built here does not run in %s" % some_python.root)
    assert expected.status == 0 and "hello from a" in expected.out, expected
    result = profile(some_python, [str(script)], tmp_path)
    assert (result.status, result.out, result.err) == (expected.status, expected.out, expected.err)


def test_a_python_found_by_a_relative_path_is_followed(program, some_python, tmp_path):
    script = tmp_path / "finds.py"
    script.write_text(
        "import os, sys, time\n"
        "def found(seconds):\n"
        "    end = time.process_time() + seconds\n"
        "    while time.process_time() < end:\n        sum(range(100))\n"
        "if sys.argv[1:]:\n    found(0.1)\n    sys.exit()\n"
        "os.environ['PATH'] = 'folders:bin'\n"
        "os.waitpid(os.posix_spawnp('py', ['py', __file__, 'x'], os.environ), 0)\n"
        "os.execvp('py', ['py', __file__, 'x'])\n"
    )
    (tmp_path / "folders" / "py").mkdir(parents=True)  # may be entered, not executed
    (tmp_path / "bin").mkdir()
    wrapper = tmp_path / "bin" / "py"
    wrapper.write_text('#!/bin/sh\nexec %s "$@"\n' % some_python.path)
    wrapper.chmod(0o755)
    result = profile(some_python, [str(script)], tmp_path, hz=1000)
    assert (result.status, result.out, result.err) == (0, "", ""), result
    it = capture.read(capture_of(result))
    pids = {
        it.processes[it.threads[thread][0]].pid
        for thread, _time, _cpu, _flags, node in it.samples
        if "found" in [function.name for function, _ in it.path(node)]
    }
    assert len(pids) == 2, "both children are Python"
