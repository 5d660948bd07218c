"""The clocks: perf's, opened outside of the program, beside and instead of the program's timers."""

import os
import re
import statistics
import sys
import tempfile
from pathlib import Path

import pytest
from support import capture
from support.run import BINARY, TARGETS, capture_of, copy_tool, inspect, plain, profile, run, run_folder
from test_same_behaviour import same, script

ROOT_ONLY = pytest.mark.skipif(os.getuid() != 0, reason="SKIP: only root can do that")
BOTH = pytest.mark.parametrize("command", ["profile", "record"])

BUSY = """
import threading, time

def burn():
    while time.thread_time() < %g:
        sum(range(200))

others = [threading.Thread(target=burn) for _ in range(%d)]
for other in others:
    other.start()
burn()
for other in others:
    other.join()
"""


@pytest.fixture(scope="module")
def perf(program, system_python, tmp_path_factory):
    """A kernel that lets us have the clock."""
    folder = tmp_path_factory.mktemp("perf")
    it = read(profile(system_python, ["--code", "pass"], folder, options=["-q", "--clock", "perf"]))
    if it.meta["clock"] == "thread-cpu":
        pytest.skip("SKIP: no perf events here: %s" % it.meta["perf_refused"])


def read(result):
    assert result.status == 0, result
    return capture.read(capture_of(result))


def test_as_fast_as_asked(perf, python, tmp_path):
    """By the thread's own CPU, so a busy machine does not matter: a second of each of two threads, in
    which the interval is another one twenty times."""
    result = profile(
        python, [script(tmp_path, BUSY % (1.0, 1))], tmp_path, options=["-q", "--rate", "1khz"]
    )
    it = read(result)
    assert it.meta["clock"] == "perf", it.meta
    cpu = {}
    for thread, _, ns, _, _ in it.samples:
        cpu.setdefault(thread, []).append(ns)
    rates = [len(all_of) / sum(all_of) * 1e9 for all_of in cpu.values() if sum(all_of) > 0.8e9]
    # from the timers at the start, about 20 ms, come fewer
    assert len(rates) == 2 and all(750 < rate < 1100 for rate in rates), rates


SLEEPS = """
import ctypes, time

libc, ended = ctypes.CDLL(None), 0
while time.process_time() < %g:
    ended += libc.usleep(1) != 0
print("ended" if ended else "slept")
"""


def test_ends_no_call(perf, python, tmp_path):
    """By default: a call that is about to block, from C that does not call again."""
    result = profile(python, [script(tmp_path, SLEEPS % 0.4)], tmp_path, options=["-q"])
    assert read(result).meta["clock"] == "both" and result.stdout == b"slept\n", result


@ROOT_ONLY
def test_would_be_seen_to_end_calls(perf, system_python, tmp_path):
    """What the one above would see: perf's clock inside the kernel, which is there for high rates."""
    for seconds in (1, 2, 4, 8):
        result = profile(
            system_python,
            [script(tmp_path, SLEEPS % seconds)],
            tmp_path,
            options=["-q", "--rate", "1khz"],
        )
        if read(result).meta["clock"] != "perf":
            pytest.skip("SKIP: no perf events inside the kernel here")
        if result.stdout == b"ended\n":
            return
    assert False, result


def test_own_descriptors_that_send_the_signal(perf, python, tmp_path):
    """A program may have SIGURG sent when a descriptor of its own is ready: that is no clock."""
    text = (
        "import fcntl, os, signal, time\n"
        "seen = []\n"
        "signal.signal(signal.SIGURG, lambda *_: seen.append(1))\n"
        "r, w = os.pipe()\n"
        "fcntl.fcntl(r, 10, signal.SIGURG)\n"  # F_SETSIG
        "fcntl.fcntl(r, fcntl.F_SETOWN, os.getpid())\n"
        "fcntl.fcntl(r, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)\n"
        "for i in range(20):\n"
        "    os.write(w, b'x')\n"
        "    end = time.process_time() + 0.01\n"
        "    while time.process_time() < end:\n        pass\n"
        "    os.read(r, 9)\n"
        "print(len(seen))\n"
    )
    result = same(python, [script(tmp_path, text)], tmp_path, options=["-q"])
    assert result.stdout == b"20\n", result


def test_asks_again(perf, system_python, tmp_path):
    """Who blocks our signal for an instant gives its event back, and has one again later."""
    text = (
        "import signal, time\n"
        "for i in range(4):\n"
        "    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGURG])\n"
        "    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGURG])\n"
        "    end = time.process_time() + 0.5\n"
        "    while time.process_time() < end:\n        pass\n"
    )
    it = read(profile(system_python, [script(tmp_path, text)], tmp_path, options=["-q"]))
    given, refused = map(int, it.meta["perf_threads"].split())
    # before the first time it has none yet
    assert 2 <= given <= 5 and not refused, it.meta


