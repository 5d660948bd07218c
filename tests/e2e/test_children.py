"""Children: one capture for the whole tree, by whatever way they were started."""

import os
import re

import pytest
from support import capture, pythons
from support.run import (
    BINARY,
    TARGETS,
    capture_of,
    inspect,
    plain,
    profile,
    run,
    run_folder,
    wait_until,
)

FAMILY = str(TARGETS / "family.py")
WAYS = (
    re.search(r"NAMES = \[(.*?)\]", open(FAMILY).read(), re.S)
    .group(1)
    .replace('"', "")
    .replace(",", " ")
    .split()
)


def root_of(it):
    """The program itself: the profiler's own child. (Records stand in the order of discovery.)"""
    roots = [p for p in it.processes[1:] if p.ppid == int(it.meta["collector_pid"])]
    assert roots, it.processes
    return roots[0]


def test_every_way_of_making_a_child(program, python, tmp_path):
    expected = plain(python, [FAMILY, "quick"], tmp_path)
    assert expected.status == 0, expected
    result = profile(python, [FAMILY], tmp_path, hz=1000)
    assert (result.status, result.out, result.err) == (expected.status, expected.out, expected.err)

    it = capture.read(capture_of(result))
    assert it.complete and it.reasons == []
    seen = {}
    for thread, _time, _cpu, _flags, node in it.samples:
        process = it.processes[it.threads[thread][0]]
        for function, _line in it.path(node):
            if function.name.startswith("burn_"):
                seen.setdefault(function.name[len("burn_") :], set()).add(process.pid)
    assert sorted(seen) == sorted(WAYS), "no samples of the work of %s" % sorted(
        set(WAYS) - set(seen)
    )
    root = root_of(it).pid
    for way, pids in seen.items():
        assert root not in pids and len(pids) == 1, (way, pids, root)
    # 14 ways, and multiprocessing's helpers
    pids = {process.pid for process in it.processes[1:]}
    assert len(pids) >= len(WAYS) + 1
    known = pids | {root_of(it).ppid}
    shells = {
        "system",
        "popen",
        "shell",
        "grandchild",
    }  # a shell stands between, which is not recorded
    strangers = [process for process in it.processes[1:] if process.ppid not in known]
    assert len(strangers) <= len(shells) + 2, strangers
    inspect_names_the_processes(capture_of(result), it)


def inspect_names_the_processes(path, it):
    said = inspect(path)
    assert said.status == 0 and said.stderr == b"", said
    for process in it.processes[1:]:
        assert re.search(r"\b%d\b" % process.pid, said.out), "pid %d is not in:\n%s" % (
            process.pid,
            said,
        )
    assert re.search(r"\b%d\b" % len(it.samples), said.out.replace(",", "")), said
    assert "family.py" in said.out


def test_forked_children_are_marked(program, python, tmp_path):
    path = tmp_path / "two.py"
    path.write_text(
        "import os, time\n"
        "def burn(seconds):\n"
        "    end = time.process_time() + seconds\n"
        "    while time.process_time() < end:\n"
        "        sum(range(100))\n"
        "def in_child():\n    burn(0.1)\n    os._exit(0)\n"
        "burn(0.1)\n"
        "pid = os.fork()\n"
        "if pid == 0:\n    in_child()\n"
        "os.waitpid(pid, 0)\nburn(0.1)\nprint(pid, os.getpid())\n"
    )
    result = profile(python, [str(path)], tmp_path, hz=1000)
    child, parent = map(int, result.out.split())
    it = capture.read(capture_of(result))
    found = {p.pid: (p.forked & 1, p.ppid) for p in it.processes[1:]}
    assert found == {parent: (0, int(it.meta["collector_pid"])), child: (1, parent)}
    for thread, _time, _cpu, _flags, node in it.samples:
        names = [function.name for function, _ in it.path(node)]
        if "burn" in names:
            in_child = it.processes[it.threads[thread][0]].pid == child
            assert ("in_child" in names) == in_child, names


@pytest.mark.parametrize("children", [0, 2])
def test_who_execs_itself_is_no_child_of_its_own(program, python, tmp_path, children):
    """An exec keeps the process, so each is counted once, however often it starts anew."""
    (tmp_path / "anew.py").write_text(
        "import os, subprocess, sys\n"
        "left = int(sys.argv[1])\n"
        "sum(i * i for i in range(200000))\n"
        "for _ in range(%d if left == 1 and len(sys.argv) == 2 else 0):\n"
        "    subprocess.check_call([sys.executable, __file__, '1', 'child'])\n"
        "if left:\n"
        "    os.execv(sys.executable, [sys.executable, __file__, str(left - 1)] + sys.argv[2:])\n" % children
    )
    result = profile(python, ["anew.py", "2"], tmp_path, options=(), hz=1000)
    assert result.status == 0, result
    assert len({p.pid for p in capture.read(capture_of(result)).processes[1:]}) == 1 + children
    said = re.findall(r"^(.*hild processes: \S+)", result.out, re.M)
    assert said == ["Python child processes: %d" % children] * bool(children), result


