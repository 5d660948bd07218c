"""One wrong number about the interpreter: the agent refuses and says why, or no stack is impossible.

From 3.13 on the interpreter says of itself where its numbers are, which a sitecustomize makes wrong; before,
the table of the agent's library is patched. With --full each number that is used, to either side.
"""

import ast
import re
import shutil
import tempfile
from pathlib import Path

import pytest

from support import capture, layout
from support.run import AGENT, FULL, TARGETS, capture_of, copy_tool, inspect, profile, run

FOLDER = TARGETS / "mismatch"
STACKS = FOLDER / "stacks.py"
OUTPUT = "all is as it was\n"
POSSIBLE = {
    ("<module>",),
    ("main", "<module>"),
    ("rest", "main", "<module>"),
    ("produce", "main", "<module>"),
    ("work", "produce", "main", "<module>"),
}


def spans():
    """By name: the first line and the last."""
    tree = ast.parse(STACKS.read_text())
    found = {d.name: (d.lineno, d.end_lineno) for d in tree.body if isinstance(d, ast.FunctionDef)}
    return dict(found, **{"<module>": (1, tree.body[-1].end_lineno)})


def impossible(path, root, known):
    """What is wrong with a stack, innermost first; None: nothing."""
    own = [(f, line) for f, line in path if f.file.endswith("/stacks.py")]
    if own != path[len(path) - len(own) :]:
        return "others call its functions"
    for f, _ in path:
        if not f.file.startswith("<") and not any(
            (Path(top) / f.file.lstrip("/")).is_file() for top in (root, "/")
        ):
            return "no file %r" % f.file
    if own and tuple(f.name for f, _ in own) not in POSSIBLE:
        return "none of its stacks"
    for f, line in own:
        first, last = known[f.name]
        if f.first_line not in (first, 0 if f.name == "<module>" else first):
            return "%s begins on line %d" % (f.name, f.first_line)
        if not first <= line <= last:
            return "line %d is not in %s" % (line, f.name)
    return None


def judge(it, process, python, what):
    """The reason of a refusal, or "" where no stack of the process is impossible."""
    known, wrong = spans(), []
    nodes = [s[4] for s in it.samples if it.threads[s[0]][0] == process]
    nodes += [w[5] for w in it.waits if it.threads[w[0]][0] == process]
    nodes = sorted(set(nodes) - {0})
    for node in nodes:
        path = [(f, line) for f, line in it.path(node) if f.kind == 0]
        why = impossible(path, python.root, known)
        if why:
            wrong.append("%s: %s" % (why, [(f.file, f.name, line) for f, line in path]))
    assert not wrong, "%s\n%s" % (what, "\n".join(wrong))
    reason = it.reason_of.get(process, "")
    assert not (reason and nodes), "%s: refused for %r, and %d stacks" % (what, reason, len(nodes))
    return reason


def some(names, minor, one_in):
    """All of them and to both sides with --full, else a few, others for each version."""
    if FULL:
        return [(name, more) for name in names for more in (8, -8)]
    return [(name, (8, -8)[i // one_in % 2]) for i, name in enumerate(names) if i % one_in == minor % one_in]


def test_wrong_words_of_the_runtime(program, python, tmp_path):
    if python.version < (3, 13):
        pytest.skip("the interpreter says nothing of itself before 3.13")
    index = layout.words(python.version[1])
    tried = some(list(index), python.version[1], 3)
    if ("executable", 8) not in tried:
        tried.append(("executable", 8))  # whose refusal is the self-check's own
    words = ["%d %d" % (index[name], more) for name, more in tried]
    result = profile(python, [str(FOLDER / "each.py")] + words, tmp_path, hz=1000)
    assert (result.status, result.err) == (0, ""), result
    assert result.out.splitlines() == ["%s: 3 %r" % (word, OUTPUT) for word in words], result
    it = capture.read(capture_of(result)).of_python()
    by_word = {p.command[2]: i for i, p in enumerate(it.processes) if i and "stacks.py" in p.command[1]}
    assert sorted(by_word) == sorted(words), by_word
    refused = {}
    for (name, more), word in zip(tried, words):
        refused[name, more] = judge(it, by_word[word], python, "%s %+d" % (name, more))
    assert refused["executable", 8].startswith("the interpreter's "), refused
    said = inspect(capture_of(result))
    for reason in set(filter(None, refused.values())):
        assert reason in said.out, "%r is not in\n%s" % (reason, said)


@pytest.fixture
def apart():
    """A folder that other roots see as well."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


def test_wrong_numbers_of_the_table(program, python, apart, tmp_path):
    if python.version >= (3, 13):
        pytest.skip("from 3.13 on the interpreter says of itself what the table says")
    tool = copy_tool(apart)
    agents = {path: path.read_bytes() for path in tool.parents[2].rglob(AGENT)}
    data, places = layout.table(python.version[1])
    assert agents and all(content.count(data) == 1 for content in agents.values()), "no such table"
    tried = some(list(places), python.version[1], 8)
    if ("f_code", 8) not in tried:
        tried.append(("f_code", 8))
    for name, more in tried:
        wrong = bytearray(data)
        value = int.from_bytes(wrong[places[name] : places[name] + 4], "little") + more
        wrong[places[name] : places[name] + 4] = (value % 2**32).to_bytes(4, "little")
        for path, content in agents.items():
            path.write_bytes(content.replace(data, bytes(wrong)))
        what = "%s %+d" % (name, more)
        command = [str(tool), "profile", "--python", python.path, str(STACKS)]
        result = run(command, tmp_path, python, env={"FIXINGAHOLE_TEST_HZ": "1000"})
        assert result.status == 3 and result.out.startswith(OUTPUT) and result.err == "", (what, result)
        made = next((tmp_path / "performance").glob("*/*/profile.fah"))
        it = capture.read(made).of_python()
        reason = judge(it, 1, python, what)
        told = re.sub(r"\s+", " ", result.out)
        assert ("Not profiled: " in told and reason in told) if reason else "Not profiled" not in told, result
        if (name, more) == ("f_code", 8):
            assert reason.startswith("the interpreter's "), reason
        shutil.rmtree(tmp_path / "performance")