HANDS_OVER = """
import queue, sys, threading, time

there, back = queue.SimpleQueue(), queue.SimpleQueue()

def answer():
    for _ in range(%d):
        back.put(there.get())

def ask():
    for i in range(%d):
        there.put(i)
        back.get()

other = threading.Thread(target=answer)
other.start()
cpu = time.process_time()
ask()
other.join()
print((time.process_time() - cpu) / %d)
"""


def test_switches_stay_cheap(perf, some_python, tmp_path):
    """Two threads that hand things over, by their CPU for each: in turns with runs without us. With an
    event on each thread it was three times as much."""
    path = script(tmp_path, HANDS_OVER % ((30000,) * 3))
    took = {True: [], False: []}
    for _ in range(3):
        took[False].append(float(plain(some_python, [path], tmp_path).stdout))
        result = profile(some_python, [path], tmp_path, options=[])
        took[True].append(float(result.stdout.split()[0]))
    assert statistics.median(took[True]) < 1.2 * statistics.median(took[False]), took
    assert int(read(result).meta["perf_dear"]) >= 1, result
    said = words_of(result.stdout)
    assert "as all of threads while they gave their core away very often" in said, said


def test_has_its_event_again(perf, system_python, tmp_path):
    """Who hands over, and then does not for some seconds, has an event before and after."""
    text = "end = time.process_time() + %g\nwhile time.process_time() < end:\n    pass\n"
    path = script(
        tmp_path, "import time\n" + text % 0.3 + HANDS_OVER % ((10000,) * 3) + text % 2.5
    )
    it = read(profile(system_python, [path], tmp_path, options=["-q"]))
    given, _refused = map(int, it.meta["perf_threads"].split())
    assert given >= 2 and int(it.meta["perf_dear"]) >= 1, it.meta


@pytest.mark.parametrize("target", ["sigwaits.py", "urgent.py"])
def test_the_program_sees_no_more_of_it(perf, python, target, tmp_path):
    """Waits for signals, and the program's own use of ours, at 1 kHz. Not poll(), which no flag restarts: a signal of
    perf's clock on its way into it ends it, as the report says of such rates."""
    words = ["no-poll"] if target == "urgent.py" else []
    same(python, [str(TARGETS / target), *words], tmp_path, options=["-q", "--rate", "1khz"])


def test_children(perf, python, tmp_path):
    """Forks and execs have clocks of their own; the thread that executes another program has none there."""
    path = script(
        tmp_path,
        "import os, signal, subprocess, sys\n"
        "def burn(n):\n    return sum(i & 3 for i in range(n))\n"
        "burn(1000000)\n"
        "pid = os.fork()\n"
        "burn(3000000)\n"
        "if not pid:\n"
        # what was sent after the exec would end this one: sleep has no handler of ours
        "    signal.signal(signal.SIGURG, signal.SIG_DFL)\n"
        "    os.execlp('sh', 'sh', '-c', 'trap \"echo urgent\" URG; i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done')\n"
        "print(os.waitpid(pid, 0)[1])\n",
    )
    result = same(python, [path], tmp_path, options=["-q", "--rate", "1khz"])
    assert result.stdout == b"0\n"
    it = read(result)
    by_process = [sum(it.threads[s[0]][0] == i for s in it.samples) for i in (1, 2)]
    assert len(it.processes) == 3 and min(by_process) > 20, by_process


def words_of(data):
    return re.sub(r"\s+", " ", data.decode())


def busy_at(rate, command, python, top, prefix=(), tool=BINARY, **options):
    """A busy program at that rate: what is said of it at the end, and what `inspect` says of its clock."""
    path = script(top, BUSY % (0.3, 0))
    typed = [*prefix, str(tool), command, "--rate", rate]
    typed += ["-o", "x.fah", "--"] if command == "record" else ["--python"]
    result = run(typed + [python.path, path], top, **options)
    assert result.status == 0, result
    there = top / "x.fah" if command == "record" else run_folder(top / "performance")
    said = result.stderr if command == "record" else result.stdout
    (clock,) = [line for line in inspect(there, cwd=top).out.splitlines() if line.startswith("Clock ")]
    return words_of(said), clock


