"""`graph`: who called whom, as Graphviz itself reads it, and as gprof2dot has the same file."""

import json
import marshal
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from support.run import BINARY, plain, profile, run

# main 100: parse 70 (of which tokens 40), draw 20 (of which tokens 10)
FOLDED = """\
main (app.py:3);parse (pkg/app.py:7) 30
main (app.py:4);parse (pkg/app.py:9);tokens (pkg/lexer.py:2) 40
main (app.py:5);draw (pkg/view.py:8) 10
main (app.py:5);draw (pkg/view.py:9);tokens (pkg/lexer.py:3) 10
main (app.py:6) 10
"""
# Two functions called by two others, so that shares are divided; b recurs in no way.
CALLGRIND = """\
# callgrind format
version: 1
creator: callgrind-3.19.0
positions: line
events: Ir Dr
summary: 1000 50

ob=(1) /usr/bin/prog
fl=(1) prog.c
fn=(1) main
10 100 5
cfn=(2) a
calls=3 20
11 600 20
cfn=(3) b
calls=2 30
12 300 10

fn=(2)
20 200 3
cfn=(3)
calls=4 30
+1 350 3
cfi=(2) other.c
cfn=(4) c
calls=9 5
* 50

fn=(3)
30 350
cfi=(2)
cfn=(4)
calls=7 5
31 300

fl=(2)
fn=(4)
5 350
totals: 1000 50
"""
# All that means something to Graphviz, to XML or to people who look at it.
NAMES = [
    'quote" and \\',
    "\\N \\G \\l \\",
    "&lt;b&gt; & <b>bold</b>",
    "面白い関数 é",
    "std::vector<int, std::allocator<int> >::push_back(int&&)",
    "x" * 10000,
    "]; node [label=evil",
]


def graph(folder, *args, **env):
    return run([str(BINARY), "graph"] + [str(arg) for arg in args], folder, env=env)


