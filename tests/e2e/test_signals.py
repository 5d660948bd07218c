"""The profiler's signal, timers and system calls stay out of the program's sight and way."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from support import capture
from support import run as tool
from support.run import TARGETS, capture_of, plain, profile, profile_command
from test_same_behaviour import same, script

ORDERLY, IN_PART = 3, 4  # how a process ended
ROOT_ONLY = pytest.mark.skipif(os.getuid() != 0, reason="SKIP: only root can do that")


def named(it, name):
    """Samples with a function of that name on the stack."""
    return [s for s in it.samples if any(f.name == name for f, _ in it.path(s[4]))]


def test_own_urgent_actions(program, python, tmp_path):
    """SIGURG is the program's too: its handlers have their own flags and masks, and interrupt."""
    args = [str(TARGETS / "urgent.py")]
    same(python, args, tmp_path, expected=plain(python, args + ["quick"], tmp_path))


def test_waits_see_no_signal_of_ours(program, python, tmp_path):
    args = [str(TARGETS / "sigwaits.py")]
    expected = plain(python, args + ["quick"], tmp_path)
    for env in ({}, {"FIXINGAHOLE_TEST_HZ": "1000"}):
        result = same(python, args, tmp_path, env=env, expected=expected)
        assert named(capture.read(capture_of(result)), "burn"), "nothing was sampled at all"


OLD_THREAD = """
import sys, threading, time

if any("script.py" in word for word in (sys.orig_argv if hasattr(sys, "orig_argv") else ["script.py"])):
    ready, stop = threading.Event(), threading.Event()

    def old_thread():
        while time.thread_time() < 0.25:
            sum(range(1000))
        ready.set()
        while not stop.is_set():
            sum(range(1000))

    thread = threading.Thread(target=old_thread)
    thread.start()
    sys.old = thread, stop
    ready.wait()
"""


def test_threads_older_than_the_recording(program, python, tmp_path):
    """They are sampled, from there on, and end like others."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(OLD_THREAD)
    path = script(
        tmp_path,
        "import sys, time\nend = time.thread_time() + 0.1\nwhile time.thread_time() < end:\n    sum(range(1000))\n"
        "thread, stop = sys.old\nstop.set()\nthread.join()\nprint(thread.is_alive())\n",
    )
    result = same(python, [path], tmp_path, env={"PYTHONPATH": str(tmp_path / "site")})
    it = capture.read(capture_of(result))
    samples = named(it, "old_thread")
    assert samples, "not sampled"
    thread = samples[0][0]
    whole = it.thread_ends.get(thread, (0, 0))[1]
    assert whole > 0.25e9, "no end, or not all of its CPU"
    assert whole - sum(cpu for _, _, cpu, _, _ in samples) > 0.24e9, "CPU from before the recording"


ENDING = """
import mmap, os, sys, threading, time, zlib

# Without the GIL, and in a library that has no exit function: OpenSSL's frees its locks, and who is in
# it then dies of that without us as well. So does who comes back from C once the interpreter is freed
# (1 of 600): a call takes half a second.
def endless():
    while True:
        zlib.adler32(DATA)

DATA = mmap.mmap(-1, 1 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)

for _ in range(3):
    threading.Thread(target=endless, daemon=True).start()
end = time.monotonic() + 0.3
while time.monotonic() < end:
    sum(range(1000))
%s
"""


@pytest.mark.parametrize("last", ["sys.exit(3)", "os._exit(3)"])
def test_an_end_with_threads_that_run(program, python, last, tmp_path):
    """Every thread's CPU up to the end is recorded, and nothing after it."""
    result = same(python, [script(tmp_path, ENDING % last)], tmp_path)
    it = capture.read(capture_of(result))
    ((time, status),) = it.process_ends.values()
    assert status == ORDERLY
    assert len(it.thread_ends) == len(it.threads) - 1 == 4
    assert max(s[1] for s in it.samples) <= time + 1000
    assert len(it.samples) == it.agent_samples


TIMERS = """
#include <fcntl.h>
#include <unistd.h>

void say_timers(void)
{
	char text[65536];
	int n, fd = open("/proc/self/timers", O_RDONLY);

	n = (int)read(fd, text, sizeof(text));
	write(1, n > 0 ? "timers\\n" : "none\\n", n > 0 ? 7 : 5);
}
"""

ASKING = """
import ctypes, sys

library = ctypes.CDLL(sys.argv[1])
if sys.argv[2] == "now":
    library.say_timers()
ctypes.pythonapi.Py_AtExit(library.say_timers)
"""


def test_recording_ends_before_the_interpreter_is_freed(program, python, tmp_path):
    """Threads that come back from C after that die of it, the more the longer the process still takes."""
    (tmp_path / "timers.c").write_text(TIMERS)
    library = str(tmp_path / "timers.so")
    subprocess.check_call(["cc", "-shared", "-fPIC", "-o", library, str(tmp_path / "timers.c")])
    path = script(tmp_path, ASKING)
    result = same(python, [path, library, "later"], tmp_path)
    assert result.out == "none\n"
    assert profile(python, [path, library, "now"], tmp_path).out == "timers\nnone\n", "it cannot be seen"


