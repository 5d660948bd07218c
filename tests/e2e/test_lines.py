"""`lines`: hits of each line against programs that know them, and the files that come out of it."""

import json
import re
import sys

import pytest
from support import lprof
from support.pythons import REPO
from support.run import BINARY, plain, run

TARGETS = REPO / "tests" / "targets" / "lines"
KNOWN = TARGETS / "known.py"
KILLED = REPO / "tests" / "targets" / "exact" / "killed.py"


def lines(python, folder, *args, **options):
    return run([BINARY, "lines", "--python", python.path] + list(args), folder, python, **options)


def expected(path):
    """{line: hits that are right}; None: any."""
    found = {}
    for number, text in enumerate(path.read_text().splitlines(), 1):
        mark = re.search(r"# ([\d|]+|\?)$", text)
        if mark:
            found[number] = None if mark.group(1) == "?" else set(map(int, mark.group(1).split("|")))
    return found


def compare(stats, path, more=()):
    got, want = lprof.hits(stats), expected(path)
    for line, n in dict(more).items():
        want[line] = {one + n for one in want[line]}
    wrong = {
        line: (want.get(line), got.get(line, 0))
        for line in set(want) | set(got)
        if want.get(line, {0}) is not None and got.get(line, 0) not in want.get(line, {0})
    }
    assert wrong == {}, "{line: (hits, hits told)}"


def line_of(path, text):
    (found,) = [i for i, line in enumerate(path.read_text().splitlines(), 1) if text in line]
    return found


def test_marked(program, python, tmp_path):
    """Loops, recursion, exceptions, generators, coroutines, threads, wrappers, and a fork."""
    result = lines(python, tmp_path, "-l", KNOWN, "fork", "-v")
    assert result.status == 0 and result.out == "known: ['fork', '-v']\n", result
    stats = lprof.read(tmp_path / "known.py.lprof")
    assert stats.unit == 1e-9
    first = line_of(KNOWN, "while n:")
    compare(stats, KNOWN, {first: 11, first + 1: 10, first + 2: 1})  # by the fork's child
    assert (str(KNOWN), line_of(KNOWN, "def never") - 1, "never") in stats.timings
    assert "annotate known.py.lprof" in result.err


def test_turns(program, python, tmp_path):
    """Of a loop that stands on one line each turn is a hit, as a trace function hears it."""
    heard = plain(python, [str(TARGETS / "turns.py"), "trace"], tmp_path)
    result = lines(python, tmp_path, "-f", "turns", TARGETS / "turns.py")
    assert heard.status == result.status == 0, (heard, result)
    stats = lprof.read(tmp_path / "turns.py.lprof")
    assert {str(line): hits for line, hits in lprof.hits(stats).items()} == json.loads(heard.out)
    assert max(lprof.hits(stats).values()) == 101


@pytest.mark.parametrize("how, status", [("TERM", 143), ("KILL", 137), ("exec", 0), ("fork", 0), ("spawn", 0)])
def test_nothing_lost(program, python, how, status, tmp_path):
    """Nothing is lost of what was counted, whatever ends the process."""
    result = lines(python, tmp_path, "-f", "leaf", "-f", "work", KILLED, how)
    assert result.status == status, result
    hits = lprof.hits(lprof.read(tmp_path / "killed.py.lprof"))
    assert hits[line_of(KILLED, "return x + 1")] == hits[line_of(KILLED, "+= leaf(i)")] == 2800, hits
    assert hits[line_of(KILLED, "return total")] == 4, hits


CHOICE = """
import sys
class A:
    def method(self):
        return 1
    def other(self):
        return 2
def method():
    return [x for x in (1, 2)]
def outer():
    def inner():
        return 3
    return inner()
later = lambda: 4
for i in range(3):
    A().method(), A().other(), method(), outer(), later()
sys.exit(5)
"""


@pytest.mark.parametrize(
    "options, chosen",
    (
        (["-f", "A.method"], {5}),
        (["-f", "method"], {5, 9}),
        (["-f", "*e*", "--in", "choice.py"], {5, 7, 9, 11, 12, 13}),
        (["-f", "outer.*"], {12}),
        (["--in", "choice.py"], {5, 7, 9, 11, 12, 13, 14}),
        (["--in", "choice"], {5, 7, 9, 11, 12, 13, 14}),
        (["--in", ".", "-f", "later", "-f", "<lambda>"], {14}),
    ),
)
def test_chosen(program, local_python, tmp_path, options, chosen):
    (tmp_path / "choice.py").write_text(CHOICE)
    result = lines(local_python, tmp_path, *options, "-o", "x.lprof", "choice.py")
    assert result.status == 5, result
    found = lprof.hits(lprof.read(tmp_path / "x.lprof"))
    comprehension = 9  # from 3.12 on its turns are the line's: two more for each of three calls
    turns = {comprehension: 9} if comprehension in chosen and local_python.version >= (3, 12) else {}
    assert found == {**dict.fromkeys(chosen, 3), **turns}


