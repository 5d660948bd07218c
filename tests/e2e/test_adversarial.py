"""Victims that attack a sampler, at 5 kHz, on every Python.

Same result, no crash, no impossible stack, few drops.
"""

import signal
import sys
from pathlib import Path

import pytest
from support import capture, stacks
from support.run import ALSO, FULL, TARGETS, capture_of, plain, profile, profile_command, run, run_folder

HZ = 5000
# with --memory once more: test_heap.py has victims of its own
SECONDS = (10 if ALSO else 30) if FULL else 2
TIMEOUT = SECONDS * 10 + 60  # a victim that makes no progress is a failure
MAX_DROPS = 0.02
# victim: the status it ends with
VICTIMS = {
    "reenter": 0,
    "throw": 11,
    "generators": 12,
    "coroutines": 13,
    "recursion": 14,
    "overflow": 15,
    "threads": 16,
    "gcstorm": 17,
    "newcode": 18,
    "unload": 19,
    "signals": 20,
    "forks": 21,
    "execs": 22,
    "hardexit": 23,
    "hooks": 24,
    "interpreters": 25,
    "deep": 26,
}
# What dies now and then without us too, by a defect of the interpreter: there one death is none of
# ours, and TRIES in a row are. 3.13: a request to drop the GIL reaches a thread's state that is
# gone; found at the end of the process (1 of 70 plain runs of 8 s, 1 of 205 profiled ones).
ILL = {("signals", (3, 13)): -signal.SIGSEGV}
TRIES = 3
# Where process_vm_writev is refused loads go another way (core/load.c): of these, in the short form one.
REFUSED = [sys.executable, str(Path(__file__).resolve().parent / "support" / "refused.py")]
WITHOUT_LOADS = ["reenter", "gcstorm", "threads", "unload"] if FULL else ["gcstorm"]


# Those that CPython's own JIT makes code of, and that leave it in every way.
JIT_VICTIMS = ("gcstorm", "generators", "recursion", "reenter", "threads", "throw") if FULL else ("gcstorm", "throw")


@pytest.mark.parametrize("victim", sorted(VICTIMS))
def test_victim(program, build, victim, tmp_path):
    attack(build, victim, tmp_path)


@pytest.mark.parametrize("victim", WITHOUT_LOADS)
def test_victim_where_the_kernel_does_not_copy(program, local_python, victim, tmp_path):
    attack(local_python, victim, tmp_path, REFUSED)


@pytest.mark.parametrize("victim", JIT_VICTIMS)
def test_victim_with_jit(program, jit_python, victim, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHON_JIT", "1")
    attack(jit_python, victim, tmp_path)


def attacked(prefix, python, args, cwd):
    if not prefix:
        return profile(python, args, cwd, hz=HZ, timeout=TIMEOUT)
    command = prefix + profile_command(python, args, ["-q"])
    result = run(command, cwd, env={"FIXINGAHOLE_TEST_HZ": str(HZ)}, timeout=TIMEOUT)
    result.folder = run_folder(cwd / "performance")
    return result


def attack(build, victim, tmp_path, prefix=()):
    script = str(TARGETS / (victim + ".py"))
    expected = plain(build, [script, "0"], tmp_path)
    assert expected.status == VICTIMS[victim] and not expected.stderr, (
        "the victim itself is ill\n%s" % expected
    )

    for _ in range(TRIES):
        result = attacked(prefix, build, [script, str(SECONDS)], tmp_path)
        if result.status != 128 - ILL.get((victim, build.version[:2]), 0):
            break
    assert result.status == expected.status, result
    assert (result.stdout, result.stderr) == (expected.stdout, expected.stderr), result

    it = capture.read(capture_of(result))
    assert it.complete and it.cut == 0
    assert it.reasons == [], "an agent refused"
    assert len(it.samples) > 100, "%d samples in %d s" % (len(it.samples), SECONDS)
    found = stacks.impossible(it)
    assert not found, "%d impossible stacks in %d samples:\n%s" % (
        len(found),
        len(it.samples),
        "\n".join(found[:20]),
    )
    assert it.drop_share() < MAX_DROPS, "drops by reason %r, agents' own %r, of %d samples" % (
        it.drops,
        it.agent_drops,
        len(it.samples),
    )
    last = max(time for _, time, _, _, _ in it.samples)
    assert last > SECONDS * 0.7e9, "sampling stopped after %.2f s" % (last / 1e9)
