"""What threads wait for, and for how long, against waits that are known by construction."""

import json
import os
import subprocess
import sys
from collections import defaultdict

import pytest
from support import capture, report
from support.run import (
    BINARY,
    TARGETS,
    capture_of,
    copy_tool,
    environment,
    inspect,
    profile,
    run_folder,
)

UNKNOWN, GIL, LOCK, SLEEP, DISK, SOCKET, PIPE, CHILD, TERMINAL = range(9)
TARGET = TARGETS / "waits.py"
KINDS = {
    "sleep": SLEEP,
    "pieces": SLEEP,
    "lock": LOCK,
    "queue": LOCK,
    "socket": SOCKET,
    "pipe": PIPE,
    "terminal": TERMINAL,
    "child": CHILD,
    "select": SOCKET,
    "poll": PIPE,
    "no_fds": SLEEP,
    "input": PIPE,
    "async_sleep": SLEEP,
    "async_socket": SOCKET,
}
SECONDS = 2.0
TICK = 0.03  # the longest time between two looks


def marked_lines():
    """By function: the line on which it waits."""
    found, name = {}, ""
    for number, line in enumerate(TARGET.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("def "):
            name = line[4 : line.index("(")]
        if line.endswith("# here"):
            found[name] = number
    return found


def run(python, tmp_path, *arguments):
    result = profile(python, [TARGET] + [str(a) for a in arguments], tmp_path)
    assert result.status == 0, result
    return capture_of(result), json.loads(result.out)


def recorded(python, tmp_path, *arguments):
    path, clocks = run(python, tmp_path, *arguments)
    return capture.read(path), clocks


def by_tid(c):
    return {tid: thread for thread, (_process, tid) in enumerate(c.threads) if thread}


def places(c):
    """Seconds by (function of the target, line, reason); the function None: none of it."""
    out = defaultdict(float)
    for _thread, _end, _length, waited, reason, node in c.waits:
        for function, line in c.path(node):
            if function.file.endswith("waits.py") and function.name.startswith("wait_"):
                out[function.name, line, reason] += waited / 1e9
                break
        else:
            out[None, 0, reason] += waited / 1e9
    return out


def wrong_kinds(c, clocks):
    """Each wait took what its thread's clocks say, but for what it wanted a core, or the GIL, meanwhile."""
    found, lines, wrong = places(c), marked_lines(), []
    threads = by_tid(c)
    for name, tid, wall, asked, cpu in clocks:
        right = found[name, lines[name], KINDS[name[5:]]]
        ready = c.states[threads[tid]][2] / 1e9
        slack = 0.03 * SECONDS
        gil = found.get((name, lines[name], GIL), 0.0)
        # what it waited for before its first look, such as the GIL at its start, nobody saw
        if not wall - cpu - ready - gil - slack <= right <= asked - cpu + slack + TICK:
            seen = {k: round(v, 3) for k, v in found.items() if k[0] == name}
            wrong.append("%s: %.3f of %.3f s; %s" % (name, right, wall - cpu - ready, seen))
    assert len(clocks) == len(KINDS)
    return wrong


def test_kinds(program, python, tmp_path):
    wrong = wrong_kinds(*recorded(python, tmp_path, "kinds", SECONDS, *KINDS))
    assert not wrong, "\n".join(wrong)


def test_gil(program, python, tmp_path):
    """All that these threads wait for is the GIL, and together they wait for most of the time."""
    c, clocks = recorded(python, tmp_path, "gil", SECONDS)
    gil = other = 0.0
    tids = {tid for _name, tid, *_ in clocks}
    for thread, _end, _length, waited, reason, node in c.waits:
        names = [function.name for function, _line in c.path(node)]
        if c.threads[thread][1] in tids and "spin" in names:
            gil, other = (gil + waited, other) if reason == GIL else (gil, other + waited)
    assert other <= 0.03 * (gil + other), (gil / 1e9, other / 1e9)
    # what the threads' own clocks leave, but for their want of a core; they begin with the GIL
    mine = [t for t, (_, tid) in enumerate(c.threads) if t and tid in tids]
    ready = sum(c.states[t][2] for t in mine if t in c.states) / 1e9
    least = sum(wall - cpu for _name, _tid, wall, _asked, cpu in clocks) - ready
    most = sum(asked - cpu for _name, _tid, _wall, asked, cpu in clocks) - ready
    slack = 0.03 * 4 * SECONDS
    assert least - slack <= gil / 1e9 <= most + slack


def wrong_states(c, clocks):
    """CPU, want of a core and waiting are the thread's life; life and CPU as its own clocks have them:
    it begins when it is asked for, and it is over when the kernel has it no more."""
    sums, wrong = defaultdict(float), []
    for thread, _end, _length, waited, _reason, _node in c.waits:
        sums[thread] += waited / 1e9
    for name, tid, wall, asked, cpu in clocks:
        thread = by_tid(c)[tid]
        assert [own for _process, own in c.threads].count(tid) == 1, "one thread, twice"
        end, whole = (ns / 1e9 for ns in c.thread_ends[thread])
        life = end - c.thread_starts[thread][0] / 1e9
        if not wall - 1e-4 <= life <= asked + 1e-4:
            wrong.append("%s %d: %.4f s, clocks %.4f to %.4f" % (name, tid, life, wall, asked))
        if not cpu - 1e-4 <= whole <= cpu + 0.005 + 0.01 * wall:
            wrong.append("%s %d: CPU %.4f s, its clock %.4f s" % (name, tid, whole, cpu))
        if thread not in c.states:
            continue  # gone before anybody looked
        time, ours, ready = (ns / 1e9 for ns in c.states[thread])
        total = ours + ready + sums[thread]
        if abs(time - end) > 1e-3 or abs(ours - whole) > 1e-3:
            wrong.append("%s %d: known to %.4f s of %.4f, %r" % (name, tid, time, end, ours))
        # when it began the collector knows to 10 ms; the report goes by the thread's own word
        if abs(total - life) > 0.01 * life + 0.012:
            wrong.append("%s %d: states %.4f s of %.4f" % (name, tid, total, life))
    return wrong


def wrong_table(path, clocks):
    """The same of what `inspect` shows, which is rounded to a millisecond."""
    shown, wrong = report.threads(inspect(path).out), []
    for name, tid, wall, asked, _cpu in clocks:
        if tid not in shown:
            continue  # it lists those with most CPU
        thread = shown[tid]
        if not wall - 0.002 <= thread.wall <= asked + 0.002:
            wrong.append("%s: %r, clocks %.4f to %.4f" % (name, thread, wall, asked))
        if abs(thread.states - thread.wall) > 0.01 * thread.wall + 0.002:
            wrong.append("%s: %r: %.3f" % (name, thread, thread.states))
        if abs(sum(thread.reasons.values()) - thread.waited) > 0.01 * thread.wall + 0.004:
            wrong.append("%s: %r: the reasons do not add up" % (name, thread))
    assert len(shown) >= min(20, len(clocks)), shown
    return wrong


@pytest.mark.parametrize("count", (1, 4, 50))
def test_states(program, some_python, count, tmp_path):
    """CPU, want of a core and waiting make up each thread's time, by its own clocks."""
    path, clocks = run(some_python, tmp_path, "many", SECONDS, count)
    assert len(clocks) == count
    wrong = wrong_states(capture.read(path), clocks) + wrong_table(path, clocks)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("seconds, count", ((0.003, 10), (0.02, 10), (1, 1)))
def test_short_lives(program, python, seconds, count, tmp_path):
    """Threads that are gone before anybody looks, or soon after: known by their own word."""
    path, clocks = run(python, tmp_path, "lives", seconds, count)
    assert len(clocks) == count
    wrong = wrong_states(capture.read(path), clocks) + wrong_table(path, clocks)
    assert not wrong, "\n".join(wrong)


def mixed(c):
    """How many waits in all, and those in places that do not go with their reason."""
    total, bad = 0, []
    for _thread, _end, _length, waited, reason, node in c.waits:
        names = [function.name for function, _line in c.path(node)]
        own = next((name for name in names if name in ("nap", "sip", "give")), None)
        if own is None or reason == GIL:
            continue
        total += 1
        if reason not in {"nap": (SLEEP,), "sip": (PIPE,), "give": (SLEEP, PIPE)}[own]:
            bad.append((names, reason, waited))
    return total, bad


def test_place_and_reason_belong_together(program, some_python, tmp_path):
    """Threads that wait here and there for a moment: no look may mix two waits."""
    c, _ = recorded(some_python, tmp_path, "turns", 2 * SECONDS)
    total, bad = mixed(c)
    assert total > 20
    assert not bad, "%s of %d" % (bad, total)


def profiled_by(command, tool, python, cwd, *arguments):
    done = subprocess.run(
        command
        + [str(tool), "profile", "-q", "--python", python.path, str(TARGET)]
        + [str(argument) for argument in arguments],
        cwd=str(cwd),
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return capture.read(run_folder(cwd / "performance") / "profile.fah"), json.loads(done.stdout)


@pytest.mark.skipif(os.getuid() != 0, reason="SKIP: only root can become nobody")
def test_as_nobody(program, system_python, tmp_path_factory):
    work = tmp_path_factory.mktemp("nobody")
    for folder in [work] + list(work.parents)[:3]:
        if folder.stat().st_uid == 0 and str(folder).startswith("/tmp/"):
            folder.chmod(0o755)
    tool = copy_tool(work / "tool")
    own = work / "own"
    own.mkdir()
    os.chown(own, 65534, 65534)
    as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    wrong = wrong_kinds(
        *profiled_by(as_nobody, tool, system_python, own, "kinds", SECONDS, *KINDS)
    )
    assert not wrong, "\n".join(wrong)


# ptrace and process_vm_readv are refused, as in a container; then the command takes over.
REFUSE = """
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
code = b"".join(struct.pack("<HBBI", *line) for line in [
    (0x20, 0, 0, 0),            # the call's number
    (0x15, 1, 0, 101),          # ptrace
    (0x15, 0, 1, 310),          # process_vm_readv
    (0x06, 0, 0, 0x00050001),   # EPERM
    (0x06, 0, 0, 0x7FFF0000),   # allowed
])
text = ctypes.create_string_buffer(code)
program = struct.pack("<HxxxxxxQ", len(code) // 8, ctypes.addressof(text))
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.create_string_buffer(program), 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_where_memory_is_not_shown(program, system_python, tmp_path):
    """Without stacks the seconds are the same; what cannot be told without them is unknown."""
    command = [sys.executable, "-c", REFUSE]
    c, clocks = profiled_by(command, BINARY, system_python, tmp_path, "kinds", SECONDS, *KINDS)
    assert not wrong_states(c, clocks)
    assert {node for *_, node in c.waits} == {0}
    by_reason, by_thread = defaultdict(float), defaultdict(float)
    for thread, *_, waited, reason, _node in c.waits:
        by_reason[reason] += waited / 1e9
        by_thread[c.threads[thread][1], reason] += waited / 1e9
    assert by_reason[GIL] == by_reason[LOCK] == 0, dict(by_reason)
    for name, tid, wall, _asked, cpu in clocks:
        reason = {"wait_child": CHILD, "wait_lock": UNKNOWN, "wait_queue": UNKNOWN}.get(name)
        if reason is None:
            continue
        least = min(SECONDS, wall - cpu) - c.states[by_tid(c)[tid]][2] / 1e9
        # the child's own start is waited for at a pipe
        slack = 0.03 * SECONDS + (0.2 * SECONDS if reason == CHILD else 0)
        assert least - slack <= by_thread[tid, reason] <= wall - cpu + 0.03 * SECONDS, (name, by_thread)