def test_view(program, local_python, tmp_path):
    """The layout that users know, with one column more; a module, a piece of code, the unit."""
    (tmp_path / "mod.py").write_text(
        "import sys, time\nassert sys.argv[1:] == ['-lv']\ndef f():\n\tg(0.02)\n\n\ndef g(s):\n\ttime.sleep(s)\nf()\n"
    )
    result = lines(local_python, tmp_path, "-u", "1e-3", "-lvz", "-f", "f", "-m", "mod", "-lv")
    text = result.out.splitlines()
    assert text[0] == "Timer unit: 0.001 s" and text[4] == "Function: f at line 3", result
    assert re.match(r"Total time: 0\.\d+ s$", text[2]) and text[3] == "File: %s/mod.py" % tmp_path
    assert text[6].split() == "Line # Hits Time Per Hit % Time Called Line Contents".split()
    assert text[7] == "=" * len(text[6]) and text[8].split() == ["3", "def", "f():"]
    number, hits, time, per_hit, percent, called, source = text[9].split()
    assert (number, hits, percent, source) == ("4", "1", "100.0", "g(0.02)")
    assert 20 <= float(called) <= float(time) and time == per_hit
    assert len(text) == 11 and not text[10]
    assert (tmp_path / "mod.lprof").exists()
    code = "def g():\n  return 1\ng()"
    result = lines(local_python, tmp_path, "-v", "--no-called", "-f", "g", "-c", code)
    assert result.out.splitlines()[-2].endswith("100.0    return 1"), result
    assert "Called" not in result.out


def test_what_to_type_next_can_be_typed(program, local_python, tmp_path):
    code = "def g():\n  return 1\ng()"
    result = lines(local_python, tmp_path, "-f", "g", "-o", "my lines.lprof", "-c", code)
    assert result.err.splitlines()[-1] == "fixingahole annotate 'my lines.lprof'", result


def test_nothing(program, local_python, tmp_path):
    (tmp_path / "plain.py").write_text("print(1)\n")
    result = lines(local_python, tmp_path, "-l", "plain.py")
    assert (result.status, result.out) == (0, "1\n") and "@profile" in result.err, result
    assert not (tmp_path / "plain.py.lprof").exists()
    result = lines(local_python, tmp_path, "-f", "nobody", "plain.py")
    assert "of that name" in result.err and result.status == 0
    (tmp_path / "plain.py").write_text("raise SystemExit(5)\n")
    assert lines(local_python, tmp_path, "-l", "plain.py").status == 5
    for args in ([], ["-u", "x", "plain.py"], ["--in", "none.py", "plain.py"], ["none.py"]):
        assert lines(local_python, tmp_path, *args).status == 2


COUNTED = """def work(n):
    total = 0
    for i in range(n):
        total += i
    return total


def idle():
    return 1


work(300)
"""


def test_annotate(program, some_python, tmp_path):
    """Captures and files of ours, of line_profiler's, added up; and what is none."""
    (tmp_path / "x.py").write_text("@profile\ndef f(n):\n    return g(range(n))\ndef g(x):\n    return sorted(x)\nf(9)\nf(9)\n")
    for name in ("x.fah", "x.lprof"):
        result = lines(some_python, tmp_path, "-l", "-q", "-o", name, "x.py")
        assert (result.status, result.err) == (0, ""), result
    shown = [run([BINARY, "annotate", tmp_path / name], tmp_path).out for name in ("x.fah", "x.lprof")]
    assert [re.findall(r"^ *(\d+ +\d+)", text, re.M) for text in shown] == [["3         2"]] * 2
    result = run([BINARY, "annotate", "-m", "x.fah", "x.lprof", "--json"], tmp_path)
    (found,) = json.loads(result.out)["functions"]
    assert (found["function"], found["first_line"], found["lines"][0]["hits"]) == ("f", 1, 4)
    assert 0 < found["lines"][0]["called_s"] <= found["lines"][0]["time_s"] == found["time_s"]
    theirs = REPO / "tests" / "unit" / "import" / "lprof-5.1.0.lprof"
    result = run([BINARY, "annotate", theirs, "-z", "-u", "1"], tmp_path)
    assert result.status == 0 and "Could not find file counted.py" in result.out
    assert "Called" not in result.out and "idle" not in result.out
    for bad in ("x.py", "none.lprof"):
        result = run([BINARY, "annotate", bad], tmp_path)
        assert result.status == 2 and result.err.count("\n") == 1, result