def test_children_of_another_python(program, tmp_path):
    """A tree of several versions is one capture: each process says its own."""
    local = [python for python in pythons.available() if not python.foreign]
    if len(local) < 2:
        pytest.skip("SKIP: only one Python here")
    first, others = local[0], local[1:]
    path = tmp_path / "many.py"
    path.write_text(
        "import subprocess, sys, time\n"
        "end = time.process_time() + 0.1\n"
        "while time.process_time() < end:\n    sum(range(100))\n"
        "for other in sys.argv[1:]:\n"
        "    subprocess.run([other, __file__])\n"
        "    print(other, flush=True)\n"
    )
    result = profile(first, [str(path)] + [python.path for python in others], tmp_path, hz=1000)
    assert result.status == 0 and result.stderr == b"", result
    it = capture.read(capture_of(result))
    assert it.reasons == []
    versions = {
        (p.python >> 24, p.python >> 16 & 255, p.python >> 8 & 255)
        for p in it.processes[1:]
        if p.samples
    }
    assert versions == {python.version for python in local}


def test_a_child_that_outlives_its_parent_is_not_waited_for_and_not_harmed(
    program, system_python, tmp_path
):
    path = tmp_path / "orphan.py"
    path.write_text(
        "import os, sys, time\n"
        "r, w = os.pipe()\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    for fd in (0, 1, 2):\n        os.close(fd)\n"
        "    end = time.process_time() + 1.0\n"
        "    while time.process_time() < end:\n        sum(range(100))\n"
        "    open('orphan.done', 'w').write('whole')\n"
        "    os._exit(0)\n"
        "print('parent ends')\n"
    )
    result = profile(system_python, [str(path)], tmp_path)
    assert (result.status, result.stdout, result.stderr) == (0, b"parent ends\n", b""), result
    done = tmp_path / "orphan.done"
    wait_until(lambda: done.exists() and done.read_text() == "whole", what="the orphan's end")
    assert capture.read(capture_of(result)).complete


def test_profiling_inside_profiling(program, system_python, tmp_path):
    """The profiler started by a program that is profiled: two captures, nothing lost."""
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "in.py").write_text(
        "def inmost():\n    return sum(i for i in range(10**6))\ninmost()\nprint('inner')\n"
    )
    outer = tmp_path / "out.py"
    outer.write_text(
        "import subprocess, sys\n"
        "print(subprocess.run(sys.argv[1:], cwd='inner', stdout=-1, stderr=-1))\n"
    )
    result = profile(
        system_python,
        [str(outer), str(BINARY), "profile", "-q", "--python", system_python.path, "in.py"],
        tmp_path,
        hz=1000,
    )
    assert result.status == 0 and b"stdout=b'inner\\n', stderr=b''" in result.stdout, result
    inside = capture.read(run_folder(inner / "performance") / "profile.fah")
    outside = capture.read(capture_of(result))
    assert inside.complete and outside.complete
    assert "inmost" in inside.names() | outside.names(), "recorded by neither"


BURN = (
    "import os, sys, time\n"
    "def burn(seconds):\n"
    "    end = time.process_time() + seconds\n"
    "    while time.process_time() < end:\n        sum(range(100))\n"
)


@pytest.mark.parametrize("variable", ["FIXINGAHOLE_SESSION_DIR", "TMPDIR"])
def test_a_relative_folder_for_the_session(program, some_python, variable, tmp_path):
    """The program goes elsewhere, then forks and executes: both children are still recorded."""
    path = tmp_path / "goes.py"
    path.write_text(
        BURN + "def forked():\n    burn(0.1)\n    os._exit(0)\n"
        "def executed():\n    burn(0.1)\n"
        "if sys.argv[1:]:\n    executed()\n    sys.exit()\n"
        "os.chdir('/')\n"
        "if os.fork() == 0:\n    forked()\n"
        "os.wait()\n"
        "os.spawnv(os.P_WAIT, sys.executable, [sys.executable, %r, 'x'])\n" % str(path)
    )
    (tmp_path / "sessions").mkdir()
    env = {variable: "sessions"}
    if variable == "TMPDIR":
        if os.getuid() != 0 or some_python.foreign:
            pytest.skip("SKIP: a small /dev/shm needs root")
        command = [str(BINARY), "profile", "-q", "--python", some_python.path, str(path)]
        result = run(
            ["unshare", "-m", "--propagation", "private", "sh", "-c"]
            + ['mount -t tmpfs -o size=64m tmpfs /dev/shm && exec "$@"', "sh"]
            + command,
            tmp_path,
            env=dict(env, FIXINGAHOLE_TEST_HZ="1000"),
        )
        result.folder = run_folder(tmp_path / "performance")
    else:
        result = profile(some_python, [str(path)], tmp_path, hz=1000, env=env)
    assert (result.status, result.stdout, result.stderr) == (0, b"", b""), result
    it = capture.read(capture_of(result))
    assert it.meta["session"].startswith(str(tmp_path / "sessions") + "/"), it.meta
    assert {"forked", "executed"} <= it.names()
    assert list((tmp_path / "sessions").iterdir()) == [], "left behind"


