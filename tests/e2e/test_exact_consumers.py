"""The files that `calls` and `lines` write themselves, read by those who read cProfile's and kernprof's."""

import importlib.util
import json
import re
import sys
from pathlib import Path

import pytest
from support import lprof
from support.exact import TARGETS, calls
from support.run import BINARY, plain, run

TARGET = TARGETS / "many.py"
CONSUMERS = Path(__file__).with_name("support") / "consumers.py"


@pytest.fixture(scope="module")
def files(program, local_python, tmp_path_factory):
    """The same program by `calls -o` and by cProfile."""
    folder = tmp_path_factory.mktemp("files")
    for result in (
        calls(local_python, folder, [TARGET], ["-o", "ours"]),
        plain(local_python, ["-m", "cProfile", "-o", "theirs", str(TARGET)], folder),
    ):
        assert result.status == 0, result
    return folder


def read(command, folder, **options):
    result = run([sys.executable, *command], folder, **options)
    assert result.status == 0 and not result.err, result
    return result.out


def need(module):
    if importlib.util.find_spec(module) is None:
        pytest.skip("SKIP: no %s here; ./check --only setup installs it" % module)


def pstats(folder, name):
    text = read(["-m", "pstats", name], folder, stdin=b"sort ncalls\nstats many.py\ncallers many.py\n")
    assert "Ordered by: call count" in text
    return set(re.findall(r"^ *([\d/]+) .*?(many\.py:\d+\(.*\))$", text, re.M))


def gprof2dot(folder, name):
    need("gprof2dot")
    text = read(["-m", "gprof2dot", "-f", "pstats", "-n", "0", "-e", "0", name], folder)
    found = dict(re.findall(r'^\t(\d+) \[.*label="(many:\d+:[^"]*?)\\n', text, re.M))
    n = dict(re.findall(r'^\t(\d+) \[.*label="many:[^"]*?(\d+)×"', text, re.M))
    assert set(n) == set(found)
    edges = re.findall(r'^\t(\d+) -> (\d+) \[.*?(\d+)×"', text, re.M)
    return {(name, n[node]) for node, name in found.items()} | {
        (found[a], found[b], n) for a, b, n in edges if a in found and b in found
    }


def snakeviz(folder, name):
    need("snakeviz")
    rows, tree = json.loads(read([str(CONSUMERS), "snakeviz", name], folder))
    found = {(row[5], *row[0]) for row in rows if row[5].startswith("many.py")}
    assert len(found) == sum("many.py" in function for function in tree)
    return found | {(function, child) for function, node in tree.items() for child in node["children"] if "many.py" in function}


def tuna(folder, name):
    need("tuna")
    found, left = set(), [json.loads(read([str(CONSUMERS), "tuna", name], folder))]
    while left:
        node = left.pop()
        below = node.get("children", [])
        left += below
        if "many.py" in node["text"][0]:
            found |= {(node["text"][0], child["text"][0]) for child in below if "many.py" in child["text"][0]}
    return found


@pytest.mark.parametrize("reader, least", [(pstats, 35), (gprof2dot, 60), (snakeviz, 90), (tuna, 10)])
def test_as_cprofiles_file(files, reader, least):
    """The functions, their calls and who called them, in each reader's own words."""
    ours, theirs = reader(files, "ours"), reader(files, "theirs")
    assert ours == theirs and len(ours) >= least, (sorted(ours - theirs), sorted(theirs - ours))


LINES = """@profile
def outer(n):
    total = 0
    for i in range(n):
        total += inner(i)
    return total


def inner(i):
    return sorted(range(i))[-1] if i else 0


outer(40)
"""


def test_line_profiler_reads_what_lines_wrote(program, local_python, tmp_path):
    """The default file, with its attribute more; also two of them added up."""
    need("line_profiler")
    (tmp_path / "x.py").write_text(LINES)
    result = run([BINARY, "lines", "-l", "--python", local_python.path, "x.py"], tmp_path)
    assert result.status == 0, result
    stats = lprof.read(tmp_path / "x.py.lprof")
    (timings,) = stats.timings.values()
    assert any(stats.called.values()), "the attribute that line_profiler's own files do not have"
    for n in (1, 2):
        said = read(["-m", "line_profiler", "-u", "1e-9"] + ["x.py.lprof"] * n, tmp_path)
        rows = re.findall(r"^ +(\d+) +(\d+) +([\d.e+]+) ", said, re.M)
        assert [tuple(map(float, row)) for row in rows] == [(line, n * hits, n * time) for line, hits, time in timings], said
        assert rows[2][1] == str(40 * n) and "Function: outer at line 1" in said