def test_a_first_thread_that_ends_first(program, python, tmp_path):
    """The kernel shows a zombie; the others live, and are recorded to their end."""
    script = str(TARGETS / "leaderless.py")
    expected = plain(python, [script, "0"], tmp_path)
    result = same(python, [script, "2.2"], tmp_path, expected=expected)
    assert result.status == 7
    it = capture.read(capture_of(result))
    assert len(it.samples) == it.agent_samples, "taken for dead"
    assert max(s[1] for s in named(it, "work")) > 1.5e9  # the collector has looked since, and more than once


@ROOT_ONLY
def test_pid_namespaces(program, python, tmp_path):
    """Each has a process 1; they are told apart, and recorded to their ends."""
    if python.foreign or not shutil.which("unshare"):
        pytest.skip("SKIP: no unshare(1) there")
    child = script(
        tmp_path,
        "import os, sys, time\nassert os.getpid() == 1\ndef inside():\n"
        "    end = time.monotonic() + float(sys.argv[1])\n    while time.monotonic() < end:\n"
        "        sum(range(300000))\n        time.sleep(0.02)\n"
        "inside()\n",
        "child.py",
    )
    path = script(
        tmp_path,
        "import subprocess, sys, time\n"
        "children = []\nfor _ in range(2):\n"
        "    children.append(subprocess.Popen(['unshare', '--pid', '--fork', sys.executable, %r, sys.argv[1]]))\n"
        "    time.sleep(0.2)\nprint([child.wait() for child in children])\n" % child,
    )
    result = same(python, [path, "2.2"], tmp_path, expected=plain(python, [path, "0"], tmp_path))
    it = capture.read(capture_of(result))
    inside = [i for i, p in enumerate(it.processes) if p and p.pid == 1]
    assert len(inside) == 2
    assert [it.process_ends[i][1] for i in inside] == [ORDERLY, ORDERLY]
    assert len(it.samples) == it.agent_samples, "taken for dead"


@pytest.mark.parametrize("how", ["prctl", "seccomp"])
def test_a_sandbox_that_kills(program, python, how, tmp_path):
    """The program lives; the report says why it ends before the program does."""
    args = [str(TARGETS / "sandboxed.py"), how]
    result = same(python, args, tmp_path, expected=plain(python, args + ["quick"], tmp_path))
    assert result.status == 0, result
    it = capture.read(capture_of(result))
    assert it.process_ends[1][1] == IN_PART
    assert it.reasons == ["the program put itself under a seccomp filter"]
    assert named(it, "before") and not named(it, "after")


def test_what_the_report_says_of_a_sandbox(program, system_python, tmp_path):
    result = profile(system_python, [str(TARGETS / "sandboxed.py"), "prctl"], tmp_path, options=[])
    text = " ".join(result.out.split())
    assert "Profiled in part" in text and "under a seccomp filter" in text, result


def test_a_sandbox_that_the_kernel_refuses(program, some_python, tmp_path):
    result = same(some_python, [str(TARGETS / "sandboxed.py"), "refused"], tmp_path)
    it = capture.read(capture_of(result))
    assert it.process_ends[1][1] == ORDERLY and it.reasons == []
    assert named(it, "after"), "recording did not go on"
    after = {s[0] for s in named(it, "after")}
    assert len(after) >= 3, "the first thread, two others, or the child are missing"


FEW_SIGNALS = """
import ctypes, threading, time

libc = ctypes.CDLL(None, use_errno=True)
barrier = threading.Barrier(51)

def work():
    barrier.wait()
    end = time.thread_time() + 0.02
    while time.thread_time() < end:
        sum(range(100))
    barrier.wait()

threads = [threading.Thread(target=work) for _ in range(50)]
for thread in threads:
    thread.start()
barrier.wait()
mine = [libc.timer_create(1, None, ctypes.byref(ctypes.c_void_p())) for _ in range(4)]
barrier.wait()
for thread in threads:
    thread.join()
print(mine)
"""


@ROOT_ONLY
def test_few_pending_signals(program, system_python):
    """Each timer takes one of RLIMIT_SIGPENDING: the program keeps enough of them for its own."""
    user = "61357"  # nobody's: what other processes of a user hold counts too
    limited = ["prlimit", "--sigpending=8", "setpriv", "--reuid=" + user, "--regid=" + user]
    limited.append("--clear-groups")
    with tempfile.TemporaryDirectory() as top:
        os.chmod(top, 0o755)
        binary = tool.copy_tool(Path(top) / "tool")
        work = Path(top) / "work"
        work.mkdir()
        work.chmod(0o777)
        path = script(work, FEW_SIGNALS)
        command = profile_command(system_python, [path], ["-q"])
        expected = tool.run(limited + [system_python.path, path], work)
        result = tool.run(limited + [str(binary)] + command[1:], work, env={"HOME": "/nonexistent"})
        assert expected.out == "[0, 0, 0, 0]\n", expected
        assert (result.status, result.out, result.err) == (0, expected.out, expected.err)
        it = capture.read(tool.run_folder(work / "performance") / "profile.fah")
    assert len(it.thread_ends) == 51, "threads without a timer are counted too"
    assert sum(cpu for _, cpu in it.thread_ends.values()) > 50 * 0.02e9