def restricted(prefix, command, python):
    """The same at 1 kHz below another command, away from what only root may read."""
    with tempfile.TemporaryDirectory() as top:
        os.chmod(top, 0o777)
        tool = copy_tool(Path(top) / "tool")
        return busy_at("1khz", command, python, Path(top), prefix, tool, env={"HOME": "/nonexistent"})


@ROOT_ONLY
@BOTH
def test_as_nobody(perf, command, system_python):
    """Who may not watch the kernel still has the clock; what differs is said."""
    prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    said, clock = restricted(prefix, command, system_python)
    with open("/proc/sys/kernel/perf_event_paranoid") as file:
        allowed = int(file.read())
    if allowed > 2:
        assert "No clock faster than the kernel's tick: the kernel keeps perf" in said, said
        assert ". No clock faster than the kernel's tick: the kernel keeps perf" in clock, clock
    elif allowed == 2:
        # beside much other work the event may go after a while
        gone = "(, as all of threads while they gave their core away very often)?"
        assert re.search("by perf's task-clock; in the kernel by its tick%s$" % gone, clock), clock
        assert "in the kernel by its tick" in said or command == "record", said
        assert "No clock" not in said and "EINTR" not in said, said
    else:
        assert "(EINTR)" in said and "(EINTR)" in clock, (said, clock)


@BOTH
def test_refused(program, command, system_python):
    """In a container that forbids perf events the tick's rate remains, and the report says why."""
    refused = [sys.executable, str(TARGETS.parent / "e2e" / "support" / "refused.py")]
    said, clock = restricted(refused, command, system_python)
    why = "No clock faster than the kernel's tick: perf events are refused here"
    assert why in said and "The rate is what the tick gives." in said, said
    assert "bound to the kernel's tick. " + why in clock, clock
    assert "bound to the kernel's tick" in said or command == "record", said


@pytest.mark.parametrize("rate, asked", [("1khz", 1000), ("10khz", 10000)])
def test_record_says_which_rate_it_reached(perf, rate, asked, some_python, tmp_path):
    """And it is that: in samples for each second of CPU, after a start in which the clock is not there yet."""
    seconds = 2 if asked == 1000 else 1
    words = ["-r", rate, "-o", "x.fah", "--", some_python.path, script(tmp_path, BUSY % (seconds, 0))]
    result = run([str(BINARY), "record", *words], tmp_path, some_python)
    assert result.status == 0, result
    it = capture.read(tmp_path / "x.fah")
    assert float(it.meta["rate_asked"]) == asked, it.meta
    said = re.search(r": ([\d,]+) samples at ([\d.]+) Hz of CPU time \((\d+) Hz asked\), 0 dropped", words_of(result.stderr))
    assert said and int(said.group(1).replace(",", "")) == len(it.samples) and int(said.group(3)) == asked, result
    late = [ns for _, _, ns, _, _ in sorted(it.samples, key=lambda s: s[1])][50:]
    reached = len(late) / sum(late) * 1e9
    assert float(said.group(2)) == pytest.approx(reached, rel=0.1), (reached, result)
    # handlers get an eighth of the CPU at most: beyond some thousands a second that is less than was asked for
    assert 0.95 * asked < reached < 1.05 * asked if asked == 1000 else 1000 < reached < 1.05 * asked, reached
    why = re.search(r"lowered to ([\d.]+) Hz so that samples take an eighth of the program's CPU", words_of(result.stderr))
    if reached < 0.8 * asked:
        assert why and float(why.group(1)) == pytest.approx(reached, rel=0.2), (reached, result)
    else:
        assert asked > 1000 or not why, result


@ROOT_ONLY
@BOTH
def test_says_that_it_may_end_calls(perf, command, system_python, tmp_path):
    """Where perf's clock is inside the kernel, and only there."""
    may = "With perf's clock a sample may come when a thread is about to block, and interrupt that call"
    for rate in ("1khz", "100"):
        (tmp_path / rate).mkdir()
        said, clock = busy_at(rate, command, system_python, tmp_path / rate)
        if rate == "1khz" and "in the kernel by its tick" in clock:
            pytest.skip("SKIP: no perf events inside the kernel here")
        assert (may in said) == (may in clock) == (rate == "1khz"), (rate, said, clock)


@BOTH
def test_a_clock_that_there_is_not(program, command, tmp_path):
    result = run([str(program), command, "--clock", "sundial", "--", "x.py"], tmp_path)
    assert result.status == 2 and b"timer and perf" in result.stderr, result
    result = run([str(program), command, "--rate", "1mhz", "--", "x.py"], tmp_path)
    assert result.status == 2 and b"--rate" in result.stderr, result
