"""A program that shares its core with another one: its want of a core is where it computes."""

import json
import os
import re
import subprocess
import sys

import pytest
from support import report
from support.run import FULL, TARGETS, capture_of, inspect, profile

TARGET = TARGETS / "crowded.py"
SECONDS = 0.4
POINTS = 8  # of the run: samples, the start of threads, and looks that come late here
PARTS = re.compile(r"([\d.]+) (seconds|ms|us) (?:in which (?P<what>a thread|the main|none)|of which)")


def beside(others, python, tmp_path):
    """The report, the capture and the program's own clocks, with so many busy loops on its core."""
    core = max(os.sched_getaffinity(0))
    busy = [subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(others)]
    try:
        for process in busy:
            os.sched_setaffinity(process.pid, {core})
        result = profile(python, [TARGET, str(core), str(SECONDS)], tmp_path)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert result.status == 0, result
    text = (result.folder / "profile_summary.txt").read_text(encoding="utf-8")
    return text, capture_of(result), json.loads(result.out)


def parts(text):
    """`Wall time` of inspect: seconds by what they were."""
    line = re.search(r"^Wall time +(.*)$", text, re.M).group(1)
    scale = {"seconds": 1, "ms": 1e-3, "us": 1e-6}
    return {m.group("what"): float(m.group(1)) * scale[m.group(2)] for m in PARTS.finditer(line)}


@pytest.mark.parametrize("others", (0, 1, 2) if FULL else (0, 2))
def test_shares(program, python, others, tmp_path):
    """What the clocks say of each phase, its line has; a join() has what its thread slept."""
    text, path, clocks = beside(others, python, tmp_path)
    wall = report.seconds(text, "Total Wall Time")
    top = {name: entry.share for name, entry in report.top(text).items()}
    want = {name: 100 * clocks[phase][0] / wall for name, phase in (("work", "crowd"), ("rest", "rest"))}
    for name, share in want.items():
        assert abs(top.get(name, 0) - share) <= POINTS, (name, want, text)
    assert top.get("crowd", 0) <= POINTS, text
    # each of its waits is a moment, with want of a core behind it: that is in no line
    alone = 100 * clocks["alone"][0] / wall
    assert 100 * clocks["alone"][1] / wall - POINTS <= top["turns"] <= alone + POINTS, (alone, text)

    waited = report.waited(text)[0]
    no_core = re.search(r"[nN]o core (\d+)%", text)
    no_core = float(no_core.group(1)) if no_core else 0.0
    assert waited + no_core <= 100, text
    missed = sum(clocks[phase][0] - clocks[phase][1] for phase in ("crowd", "alone"))
    assert no_core <= 100 * missed / wall + POINTS, (missed, text)
    # `alone` sleeps too, and without others most of what is missed is that
    assert not others or no_core >= 100 * missed / wall - 2 * POINTS, (missed, text)

    told = inspect(path).out
    found = parts(told)
    assert abs(sum(found.values()) - wall) <= 0.01, told
    # what nobody ran in for want of a core is never less than what one thread wanted alone
    most = max(thread.no_core for thread in report.threads(told).values())
    assert found.get("none", 0) >= most - POINTS / 100 * wall, told
