"""`calls` and `lines` beside coverage and debuggers: the program's output and the other tool's result are as without us.

Ours is there before any Python code, so the other one comes later: before the program, which it runs, or in its middle."""

import importlib.util
import shutil
import sqlite3
from pathlib import Path

import pytest
from support import lprof
from support.exact import TARGETS, by_name, stats_of
from support.run import BINARY, plain, run

COVERED, DEBUGGED = TARGETS / "covered.py", TARGETS / "debugged.py"


@pytest.fixture(scope="module")
def coverage(tmp_path_factory):
    """A folder that has nothing but coverage, for any Python from 3.9 on; its tracer in C serves one of them."""
    spec = importlib.util.find_spec("coverage")
    if spec is None:
        pytest.skip("SKIP: no coverage here; ./check --only setup installs it")
    folder = tmp_path_factory.mktemp("coverage")
    shutil.copytree(str(Path(spec.origin).parent), str(folder / "coverage"))
    return folder


def beside(python, folder, args, env=None, stdin=None):
    """The program plain, with calls and with lines: {name: (result, coverage's own data)}."""
    found = {}
    for name, options in (("plain", None), ("calls", ["-o", "x.prof"]), ("lines", ["-f", "leaf", "-o", "x.lprof"])):
        data = folder / ".coverage"
        if data.exists():
            data.unlink()
        if options is None:
            result = plain(python, list(map(str, args)), folder, env=env, stdin=stdin)
        else:
            command = [BINARY, name, *options, "--python", python.path, *args]
            result = run(command, folder, python, env=env, stdin=stdin)
        lines = None
        if data.exists():
            with sqlite3.connect(str(data)) as db:
                lines = db.execute("SELECT path, numbits FROM line_bits JOIN file ON file.id = file_id").fetchall()
        found[name] = (result, lines)
    expected, measured = found["plain"]
    for name in ("calls", "lines"):
        result, lines = found[name]
        assert (result.status, result.out, lines) == (expected.status, expected.out, measured), (name, expected, result)
        assert result.err.startswith(expected.err), (expected, result)
        ours = result.err[len(expected.err) :]
        assert len(ours.splitlines()) <= 4 * (name == "lines") and "Traceback" not in ours, (expected, result)
    return found


def calls_of(folder, file):
    return by_name(stats_of(folder / "x.prof"), file)["leaf"][0]


def line_of(text, path=COVERED):
    return 1 + [text in line for line in path.read_text().splitlines()].index(True)


def hits_of(folder, text, path):
    return lprof.hits(lprof.read(folder / "x.lprof")).get(line_of(text, path), 0)


@pytest.mark.parametrize("core", ["trace", "sysmon"])
def test_coverage(program, python, coverage, core, tmp_path):
    if python.version < (3, 9) or (core == "sysmon" and python.version < (3, 12)):
        pytest.skip("coverage has none")
    compiled = any((coverage / "coverage").glob("tracer.cpython-%d%d-*" % python.version[:2]))
    core = core if core == "sysmon" else "ctrace" if compiled else "pytrace"
    env = {"PYTHONPATH": str(coverage), "COVERAGE_CORE": core, "PYTHONDONTWRITEBYTECODE": "1"}
    newer = python.version >= (3, 12)  # before, a thread has one trace function, and the program's own comes first

    found = beside(python, tmp_path, ["-m", "coverage", "run", COVERED, "a"], env)
    result, lines = found["plain"]
    assert result.status == 3 and result.out == "501 ['a']\n", result
    assert [path for path, _ in lines] == [str(COVERED)] and any(lines[0][1])
    assert calls_of(tmp_path, "covered.py") == 500
    if newer:
        assert hits_of(tmp_path, "x + 1", COVERED) == 500
    else:
        assert "a trace function of its own" in found["lines"][0].err and not (tmp_path / "x.lprof").exists(), found

    found = beside(python, tmp_path, [COVERED, "api"], env)
    result = found["plain"][0]
    executed = [line_of(text) for text in ("x + 1", "in range(500)", "n = leaf(n)", "if n < 0", "return n")]
    assert result.status == 3 and result.out.splitlines()[1] == str(executed), result
    assert calls_of(tmp_path, "covered.py") == 1500
    told = hits_of(tmp_path, "x + 1", COVERED)
    assert told == 1500 if newer else told in (500, 1000), told
    assert newer or "a trace function of its own" in found["lines"][0].err, found


def test_debuggers(program, python, tmp_path):
    """bdb by steps, with all its backends, and pdb by commands; and pdb as the program."""
    found = beside(python, tmp_path, [DEBUGGED])
    result = found["plain"][0]
    assert result.status == 0 and "Breakpoint 1" in result.out and "('leaf', 10)" in result.out, result
    n = 10 + 13 * (2 if python.version >= (3, 14) else 1) + 5 + 20
    assert calls_of(tmp_path, "debugged.py") == n
    if python.version >= (3, 12):
        assert hits_of(tmp_path, "x + 1", DEBUGGED) == n
    else:
        assert 10 <= hits_of(tmp_path, "x + 1", DEBUGGED) < n and "a trace function of its own" in found["lines"][0].err
    found = beside(python, tmp_path, ["-m", "pdb", DEBUGGED], stdin=b"b leaf\nc\np x\nc\np x\nw\nq\n")
    result = found["plain"][0]
    assert result.status == 0 and "Breakpoint 1" in result.out and "(Pdb) 1\n" in result.out, result
    assert calls_of(tmp_path, "debugged.py") == 2
