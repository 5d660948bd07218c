"""Shares against the programs' own clocks."""

import json
import math
import re
import subprocess
import sys

import pytest
from support import report
from support.pythons import REPO, Python
from support.run import FULL, profile

TOLERANCE = 2.0  # points, where functions run for long at a time
SIGMAS = 3.5  # where they take turns faster than samples come: chance, once in 2,000 functions
SCALE = "1" if FULL else "0.4"


def by_chance(share, samples):
    return SIGMAS * math.sqrt(share * (100 - share) / samples)


def held_against_timers(python, script, tmp_path, env=None, turns=False):
    result = profile(
        python, [str(script), "--scale", SCALE, "--json"], tmp_path, options=[], env=env
    )
    assert result.status == 0, result
    first, rest = result.out.split("\n", 1)
    timers = json.loads(first)
    wall = report.seconds(rest, "Total Wall Time")
    top = report.top(rest)
    samples = int(re.search(r"Samples: ([\d,]+)", rest).group(1).replace(",", ""))
    wrong = []
    for name, seconds in timers["wall"].items():
        share = 100 * seconds / wall
        shown = top[name].share if name in top else 0.0
        allowed = max(TOLERANCE, by_chance(share, samples)) if turns else TOLERANCE
        if abs(shown - share) > allowed:
            wrong.append("%s: shown %.1f %%, its own clock says %.1f %%" % (name, shown, share))
    assert not wrong, "%s\n%s\n%s" % ("\n".join(wrong), timers, rest)
    return top, timers


def numpy_python():
    """The Python that runs these tests has numpy (tests/requirements.txt); a system one will do."""
    for path in (sys.executable, "/usr/bin/python3", str(REPO / ".venv" / "bin" / "python3")):
        if (
            subprocess.call(
                [path, "-c", "import numpy"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            == 0
        ):
            return Python("numpy", sys.version_info[:3], "/", path)
    return None


def test_advanced(program, tmp_path):
    python = numpy_python()
    if python is None:
        pytest.skip("SKIP: no Python with numpy here")
    # One thread: the example times itself by the wall clock.
    top, timers = held_against_timers(
        python,
        REPO / "examples" / "advanced.py",
        tmp_path,
        env={"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )
    assert set(timers["wall"]) == {
        "matrix_operations",
        "monte_carlo_simulation",
        "statistical_analysis",
        "fourier_analysis",
        "recursive_computation",
        "data_serialization",
    }
    assert set(timers["wall"]) <= set(top)


def test_basic(program, python, tmp_path):
    held_against_timers(python, REPO / "examples" / "basic.py", tmp_path, turns=True)


def test_lines(program, python, tmp_path):
    """Shares of lines, not only of functions: each line's CPU is its own clock's."""
    script = tmp_path / "lines.py"
    parts = [0.30, 0.15, 0.45]
    text = [
        "import time",
        "def spin(end):",
        "    while time.thread_time() < end: pass",
        "def all_of_them():",
    ]
    for part in parts:
        text.append("    spin(time.thread_time() + %g)" % part)
    text += ["all_of_them()", "print('done')"]
    script.write_text("\n".join(text) + "\n")
    from support import capture
    from support.run import capture_of

    result = profile(python, [str(script)], tmp_path)
    it = capture.read(capture_of(result))
    cpu = {}
    for _thread, _time, spent, _flags, node in it.samples:
        for function, line in it.path(node):
            if function.name == "all_of_them":
                cpu[line] = cpu.get(line, 0) + spent / 1e9
    for number, part in enumerate(parts, 5):
        assert abs(cpu.get(number, 0) - part) < 0.03, (number, part, cpu)
