"""`calls`: every call, against cProfile on the same program and against programs that know."""

import re
import statistics

import pytest
from support.exact import TARGETS, by_name, calls, stats_of, told
from support.run import BINARY, FULL, plain, run


def counts_of(found, file):
    """What the program's own functions had, and what they called: not what imports do."""
    functions = {key: value[:2] for key, value in found.items() if key[0] == file}
    edges = {
        (caller, key): n
        for key, value in found.items()
        for caller, n in value[4].items()
        # what is imported in cProfile's process already is imported in ours
        if caller[0] == file and not (caller[2] == "<module>" and "importlib" in key[0])
    }
    return functions, edges


def test_counts_as_cprofile(program, python, tmp_path):
    theirs = tmp_path / "their.prof"
    result = plain(python, ["-m", "cProfile", "-o", str(theirs), str(TARGETS / "many.py")], tmp_path)
    assert result.status == 0, result
    ours, _ = told(python, tmp_path, "many.py")
    expected, found = counts_of(stats_of(theirs), "many.py"), counts_of(ours, "many.py")
    assert len(expected[0]) > 35 and len(expected[1]) > 55, expected
    for ours_part, theirs_part in zip(found, expected):
        assert {k: v for k, v in ours_part.items() if theirs_part.get(k) != v} == {}
        assert set(ours_part) == set(theirs_part)


def test_where_cprofile_shows_something_else(program, python, tmp_path):
    """As doc/calls.md lists it: atexit and the interpreter's end, and functions of one place and name. sys.exit is none."""
    theirs = tmp_path / "their.prof"
    result = plain(python, ["-m", "cProfile", "-o", str(theirs), str(TARGETS / "ends.py")], tmp_path)
    assert theirs.exists(), result
    expected, found = stats_of(theirs), told(python, tmp_path, "ends.py", status=3)[0]
    for name in ("<built-in method builtins.exec>", "<method 'disable' of '_lsprof.Profiler' objects>"):
        assert ("~", 0, name) in expected and ("~", 0, name) not in found, (expected, found)
    expected, found = by_name(expected, "ends.py"), by_name(found, "ends.py")
    assert found["deep"][:2] == expected["deep"][:2] == (7, 1)
    assert found["at_end"][0] == found["__del__"][0] == 1 and not {"at_end", "__del__"} & set(expected), expected
    assert (found["leaf"][0], expected["leaf"][0]) == (7 + 5 + 1, 7)
    assert found["<lambda>"][0] == 7 and expected["<lambda>"][0] in (3, 4), expected
    assert found["<module>"][:2] == expected["<module>"][:2] == (1, 1)


def test_threads_and_children(program, python, tmp_path):
    alone = by_name(told(python, tmp_path, "family.py")[0], "family.py")
    leaves = 100 * sum(range(1, 9)) + 50
    assert alone["leaf"][:2] == (leaves, leaves), alone
    assert alone["work"][0] == 9 and alone["raw"][0] == 1
    assert alone["deep"][:2] == (50001, 1), alone["deep"]
    whole = by_name(told(python, tmp_path, "family.py", options=["--subprocesses"])[0], "family.py")
    assert whole["leaf"][0] == leaves + 7 + 11 and whole["work"][0] == 11, whole
    assert whole["deep"][:2] == (50001, 1), whole["deep"]


@pytest.mark.parametrize("how, status", [("TERM", 143), ("KILL", 137), ("exec", 0), ("fork", 0), ("spawn", 0)])
def test_nothing_lost(program, python, how, status, tmp_path):
    """Nothing is lost of what was counted, whatever ends the process, and workers of pools always end so."""
    found = by_name(told(python, tmp_path, "killed.py", how, options=["--subprocesses"], status=status)[0], "killed.py")
    assert (found["leaf"][0], found["work"][0]) == (2800, 4), found
    assert [(key[2], n) for key, n in found["leaf"][4].items()] == [("work", (2800, 2800))], found
    assert 0.15 <= found["work"][3] < 20 and 0 <= found["leaf"][2] < found["work"][3], found


def test_a_name_with_other_meanings(program, python, tmp_path):
    found = told(python, tmp_path, "renamed.py")[0]
    assert [value[0] for key, value in sorted(found.items()) if key[2] == "f"] == [20, 10], found
    of_c = found[("~", 0, "<built-in method builtins.len>")]
    assert of_c[4][("renamed.py", 10, "call")][0] == 20, of_c
    assert of_c[4][("<string>", 3, "through")][0] == 3, of_c
    assert found[("<string>", 1, "g")][0] == 3, found


def test_beside_other_tools(program, python, tmp_path):
    """They see what they see without us; where there is no room for both, that is said."""
    expected = plain(python, [str(TARGETS / "beside.py")], tmp_path)
    found, result = told(python, tmp_path, "beside.py")
    assert expected.status == 0 and result.out == expected.out, (expected, result)
    n = by_name(found, "beside.py")["leaf"][0]
    if python.version >= (3, 12):
        assert n == 4000, found
        assert "took all numbers of sys.monitoring" in result.err, result
    else:
        assert n == 1000, found
        assert "set a profile function of its own" in result.err, result


def test_times(program, python, tmp_path):
    """A generator's rest is not its own; recursion counts once."""
    found = by_name(told(python, tmp_path, "times.py")[0], "times.py")
    assert found["nap"][0] == 2 and found["numbers"][0] == 3
    assert 0.2 <= found["twice"][3] < 2 and found["twice"][2] < found["nap"][3], found
    assert found["numbers"][3] < 0.1 <= found["rests"][3] / 2, found
    assert found["recursive"][:2] == (3, 1) and 0.15 <= found["recursive"][3] < 2, found
    whole = found["<module>"][3]
    assert found["twice"][3] + found["rests"][3] + found["recursive"][3] <= whole * 1.01, found