def dot(*args, **how):
    if not shutil.which("dot"):
        pytest.skip("SKIP: no Graphviz here")
    return subprocess.run(["dot", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)


def texts(thing):
    """The lines that Graphviz draws in a box or at an arrow."""
    drawn = thing.get("_ldraw_", [])
    return [op["text"].strip() for op in drawn if op["op"] == "T"]


def drawing(text):
    """{name: (lines below)}, {(caller, callee): lines}, as Graphviz understood the text."""
    done = dot("-Tjson", input=text)
    assert done.returncode == 0 and not done.stderr, done.stderr
    read = json.loads(done.stdout)
    names = {o["_gvid"]: o for o in read.get("objects", [])}
    nodes = {texts(o)[0]: texts(o)[1:] for o in read.get("objects", [])}
    assert len(nodes) == len(names)
    edges = {(texts(names[e["tail"]])[0], texts(names[e["head"]])[0]): texts(e) for e in read.get("edges", [])}
    return nodes, edges


def drawn(folder, *args):
    result = graph(folder, *args)
    assert result.status == 0 and not result.err, result
    return drawing(result.stdout)


def test_known_graph(program, tmp_path):
    (tmp_path / "x.folded").write_text(FOLDED)
    nodes, edges = drawn(tmp_path, "x.folded")
    assert nodes == {
        "main": ["app.py", "100.00%", "(10.00%)"],
        "parse": ["pkg/app.py", "70.00%", "(30.00%)"],
        "draw": ["pkg/view.py", "20.00%", "(10.00%)"],
        "tokens": ["pkg/lexer.py", "50.00%", "(50.00%)"],
    }
    assert edges == {
        ("main", "parse"): ["70.00%"],
        ("main", "draw"): ["20.00%"],
        ("parse", "tokens"): ["40.00%"],
        ("draw", "tokens"): ["10.00%"],
    }
    nodes, edges = drawn(tmp_path, "x.folded", "--strip", "-n", "30", "-e", "45%")
    assert nodes["tokens"][0] == "lexer.py" and set(nodes) == {"main", "parse", "tokens"}
    assert set(edges) == {("main", "parse")}
    nodes, edges = drawn(tmp_path, "x.folded", "--root", "pkg/*:draw")
    assert set(nodes) == {"draw", "tokens"} and edges == {("draw", "tokens"): ["10.00%"]}
    assert nodes["tokens"][1] == "50.00%"
    result = graph(tmp_path, "x.folded", "-n", "60", "--root", "draw")
    assert result.status == 0 and drawing(result.stdout) == ({}, {}) and "nothing is left" in result.err
    nodes, _ = drawn(tmp_path, "x.folded", "--leaf", "draw")
    assert set(nodes) == {"main", "draw"}
    nodes, _ = drawn(tmp_path, "x.folded", "--leaf", "tokens", "--root", "parse")
    assert set(nodes) == {"parse", "tokens"}
    whole, by_self = graph(tmp_path, "x.folded"), graph(tmp_path, "x.folded", "--colour-by", "self")
    first = re.compile(r'n0 .*fillcolor="#(..)(..)(..)"')
    hot, cold = first.search(whole.out).groups(), first.search(by_self.out).groups()
    assert hot == ("ff", "00", "00") and int(cold[2], 16) > int(cold[0], 16)


def test_names_arrive_as_they_are(program, tmp_path):
    # no folded stacks: a ';' would end the name
    lines = ["events: ns"] + ["fn=%s\n1 10" % name for name in NAMES]
    (tmp_path / "x.callgrind").write_text("\n".join(lines) + "\n")
    result = graph(tmp_path, "x.callgrind")
    assert result.status == 0 and not result.err, result
    nodes, _ = drawing(result.stdout)
    names = set(NAMES)
    cut = {name for name in names if len(name) > 60}
    assert names - cut <= set(nodes)
    assert {name[:59] + "…" for name in cut} == set(nodes) - names
    svg = dot("-Tsvg", input=result.stdout)
    assert svg.returncode == 0 and not svg.stderr
    tips = {a.get("{http://www.w3.org/1999/xlink}title") for a in ElementTree.fromstring(svg.stdout).iter()}
    assert names <= tips


def numbers(thing):
    """Of a box or an arrow: total, self, calls, as far as they are there."""
    found = [re.match(r"\(?([\d.,]+)[%×]\)?$", line) for line in texts(thing)]
    return [float(m.group(1).replace(",", "")) for m in found if m]


def compare_with_gprof2dot(form, path, name_of):
    """All boxes and arrows of a file, by gprof2dot's names; name_of makes those of our tooltips."""
    pytest.importorskip("gprof2dot")
    command = [sys.executable, "-m", "gprof2dot", "-f", form, "-n0", "-e0", str(path)]
    theirs = json.loads(dot("-Tjson", input=subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout).stdout)
    ours = graph(path.parent, "-f", form, path.name, "-n", "0", "-e", "0")
    assert ours.status == 0 and not ours.err, ours
    ours = json.loads(dot("-Tjson", input=ours.stdout).stdout)
    names = [{}, {}]
    for o in theirs["objects"]:
        drawn_texts = texts(o)
        name = drawn_texts[[t.endswith("%") for t in drawn_texts].index(True) - 1]
        names[0][o["_gvid"]] = re.sub(r" at 0x\w+", "", name)  # of <code object f at ...>
    for o in ours["objects"]:
        names[1][o["_gvid"]] = name_of(*(o["tooltip"].split("\\n") + [""])[:2])
    found = []
    for read, named in zip((theirs, ours), names):
        assert len(set(named.values())) == len(named)
        things = {named[o["_gvid"]]: numbers(o) for o in read["objects"]}
        things.update({(named[e["tail"]], named[e["head"]]): numbers(e) for e in read["edges"]})
        found.append(things)
    assert set(found[0]) == set(found[1])
    for name, shares in found[1].items():
        wanted = found[0][name]
        if wanted[-1] == 0 and len(wanted) > len(shares):
            wanted.pop()  # a number of calls that is not known
        if isinstance(name, tuple) and wanted[1:] < shares[1:]:
            wanted[1:] = shares[1:]  # of recursion it has only the outermost calls
        if isinstance(name, tuple) and wanted[0] > found[0][name[0]][0]:
            wanted[0] = found[0][name[0]][0]  # no call has more than its caller
        assert shares == pytest.approx(wanted, abs=0.0101), name
    return found[1]


def test_callgrind_as_gprof2dot(program, tmp_path):
    (tmp_path / "callgrind.out.1").write_text(CALLGRIND)
    found = compare_with_gprof2dot("callgrind", tmp_path / "callgrind.out.1", lambda name, place: name)
    assert found["c"] == [35, 35, 16]
    assert found["b"] == [65, 35, 6]
    assert found["a", "b"] == [35, 4]


RECURSION = """\
static volatile int sum;
int odd(int n);
int work(int n) { for (int i = 0; i < n; i++) sum += i; return sum; }
int even(int n) { work(50); return n ? odd(n - 1) : 1; }
int odd(int n) { work(20); return n ? even(n - 1) : 0; }
int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void) { even(30); odd(7); fib(12); return work(999) & 0; }
"""


def test_valgrind_itself(program, tmp_path):
    """Of what valgrind wrote, all totals, also in circles, are those that callgrind_annotate has for first levels."""
    if not shutil.which("valgrind"):
        pytest.skip("SKIP: no valgrind here")
    (tmp_path / "prog.c").write_text(RECURSION)
    subprocess.run(["gcc", "-O0", "-g", "-o", "prog", "prog.c"], cwd=tmp_path, check=True)
    subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=out", "--dump-instr=yes", "--collect-jumps=yes",
                    "./prog"], cwd=tmp_path, check=True, stderr=subprocess.PIPE)
    report = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", "out"], cwd=tmp_path,
                            stdout=subprocess.PIPE, check=True, text=True).stdout
    rows = re.findall(r"^ *([\d,]+) \( *[\d.]+%\) .*?prog\.c:(\w+(?:'2)?) \[", report, re.M)
    theirs = {name: int(ir.replace(",", "")) for ir, name in rows}
    whole = int(re.search(r"^([\d,]+) .*PROGRAM TOTALS", report, re.M).group(1).replace(",", ""))
    assert {"even", "even'2", "odd", "odd'2", "fib", "fib'2"} <= set(theirs)
    nodes, edges = drawn(tmp_path, "out", "--root", "main", "-n", "0", "-e", "0")
    for name in ("main", "even", "odd", "fib", "work"):
        assert nodes[name][1] == "%.2f%%" % (100 * theirs[name] / whole), name
    assert nodes["work"][0] == "prog.c:3" and nodes["odd"][0] == "prog.c:5"
    assert edges["even", "odd"][1] == "%d×" % (15 + 3) and nodes["fib"][-1] == "465×"


