"""`n_calls`: how often a function was called, and from which line, against programs that know.

What is called seldom is counted exactly. What is called too often for that is estimated, by the calls of
who calls it: exact where those are all alike, so the limits here allow for one of them at the ends of the
run. A loop that is never begun again goes by its turns. A recursion has only the clock to go by, and its
limit is wide, for it depends on what else the machine does.
"""

import json
import statistics

import pytest
from support.pythons import REPO
from support.run import BINARY, capture_of, plain, profile, run

TARGETS = REPO / "tests" / "targets" / "counts"
CLOCK = None  # by a factor of 2.5


def can_count(python):
    return python.version >= (3, 12)


def counts(python, folder, name, *args, options=("-q",), env=None):
    """[(function, caller or None, its line or None, n, estimated)] and the summary."""
    result = profile(python, [TARGETS / name] + list(args), folder, options=options, env=env)
    assert result.status == 0, result
    shown = run([str(BINARY), "summarize", "--json", str(capture_of(result))], folder)
    found = [
        (
            it["function"],
            it.get("caller"),
            it.get("caller_line"),
            it["n_calls"],
            it["estimated"],
        )
        for it in json.loads(shown.out)["calls"]
    ]
    return found, (result.folder / "profile_summary.txt").read_text()


def line_of(name, comment):
    lines = (TARGETS / name).read_text().splitlines()
    (found,) = [i for i, line in enumerate(lines, 1) if line.rstrip().endswith("# " + comment)]
    return found


def test_exact(program, python, tmp_path):
    found, _ = counts(python, tmp_path, "exact.py")
    if not can_count(python):
        assert found == []
        return
    assert not [it for it in found if it[4]], "nothing of it is too much to be counted"
    whole = {}
    for function, _caller, _line, n, _ in found:
        whole[function] = whole.get(function, 0) + n
    for function, n in {
        "plain": 300 + 400 + 150 + 40 + 80 + 45 + 440,
        "Thing.__init__": 70,
        "Thing.method": 70,
        "Thing.static": 70,
        "Thing.of_class": 70,
        "Thing.prop": 70,
        "Thing.__getitem__": 70,
        "generator": 50,
        "coroutine": 20,
        "decorated.<locals>.wrapper": 40,
        "wrapped": 40,
        "key": 120,
        "add": 60,
        "hook": 3,
        "recursive": 160,
        "raising": 25,
        "in_thread": 4,
        "main": 1,
    }.items():
        assert whole.get(function) == n, (function, n, whole)
    by_line = {(it[0], it[2]): it[3] for it in found}
    for function, comment, n in [
        ("plain", "300", 300),
        ("plain", "400", 400),
        ("plain", "50 x 3", 150),
        ("plain", "20 x 2", 40),
        ("plain", "45", 45),
        ("plain", "440", 440),
        ("Thing.__init__", "70", None),
        ("wrapped", "40", 40),
        ("key", "90", 90),  # called by C code that the line called
        ("key", "30", 30),
        ("add", "60", 60),
        ("hook", "3", 3),  # called by functions of the library
        ("recursive", "10", 10),
        ("recursive", "10 x 15", 150),
    ]:
        if n is not None:
            assert by_line.get((function, line_of("exact.py", comment))) == n, (comment, by_line)
    # nobody inside the scope called a thread's first function
    assert [it[3] for it in found if it[0] == "in_thread" and it[1] is None] == [4], found


@pytest.mark.parametrize(
    "what, lines, allowed",
    [
        ("callers", {"some": 40 * 60000, "others": 40 * 20000}, 0.05),
        ("alone", {"alone": 40 * 50000}, 0.05),
        ("pairs", {"pair": 40 * 25000 * 2}, 0.05),
        ("chain", {"inner": 60 * 1500 * 20, "middle": 60 * 1500}, 0.05),
        ("phases", {"some": 20 * 80000, "others": 20 * 30000}, 0.10),
        ("recursion", {"fib": 2 * 832040 - 2}, CLOCK),
    ],
)
def test_often(program, python, tmp_path, what, lines, allowed):
    if not can_count(python):
        pytest.skip("calls are counted from 3.12 on")
    found, text = counts(python, tmp_path, "often.py", what)
    by_line = {it[2]: it for it in found}
    for comment, n in lines.items():
        it = by_line[line_of("often.py", comment)]
        if allowed is CLOCK:
            assert n / 2.5 <= it[3] <= n * 2.5, (it, n, found)
        else:
            assert abs(it[3] - n) <= allowed * n, (it, n, found)
        assert it[4], "some of it must have been too much: %r" % (it,)
    assert "n_calls: ≈" in text, text