def test_line_profiler_itself(program, local_python, tmp_path):
    """It reads our files, and prints its own as we do."""
    pytest.importorskip("line_profiler")
    data = (REPO / "tests" / "unit" / "import" / "lprof-4.2.0.lprof").read_bytes()
    (tmp_path / "theirs.lprof").write_bytes(data)
    (tmp_path / "counted.py").write_text(COUNTED)
    result = lines(local_python, tmp_path, "-q", "--no-called", "-f", "*", "--in", ".", "counted.py")
    assert result.status == 0, result
    for name in ("theirs.lprof", "counted.py.lprof"):
        theirs = run([sys.executable, "-m", "line_profiler", name], tmp_path)
        ours = run([BINARY, "annotate", name], tmp_path)
        assert theirs.status == 0 and ours.out == theirs.out, theirs
        assert " 301 " in ours.out


def test_beside_others(program, some_python, tmp_path):
    """A program's own tracer, profiler and monitoring see what they see without us."""
    other = TARGETS / "others.py"
    plain = run([some_python.path, other], tmp_path, some_python)
    result = lines(some_python, tmp_path, "-f", "work", "-o", "x.lprof", other)
    assert (result.status, result.out) == (0, plain.out), result
    n = 3 + 3 + 5 + 7 + (2 if some_python.version >= (3, 12) else 0)
    assert lprof.hits(lprof.read(tmp_path / "x.lprof"))[line_of(other, "n += i")] == n
    plain = run([some_python.path, other, "trace"], tmp_path, some_python)
    result = lines(some_python, tmp_path, "-f", "work", "-o", "x.lprof", other, "trace")
    assert (result.status, result.out) == (0, plain.out), result
    hits = lprof.hits(lprof.read(tmp_path / "x.lprof"))[line_of(other, "n += i")]
    if some_python.version >= (3, 12):
        assert hits == n + 2
    else:  # a thread has one trace function, and the program's own one comes first; then ours again
        assert hits == 3 + 3 + 7 and "trace function of its own" in result.err


def test_times(program, some_python, tmp_path):
    """Sleeps and loops of known length: a line has its own, and never more than the clock says."""
    target = TARGETS / "times.py"
    result = lines(some_python, tmp_path, "-l", "-q", "-o", "x.fah", target)
    assert result.status == 0, result
    all_waits, all_again, all_generates = map(float, result.out.split())
    shown = json.loads(run([BINARY, "annotate", "--json", "x.fah"], tmp_path).out)["functions"]
    functions = {one["function"]: one for one in shown}
    line = {it["line"]: it for one in shown for it in one["lines"]}
    sleeps, spins, calls = (line[line_of(target, text)] for text in ("(0.15)", "spin(0.1)", "    helper()"))
    # before 3.12 lines of spin() are told too: that is none of the program's time, but of its clock's
    spun = 0.1 if some_python.version >= (3, 12) else 0.05
    assert 0.15 <= sleeps["time_s"] and spun <= spins["time_s"] and 0.05 <= calls["time_s"]
    assert (all_waits - 0.1 + spun) * 0.97 - 0.002 < functions["waits"]["time_s"] < all_waits
    assert spun <= spins["called_s"] + 0.001 and 0.05 <= calls["called_s"] + 0.001
    # a recursion counts once: each sleep in its own line, the sum is the whole
    assert all_again * 0.97 - 0.002 < functions["again"]["time_s"] < all_again
    assert 0.1 <= line[line_of(target, "sleep(0.01)")]["time_s"]
    assert line[line_of(target, "again(n - 1)")]["time_s"] < 0.1
    # a generator that is suspended, while three times a tenth of a second is spun, has none of it
    assert 0.06 <= functions["generates"]["time_s"] < all_generates - 0.299


def test_line_profiler_imported(program, some_python, tmp_path):
    """from line_profiler import profile: its object is asked, and does nothing by itself."""
    if some_python.version < (3, 12):
        pytest.skip("not told there")
    (tmp_path / "line_profiler").mkdir()
    (tmp_path / "line_profiler" / "__init__.py").write_text("from .explicit_profiler import profile\n")
    (tmp_path / "line_profiler" / "explicit_profiler.py").write_text(
        "class GlobalProfiler:\n    def __call__(self, func):\n        return func\n"
        "profile = GlobalProfiler()\n"
    )
    (tmp_path / "x.py").write_text(
        "from line_profiler import profile\n@profile\ndef f():\n    return 1\n"
        "class C:\n    @profile\n    def m(self):\n        return 2\nf(), f(), C().m()\n"
    )
    result = lines(some_python, tmp_path, "-l", "x.py")
    assert result.status == 0, result
    assert lprof.hits(lprof.read(tmp_path / "x.py.lprof")) == {4: 2, 8: 1}