CALLS = """\
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

def even(n):
    return True if n == 0 else odd(n - 1)

def odd(n):
    return False if n == 0 else even(n - 1)

class Store:
    def run(self):
        return sorted(range(20000), key=lambda v: -v)

def numbers():
    for i in range(3000):
        yield len(str(i))

fib(12)
even(60)
Store().run()
sum(numbers())
"""


def name_in_pstats(name, place, nowhere="~"):
    file, line = re.match(r"(.*?)(?::(\d+))?$", place).groups()
    return "%s:%s:%s" % (os.path.splitext(os.path.basename(file))[0] or nowhere, line or 0, name)


def test_pstats_as_gprof2dot(program, some_python, tmp_path):
    (tmp_path / "work.py").write_text(CALLS)
    made = plain(some_python, ["-m", "cProfile", "-o", "stats", "work.py"], tmp_path)
    assert made.status == 0, made
    found = compare_with_gprof2dot("pstats", tmp_path / "stats", name_in_pstats)
    assert found["work:1:fib"][2] == 465 and found["work:1:fib", "work:1:fib"][1] == 464
    assert found["work:4:even"][2] == 31 and found["work:4:even", "work:7:odd"][1] == 30
    assert found["work:1:<module>", "work:4:even"][1] == 1
    assert found["~:0:<built-in method builtins.sorted>", "work:12:<lambda>"][1] == 20000
    assert found["work:14:numbers"][2] == 3001
    # by itself, and by the pipe that gprof2dot's users know
    assert graph(tmp_path, "stats").stdout == graph(tmp_path, "stats", "-f", "pstats").stdout
    piped = subprocess.run("'%s' graph -f pstats stats | dot -Tpng -o output.png" % BINARY,
                           shell=True, cwd=tmp_path, stderr=subprocess.PIPE)
    assert piped.returncode == 0 and not piped.stderr
    assert (tmp_path / "output.png").read_bytes().startswith(b"\x89PNG")