LOOPS = {
    "single": 8000000,
    "empty": 12000000,
    "nested": 8000000,
    "threefold": 8000000,
    "growing": 7998000,
    "a_list": 8000000,
    "a_dict": 8000000,
    "comprehension": 8000000,
    "generator": 8000000,
    "numbered": 8000000,
    "mapped": 8000000,
    "one_in_three": 4000000,
    "twice": 8000000,
}
DECEIVING = {"again": 8000000, "threads": 8000000, "ceases": 4000000}


def test_loops(program, python, tmp_path):
    """Loops that begin once, by their turns. On a quiet machine within 5 %; beside other tests a loop of half a second
    has few samples by which it is seen to go on, and its end is known to some of those; where they do not suffice the
    clock decides, as for those that deceive."""
    if not can_count(python):
        pytest.skip("calls are counted from 3.12 on")
    names = list(LOOPS) + list(DECEIVING)
    found, text = counts(python, tmp_path, "loops.py", *names)
    by_line = {it[2]: it for it in found}
    off = {}
    for name, n in list(LOOPS.items()) + list(DECEIVING.items()):
        it = by_line[line_of("loops.py", name)]
        assert it[4], "some of it must have been too much: %r" % (it,)
        off[name] = it[3] / n - 1
    shown = ", ".join("%s %+.1f %%" % (name, 100 * it) for name, it in off.items())
    assert statistics.median(abs(off[name]) for name in LOOPS) < 0.03, shown
    assert sum(abs(off[name]) > 0.05 for name in LOOPS) <= 4, shown
    assert sum(abs(off[name]) > 0.3 for name in LOOPS) <= 2, shown
    assert all(-0.75 < off[name] < 4 for name in list(LOOPS) + list(DECEIVING)), shown


def test_before(program, python, tmp_path):
    """Before 3.12, and without traces, nothing is counted; traces say in how many samples."""
    if can_count(python):
        found, text = counts(python, tmp_path, "often.py", "alone", options=("-q", "--no-trace"))
        assert found == [] and "n_calls" not in text and "Stack Trace" not in text
    else:
        found, text = counts(python, tmp_path, "often.py", "alone")
        assert found == [] and "samples: " in text and "n_calls" not in text


OTHER_TOOL = """
import sys
from collections import Counter

monitoring, seen = sys.monitoring, Counter()
mine = [i for i in range(6) if monitoring.get_tool(i) is None and i != 4][-1]
monitoring.use_tool_id(mine, "mine")

def on_start(code, offset):
    seen[code.co_name] += 1
    return monitoring.DISABLE if code.co_name == "leaf" else None

def on_line(code, line):
    if code.co_name == "straight":
        seen[line] += 1
    return monitoring.DISABLE

monitoring.register_callback(mine, monitoring.events.PY_START, on_start)
monitoring.register_callback(mine, monitoring.events.LINE, on_line)
monitoring.set_events(mine, monitoring.events.PY_START | monitoring.events.LINE)

def leaf(x):
    return x

def straight(n):
    for i in range(n):
        leaf(i)

for _ in range(10):
    straight(100000)
monitoring.set_events(mine, 0)
monitoring.free_tool_id(mine)
print(sorted(seen.items(), key=str))
"""


def test_another_tool(program, python, tmp_path):
    """A tool of the program's own sees what it would see without us: what it has disabled stays so."""
    if not can_count(python):
        pytest.skip("sys.monitoring is there from 3.12 on")
    (tmp_path / "it.py").write_text(OTHER_TOOL)
    expected = plain(python, ["it.py"], tmp_path)
    assert "('leaf', 1)" in expected.out and "('straight', 10)" in expected.out, expected
    result = profile(python, ["it.py"], tmp_path)
    assert (result.out, result.err, result.status) == (expected.out, expected.err, 0), result


FORKS = """
import os

def leaf(x):
    return x

def some(n):
    for i in range(n):
        leaf(i)

for _ in range(20):
    some(60000)
for _ in range(3):
    pid = os.fork()
    if not pid:
        for _ in range(5):
            some(40000)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
"""


def test_forks(program, python, tmp_path):
    """A child counts its own calls, and those alone."""
    if not can_count(python):
        pytest.skip("calls are counted from 3.12 on")
    (tmp_path / "it.py").write_text(FORKS)
    result = profile(python, ["it.py"], tmp_path)
    assert result.status == 0, result
    shown = run([str(BINARY), "summarize", "--json", str(capture_of(result))], tmp_path)
    found = {it["function"]: it for it in json.loads(shown.out)["calls"]}
    some = sum(it["n_calls"] for it in json.loads(shown.out)["calls"] if it["function"] == "some")
    assert some == 20 + 3 * 5 and found["leaf"]["estimated"], found
    true = 20 * 60000 + 3 * 5 * 40000
    assert true / 2.5 <= found["leaf"]["n_calls"] <= true * 2.5, found