def test_children_that_start_at_the_end(program, some_python, tmp_path):
    """Forks and new interpreters before, while and after the run ends: none fails, nothing stays."""
    path = tmp_path / "late.py"
    path.write_text(
        BURN + "if sys.argv[1:]:\n    burn(0.01)\n    sys.exit()\n"
        "def breed(number):\n"
        "    bad = 0\n"
        "    end = time.monotonic() + 1.5\n"
        "    while time.monotonic() < end:\n"
        "        pid = os.fork()\n"
        "        if pid == 0:\n"
        "            burn(0.003)\n"
        "            if number:\n                os._exit(0)\n"
        "            os.execv(sys.executable, [sys.executable, __file__, 'x'])\n"
        "        bad += os.waitpid(pid, 0)[1] != 0\n"
        "    open('done.%d' % number, 'w').write(str(bad))\n"
        "    os._exit(0)\n"
        "for number in range(3):\n"
        "    if os.fork() == 0:\n"
        "        os.closerange(0, 3)\n"
        "        breed(number)\n"
        "burn(0.3)\n"
    )
    sessions = tmp_path / "sessions"
    sessions.mkdir()
    result = profile(
        some_python, [str(path)], tmp_path, hz=1000, env={"FIXINGAHOLE_SESSION_DIR": str(sessions)}
    )
    assert (result.status, result.stdout, result.stderr) == (0, b"", b""), result
    assert list(sessions.iterdir()) == [], "left behind at the end"
    for number in range(3):
        done = tmp_path / ("done.%d" % number)
        wait_until(lambda: done.exists() and done.read_text(), what="the end of a child")
        assert done.read_text() == "0", "children failed"
    assert list(sessions.iterdir()) == [], "left behind by later children"
    assert capture.read(capture_of(result)).complete


DAEMON = BURN + (
    "def daemon_work():\n"
    "    burn(0.2)\n"
    "    os.rename('%(folder)s/begun.new', '%(folder)s/begun')\n"
    "    burn(0.1)\n"
    "    while %(stay)s and not os.path.exists('%(folder)s/go'):\n        time.sleep(0.01)\n"
    "    open('%(folder)s/daemon.done', 'w').write('whole')\n"
    "    os._exit(0)\n"
    "def daemonise():\n"
    "    if os.fork():\n        return\n"
    "    os.setsid()\n"
    "    if os.fork():\n        os._exit(0)\n"
    "    os.chdir('/')\n"
    "    os.umask(0)\n"
    "    os.closerange(0, 1024)\n"
    "    open('%(folder)s/begun.new', 'w').close()\n"
    "    daemon_work()\n"
    "daemonise()\n"
    "while %(wait)s and not os.path.exists('%(folder)s/%(wait_for)s'):\n    time.sleep(0.01)\n"
    "print('parent ends')\n"
)


def daemon(folder, wait_for, stay=False):
    """stay: the daemon goes on until there is a file `go`."""
    path = folder / "daemon.py"
    values = {"folder": folder, "stay": stay, "wait": bool(wait_for), "wait_for": wait_for}
    path.write_text(DAEMON % values)
    return str(path)


def test_a_daemon_that_ends_first_is_recorded_whole(program, some_python, tmp_path):
    script = daemon(tmp_path, "daemon.done")
    result = profile(some_python, [script], tmp_path, hz=1000)
    assert (result.status, result.out) == (0, "parent ends\n"), result
    it = capture.read(capture_of(result))
    work = [s for s in it.samples if "daemon_work" in [f.name for f, _ in it.path(s[4])]]
    seconds = sum(sample[2] for sample in work) / 1e9
    assert 0.2 < seconds < 0.5, seconds
    assert "outlived" not in it.meta


@pytest.mark.parametrize("wait_for", ["", "begun"])
def test_a_daemon_that_goes_on_is_not_waited_for_and_the_report_says_so(
    program, some_python, wait_for, tmp_path
):
    script = daemon(tmp_path, wait_for, stay=True)
    result = profile(some_python, [script], tmp_path, options=(), hz=1000)
    assert result.status == 0 and result.out.startswith("parent ends\n"), result
    assert not (tmp_path / "daemon.done").exists(), "it was waited for"
    it = capture.read(capture_of(result))
    assert it.meta["outlived"] == "1"
    said = " ".join((result.out + result.err).split())
    assert "1 process of the program went on after its end" in said, said
    (tmp_path / "go").touch()
    wait_until(lambda: (tmp_path / "daemon.done").exists(), what="the daemon's end")