def test_report_and_tree(program, system_python, tmp_path):
    script = tmp_path / "a script.py"
    script.write_text("import time\ndef f():\n    time.sleep(0.05)\n    return len('abc')\nprint(f())\nraise SystemExit(5)\n")
    result = calls(system_python, tmp_path, [script], ["-s", "ncalls"])
    assert result.status == 5, result
    text = result.out
    assert text.startswith("3\n"), "the program's own output stands first: %s" % text
    assert "Ordered by: call count" in text and re.search(r"1 +\S+ +\S+ +\S+ +\S+ a script.py:2\(f\)", text)
    assert "{built-in method builtins.len}" in text
    result = calls(system_python, tmp_path, [script], ["--pretty", "--save"], env={"LC_ALL": "C.UTF-8"})
    kept = sorted(path.suffix for path in (tmp_path / ".profile_data").iterdir())
    assert kept == [".fah", ".prof"], kept
    rows = re.findall(r"^(\W*)[\d.]+ (.+?)  .*\(1 call, itself", result.out, re.M)
    expected = ["<module>", "f", "<built-in method time.sleep>"]
    assert [(len(indent), name) for indent, name in rows[:3]] == list(zip((0, 3, 6), expected)), result.out


SHARED = """
import time

def slow():
    time.sleep(0.2)

def mid(n):
    if n:
        slow()
    else:
        time.sleep(0.1)

def a():
    mid(0)

def b():
    mid(1)

a()
b()
"""


def test_tree_of_shared_functions(program, python, tmp_path):
    """Who led to what a function with several callers called is not known: marked, and never a number of calls."""
    script = tmp_path / "shared.py"
    script.write_text(SHARED)
    result = calls(python, tmp_path, [script], ["--pretty"], env={"LC_ALL": "C.UTF-8"})
    assert result.status == 0, result
    lines = result.out.splitlines()
    for name, n in (("a", 1), ("b", 1), ("mid", 2)):
        rows = [line for line in lines if " %s  shared.py:" % name in line]
        assert len(rows) == n and all("(1 call, " in row and "≈" not in row for row in rows), result.out
    rows = [line for line in lines if " slow  shared.py:" in line]
    assert len(rows) == 2 and all("≈" in row and "call" not in row for row in rows), result.out
    assert sum(line.startswith("≈: ") for line in lines) == 1, result.out


SLOWED = """
import hashlib, time

def loop(n):
    x = 0
    for i in range(n):
        x += i * 2

def hashed():
    hashlib.sha256(b"x" * 4000000).digest()

begun = time.perf_counter()
loop(200000)
turn = (time.perf_counter() - begun) / 200000
begun = time.perf_counter()
hashed()
n = int((time.perf_counter() - begun) / turn)
own = {"loop": 0, "hashed": 0}
for _ in range(25):
    for f, args in ((loop, (n,)), (hashed, ())):
        begun = time.perf_counter()
        f(*args)
        own[f.__name__] += time.perf_counter() - begun
print(own["loop"] / (own["loop"] + own["hashed"]), n)
"""


def test_time_of_instructions(program, python, tmp_path):
    """Before 3.12 each takes longer while calls are told (3.11: nearly twice as long): that is taken off. As much of the
    loop as of one call of C's, by a run that nobody watches."""
    script = tmp_path / "slowed.py"
    script.write_text(SLOWED)
    seen, true = [], []
    while True:  # the loop is in some hundred samples, and machines change their speed: the more, the surer
        share, n = plain(python, [str(script)], tmp_path).out.split()
        script.write_text(re.sub(r"(?m)^n = .*", "n = " + n, SLOWED))
        result = calls(python, tmp_path, [script], ["-o", str(tmp_path / "slowed.prof")])
        assert result.status == 0, result
        found = by_name(stats_of(tmp_path / "slowed.prof"), "slowed.py")
        seen.append(found["loop"][3] / (found["loop"][3] + found["hashed"][3]))
        true.append(float(share))
        if abs(statistics.median(seen) - statistics.median(true)) < 0.06:
            return
        assert len(seen) < 7, (seen, true)


def test_what_goes_wrong(program, system_python, tmp_path):
    for args, words in [
        ([], "which script?"),
        (["-s", "nonsense", "x.py"], "--sort nonsense"),
        (["nowhere.py"], "No such file"),
        (["-o", str(tmp_path / "no" / "x.prof"), "-c", "pass"], "no/x.prof"),
        (["--python", "/nowhere/python", "-c", "pass"], "/nowhere/python"),
    ]:
        result = run([str(BINARY), "calls"] + args, tmp_path)
        assert result.status == (1 if "--python" in args else 2) and words in result.err, (args, result)
        assert len(result.err.splitlines()) == 1, result
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not FULL, reason="takes long: only with --full")
def test_no_end_of_functions(program, python, tmp_path):
    """Code that is made without end takes no memory without end; what is left over has a line."""
    if python.version[:2] not in ((3, 8), (3, 11), (3, 12), (3, 15)):
        pytest.skip("others are alike")
    code = (
        "import resource\n"
        "def made(i):\n    exec('def f():\\n    pass\\nf()', {})\n"
        "for i in range(400000): made(i)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    path = tmp_path / "made.prof"
    result = calls(python, tmp_path, ["-c", code], ["-o", str(path)])
    assert result.status == 0, result
    expected = plain(python, ["-c", code], tmp_path)
    if python.version >= (3, 12):
        assert int(result.out) - int(expected.out) < 66 << 10, (result.out, expected.out)
    found = stats_of(path)
    whole = sum(value[0] for key, value in found.items() if key[2] in ("f", "<module>") or "others" in key[2])
    assert whole >= 800000, found
