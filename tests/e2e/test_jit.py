"""CPython's own JIT (PYTHON_JIT=1), on the builds that have it: shares, lines, Python and native, counts. Victims with it are
in test_adversarial.py, walks in tests/unit/cpython."""

import json
import re

import pytest
from support import lprof, truth
from support.run import BINARY, FULL, capture_of, inspect, profile, run
from test_exact import stats_of
from test_truth import CHANCE, KINDS, too_far

SECONDS = 10.0 if FULL else 1.5
SAYS = "Code made by CPython's JIT: "
TURNS = 300000
HOT = """import sys
def leaf(x):
    return x + 1
def hot(n):
    x = 0
    for i in range(n):
        x = leaf(x)
        if x > 100:
            x = 0
    return x
hot(%d)
assert sys._jit.is_enabled()
""" % TURNS


@pytest.fixture(autouse=True)
def jit(monkeypatch):
    monkeypatch.setenv("PYTHON_JIT", "1")


@pytest.mark.parametrize("name", ("loops", "lines", "pure_calls", "c_calls"))
def test_truth(program, jit_python, name, tmp_path):
    """What the JIT has made is Python's, of the function that it was made of; what that calls is native; native stacks
    join. Lines that end in what can fail have their own time."""
    it = truth.run(name, jit_python, SECONDS, tmp_path)
    limit = truth.limit(200, CHANCE)
    by_cpu = [one for one in it.shares if one.what.endswith("(CPU)")]  # wall time is made of it as anywhere
    wrong = too_far(by_cpu + [one.nearer(0.02) for one in it.lines], limit)
    wrong += too_far([one.nearer(KINDS / 100) for one in it.kinds if one.what != "system"], limit)
    assert not wrong, "\n".join(wrong) + "\n" + it.text
    if name != "c_calls":  # hardly any of its own
        assert SAYS in " ".join(it.text.split()), it.text
    native = sum(sample[2] for sample in it.capture.samples if sample[3] & truth.RUNNING == truth.NATIVE)
    whole = sum(sample[2] for sample in it.capture.samples)
    if name == "loops":
        assert native < 0.15 * whole, (native, whole)
    for _thread, _time, _cpu, _flags, node in it.capture.samples:
        for function, _line in it.capture.path(node):
            assert not re.match("py::jit|_PyJIT_Entry", function.name), "a frame of the JIT's own"


def test_stacks_join(program, jit_python, tmp_path):
    """3.14's JIT tells nobody how to unwind its code, 3.15's some time after it was made."""
    script = tmp_path / "hot.py"
    script.write_text(HOT.replace("hot(%d)" % TURNS, "hot(%d)" % (40 * TURNS)))
    result = profile(jit_python, [script], tmp_path)
    assert result.status == 0, result
    said = inspect(capture_of(result), "--health").out
    joined, part, apart = map(int, re.search(r"Native +(\d+) joined[^,]*, (\d+) in part, (\d+) not", said).groups())
    assert joined > 30 and part + apart < 0.1 * joined, said


def test_calls(program, jit_python, tmp_path):
    script = tmp_path / "hot.py"
    script.write_text(HOT)
    done = run([BINARY, "calls", "--python", jit_python.path, "-o", "our.prof", script], tmp_path, jit_python)
    assert done.status == 0, done
    found = {key[2]: value[0] for key, value in stats_of(tmp_path / "our.prof").items() if key[0] == "hot.py"}
    assert found["leaf"] == TURNS and found["hot"] == 1, found


def test_lines(program, jit_python, tmp_path):
    script = tmp_path / "hot.py"
    script.write_text(HOT)
    done = run([BINARY, "lines", "--python", jit_python.path, "-f", "hot", script], tmp_path, jit_python)
    assert done.status == 0, done
    hits = lprof.hits(lprof.read(tmp_path / "hot.py.lprof"))
    assert hits == {5: 1, 6: TURNS + 1, 7: TURNS, 8: TURNS, 9: TURNS // 101, 10: 1}, hits


def test_counted(program, jit_python, tmp_path):
    """Not with 3.14's: its restart_events waits for good where the JIT has freed a hundred pieces of code."""
    script = tmp_path / "hot.py"
    script.write_text(HOT + "for _ in range(50): hot(20000)\n")
    result = profile(jit_python, [script], tmp_path)
    assert result.status == 0, result
    shown = run([str(BINARY), "summarize", "--json", str(capture_of(result))], tmp_path)
    found = {}
    for it in json.loads(shown.out)["calls"]:
        found[it["function"]] = found.get(it["function"], 0) + it["n_calls"]
    text = " ".join((result.folder / "profile_summary.txt").read_text().split())
    assert ("Calls are not counted" in text) == (jit_python.version < (3, 15)), text
    if jit_python.version < (3, 15):
        assert found == {}
        return
    assert found["hot"] == 51 and abs(found["leaf"] / (TURNS + 50 * 20000) - 1) < 0.1, found


def test_without(program, jit_python, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHON_JIT", "0")
    it = truth.run("loops", jit_python, 0.3, tmp_path)
    assert "JIT" not in it.text, it.text