def test_calls_of_a_capture(program, system_python, tmp_path):
    (tmp_path / "work.py").write_text(CALLS)
    made = run([BINARY, "calls", "--python", system_python.path, "-o", "work.fah", "work.py"], tmp_path)
    assert made.status == 0, made
    nodes, edges = drawn(tmp_path, "work.fah", "--root", "work.py:<module>", "-n", "0", "-e", "0")
    assert nodes["fib"][0] == "work.py:1" and nodes["fib"][-1] == "465×"
    assert edges["fib", "fib"][1] == "464×" and edges["even", "odd"][1] == "30×"
    assert edges["<built-in method builtins.sorted>", "<lambda>"][1] == "20,000×"
    assert all(float(lines[-3].rstrip("%")) <= 100 for lines in nodes.values())


def test_the_module_profile_has_counts_only(program, system_python, tmp_path):
    (tmp_path / "work.py").write_text(CALLS.replace("20000", "2000"))
    made = plain(system_python, ["-m", "profile", "-o", "stats", "work.py"], tmp_path)
    assert made.status == 0, made
    found = compare_with_gprof2dot("pstats", tmp_path / "stats", lambda name, place: name_in_pstats(name, place, ""))
    assert found["work:1:fib"][2] == 465 and found["work:1:fib", "work:1:fib"][0] > 0
    assert all(numbers[0] <= 100 for numbers in found.values())


def test_pictures(program, tmp_path):
    dot("-V")
    (tmp_path / "x.folded").write_text(FOLDED)
    for name, head in (("x.svg", b"<?xml"), ("x.png", b"\x89PNG"), ("x.dot", b"digraph {"), ("x.GV", b"digraph {")):
        result = graph(tmp_path, "x.folded", "-o", name)
        assert result.status == 0 and not result.out and not result.err, result
        assert (tmp_path / name).read_bytes().startswith(head)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.GV", "x.dot", "x.folded", "x.png", "x.svg"]
    from_stdin = run([BINARY, "graph", "-"], tmp_path, stdin=FOLDED.encode())
    assert from_stdin.status == 0 and from_stdin.stdout == (tmp_path / "x.dot").read_bytes()


def test_without_graphviz_or_with_one_that_fails(program, tmp_path):
    (tmp_path / "x.folded").write_text(FOLDED)
    result = graph(tmp_path, "x.folded", "-o", "x.svg", PATH=str(tmp_path))
    assert result.status == 2 and "apt install graphviz" in result.err and result.err.count("\n") == 1
    assert graph(tmp_path, "x.folded", "-o", "x.dot", PATH=str(tmp_path)).status == 0
    fake = tmp_path / "bin" / "dot"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\necho half of it\necho cannot draw >&2\nexit 3\n")
    fake.chmod(0o755)
    (tmp_path / "x.png").write_text("old")
    result = graph(tmp_path, "x.folded", "-o", "x.png", PATH=str(fake.parent) + ":" + os.environ["PATH"])
    assert result.status == 2 and "cannot draw" in result.err and "status 3" in result.err
    assert (tmp_path / "x.png").read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bin", "x.dot", "x.folded", "x.png"]


