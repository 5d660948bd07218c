"""Threads that no signal reaches: their CPU is shown as what it is, and given to nobody else."""

import json
import re
import shutil

import pytest
from support import capture, report
from support.languages import build_c
from support.run import BINARY, TARGETS, capture_of, inspect, profile, run

SECONDS = 1.0  # of CPU, of each of the two threads
NEAR = 0.05


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return build_c(tmp_path_factory.mktemp("silent") / "silent.so", ["silent.c"], "-O1")


def judge(python, near, tmp_path, *words):
    for _ in range(4):
        result = profile(python, [TARGETS / "silent.py", *words], tmp_path, options=[])
        assert result.status == 0, result
        if len({sample[0] for sample in capture.read(capture_of(result)).samples}) == 1:
            break  # else a sample came before it had blocked them: of one thread in a hundred
        shutil.rmtree(tmp_path / "performance")
    text = " ".join(result.out.split())
    match = re.search(r"Unsampled: 1 thread used [\d.]+% \(([\d.]+)s\) without one sample", text)
    assert match, result
    assert "with all signals blocked" in text
    said = json.loads(run([str(BINARY), "summarize", "--json", str(capture_of(result))], tmp_path).out)
    for seconds in float(match.group(1)), said["parts_s"]["unsampled"]:
        assert abs(seconds - SECONDS) < near * SECONDS, result
    assert abs(sum(said["parts_s"].values()) - said["wall_s"]) < 0.01 * said["wall_s"], said

    # the first thread has its own, and nothing of the other's
    it = capture.read(capture_of(result))
    (first,) = {sample[0] for sample in it.samples if sample[2]}
    ends = sorted(it.thread_ends.items())
    assert len(ends) == 2 and [it.threads[thread][1] == it.processes[1].pid for thread, _ in ends] == [
        thread == first for thread, _ in ends
    ], "samples of another thread than the first"
    own = sum(sample[2] for sample in it.samples) / 1e9
    assert abs(own - SECONDS) < NEAR * SECONDS + 0.02, own
    other = [one for tid, one in report.threads(inspect(capture_of(result)).out).items() if tid != it.processes[1].pid]
    # the kernel counts other threads' CPU by the tick, at both ends
    assert len(other) == 1 and abs(other[0].cpu - SECONDS) < 0.03, other
    return result


def test_a_thread_that_blocks_all_signals(program, python, tmp_path):
    """Its seconds are of the run's wall time: when it had the GIL no sample says, so some of its CPU is thought to lie
    beside the first thread's (5 to 6.5 %)."""
    judge(python, 2 * NEAR, tmp_path, "python", SECONDS)


@pytest.mark.parametrize("how", ["silent_first_thing", "silent_born"])
def test_a_thread_of_c_that_no_signal_reaches(program, some_python, library, how, tmp_path):
    assert judge(some_python, NEAR, tmp_path, how, SECONDS, library).out.startswith("0\n")