def test_errors(program, tmp_path):
    (tmp_path / "x.folded").write_text(FOLDED)
    (tmp_path / "bad.folded").write_text("a;b 10\nno number\n")
    (tmp_path / "bad.cg").write_text("events: Ir\nfn=f\n1 x\n")
    (tmp_path / "other").write_text("\x00\x01 what is this?\n")
    (tmp_path / "empty").write_text("")
    (tmp_path / "cut").write_bytes(marshal.dumps({("f.py", 1, "f"): (1, 1, 0.5, 0.5, {})})[:30])
    for args, says in (
        (["x.folded", "-o", "x.jpg"], ".dot, .svg, .png"),
        (["x.folded", "-o", "png"], ".dot, .svg, .png"),
        (["x.folded", "-o", ".png"], ".dot, .svg, .png"),
        (["x.folded", "--root", "pasre"], "nearest: parse"),
        (["x.folded", "--root", "parse", "--leaf", "nobody at all"], "--leaf nobody at all: there is no such function\n"),
        (["x.folded", "-f", "gprof"], "no format 'gprof'"),
        (["x.folded", "-n", "many"], "percentage"),
        (["x.folded", "--colour-by", "age"], "self or total"),
        (["x.folded", "-f", "callgrind"], "line 1: neither"),
        (["bad.folded"], "line 2: no stack"),
        (["bad.cg"], "line 3: a cost that is no number"),
        (["other"], "neither a capture"),
        (["empty"], "neither a capture"),
        (["cut"], "cut or damaged (read as pstats)"),
        (["x.folded", "-f", "pstats"], "not a file of pstats"),
        (["empty", "-f", "folded"], "no function in it"),
        (["missing"], "missing: no such file"),
        (["missing.fah"], "no such file"),
        ([], "FILE | CAPTURE"),
    ):
        result = graph(tmp_path, *args)
        assert result.status == 2 and not result.out, (args, result)
        assert says.lower() in result.err.lower() and result.err.count("\n") == 1, (args, result)


PROGRAM = """\
import time

def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

def twice(depth):
    if depth:
        twice(depth - 1)
        burn(0.05)

def once():
    burn(0.1)

twice(4)
once()
time.sleep(0.1)
"""


def test_capture_has_the_shares_of_tree(program, system_python, tmp_path):
    """The same capture by itself, and exported and read again, against the tree's own numbers."""
    (tmp_path / "work.py").write_text(PROGRAM)
    result = profile(system_python, ["work.py"], tmp_path)
    assert result.status == 0, result
    tree = run([BINARY, "tree", result.folder, "--json"], tmp_path)
    assert tree.status == 0, tree
    read = json.loads(tree.out)
    calls, totals, own, edges, stacks = read["calls"], {}, {}, {}, {}
    for call in calls[1:]:  # callers come first
        above, name = stacks.get(call["caller"], []), call["name"]
        if call["kind"] not in ("native", "system"):  # what is the caller's own
            stacks[call["id"]] = above + [name]
        whole, itself = sum(call["total_s"].values()), sum(call["self_s"].values())
        owner = stacks.get(call["id"], above)
        own[owner[-1]] = own.get(owner[-1], 0) + itself
        if owner is above:
            continue
        if name not in above:
            totals[name] = totals.get(name, 0) + whole
        if above and (above[-1], name) not in zip(above, above[1:]):
            edges[above[-1], name] = edges.get((above[-1], name), 0) + whole
    known = sum(calls[0]["total_s"].values())
    for form, whole in ((None, read["wall_s"]), ("folded", known), ("callgrind", known)):
        path, wanted = result.folder, dict(edges)
        if form:  # a file of another tool: its parts are all that it knows of
            path = "x." + form
            made = run([BINARY, "export", result.folder, "-f", form, "-i", "-F", "-o", path], tmp_path)
            assert made.status == 0, made
        if form == "callgrind":
            del wanted["twice", "twice"]  # there only the innermost call has a stack's time (doc/export.md)
        nodes, arrows = drawn(tmp_path, path, "-n", "0", "-e", "0")
        assert nodes["twice"][0] == ("work.py" if form == "folded" else "work.py:8")
        assert set(nodes) == set(totals) and set(arrows) == set(wanted), (form, nodes, arrows)
        for name, seconds in totals.items():
            shares = [float(line.strip("()%")) for line in nodes[name] if "%" in line]
            assert shares == pytest.approx([100 * seconds / whole, 100 * own[name] / whole], abs=0.011), (form, name)
        for pair, seconds in wanted.items():
            share = float(arrows[pair][0].rstrip("%"))
            assert share == pytest.approx(100 * seconds / whole, abs=0.011), (form, pair)
    assert ("twice", "twice") in edges
