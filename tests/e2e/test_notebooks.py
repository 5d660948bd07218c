"""Notebooks: their cells in order, with IPython and without, and results by cell and line.

The Python that runs these tests has IPython (tests/requirements.txt); the others have none. What the one
prints is what the other must print.
"""

import json
import re
import sys

import pytest

from support import run as runner
from support.pythons import REPO, Python
from support.run import BINARY, capture_of, profile, run

BUSY = "t = 0\nfor i in range(%d):\n    t += i * i\n"


def cell(source, **metadata):
    lines = source.splitlines(True)
    return {"cell_type": "code", "metadata": metadata, "outputs": [], "source": lines}


def notebook(path, sources, **top):
    cells = [cell(item) if isinstance(item, str) else item for item in sources]
    title = {"cell_type": "markdown", "metadata": {}, "source": "# not counted"}
    language = {"language_info": {"name": "python"}}
    content = {"cells": [title] + cells, "metadata": language, "nbformat": 4, "nbformat_minor": 5}
    content.update(top)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return path


@pytest.fixture(scope="session")
def ipython():
    """A Python with IPython: that of these tests."""
    pytest.importorskip("IPython", reason="SKIP: tests/requirements.txt is not installed")
    return Python("ipython", sys.version_info[:3], "/", sys.executable)


TALKATIVE = [
    "import os, sys\nx = 6 * 7\nx",
    "print(__name__, '__file__' in globals(), sys.argv[1:])\n"
    "print(os.path.basename(os.getcwd()), os.path.basename(sys.path[0]))\nimport sibling",
    "display('a', [1, 2])\n{'a': 1, 'b': [x]};",
    "_1 + _, In[1][:6], Out[1]",
    "import asyncio\nasync def later(v):\n    await asyncio.sleep(0.01)\n    return v\n"
    "task = asyncio.get_event_loop().create_task(later(3))\nawait later(2)",
    "sum(await asyncio.gather(later(1), task))",
    "here = %pwd\nprint(os.path.basename(here))\nnames = !ls *.ipynb\nlist(names)",
    "print('before')\n!echo {x} $x $$x-\n!echo {x} $HOMELESS-\nfor i in range(2):\n    !echo {i}",
    "%env COLOUR=red\n%env COLOUR",
    "%%capture caught\nprint('hidden')\nx",
    "caught.stdout",
    "%%bash\necho from bash\n",
    "",
    "%cd ..\n%pwd",
    cell("1 / 0", tags=["skip-execution"]),
    cell("[][x]", tags=["raises-exception"]),
    "class C:\n    def __repr__(self):\n        return 'one\\ntwo'\nC()",
    "list(range(30))",
    "f'{x:>4}' ; # silent",
    "def area(r, *more, unit='m', **rest):\n    return r / 0\n",
    "\narea(1)\nprint('not reached')",
    "print('nor this')",
]


def talk(python, folder):
    """The talkative notebook's run: what it prints and how it fails."""
    folder.mkdir()
    notebook(folder / "my work" / "talk ü.ipynb", TALKATIVE)
    (folder / "my work" / "sibling.py").write_text("print('imported')\n")
    result = profile(python, ["my work/talk ü.ipynb", "--size", "3"], folder)
    result.stdout = result.stdout.replace(str(folder).encode(), b"FOLDER")
    return result


@pytest.fixture(scope="session")
def said(ipython, tmp_path_factory):
    return talk(ipython, tmp_path_factory.mktemp("ipython") / "w")


def test_ipython_runs_as_in_a_terminal(said):
    assert said.status == 1, said
    out = said.out
    assert "Out[1]: 42\n__main__ False ['--size', '3']\nmy work my work\nimported\n" in out
    assert "'a'\n[1, 2]\nOut[4]: (84, 'import', 42)\nOut[5]: 2\nOut[6]: 4\nmy work\n" in out
    assert "Out[7]: ['talk ü.ipynb']\nbefore\n42 42 -\n{x} -\n0\n1\nenv: COLOUR=red\n" in out
    assert "Out[11]: 'hidden\\n'\nfrom bash\n" in out
    assert "reached" not in out and "nor this" not in out and "ZeroDivisionError" not in out
    assert "Out[14]: 'FOLDER'\n" in out and "IndexError: list index out of range" in said.err
    assert "Cell In[21], line 2\n" in said.err and "Cell In[20], line 2, in area(r, " in said.err
    assert said.err.rstrip().endswith("ZeroDivisionError: division by zero")


def test_without_ipython_it_is_the_same(some_python, said, tmp_path):
    result = talk(some_python, tmp_path / "w")
    assert result.status == said.status == 1, result
    assert result.out == said.out
    assert result.err == said.err


LIKE_IPYTHON = {  # cells that neither is known to run otherwise than the other
    "lines of a command": [
        "y = !printf 'b 10\\na 9\\n\\n'\nprint(y.n, y.s, y.l, y.nlstr, y.spstr, y.list)\ny",
        "print(y.sort(), y.sort(1), y.sort(1, nums=True), type(y.sort()).__name__)",
        "print(y.grep('^A'), y.grep('9', field=1), y.grep('a', prune=True), y.grep(str.strip))",
        "print(y.fields(), y.fields(1, 0), y.fields(5), y.fields(0, 7), y.fields(-1))",
        "w = !pwd; ls /nowhere\nprint(len(w), len(w.p), len(w.paths))",
        "!!echo one; echo two >&2",
        "%system echo three",
        "z = %sx echo four\ntype(z).__name__",
    ],
    "left within a cell": ["def f():\n    exit()\n    return 7\nprint(1)\nf()", "print('not reached')"],
    "left by a word": ["print(1)", "quit", "print('not reached')"],
    "left by a word, silently": ["print(1)", "exit;", "print('not reached')"],
    "left while captured": ["%%capture\nquit()\nprint(1)", "print('not reached')"],
    "not left": ["exit = 5\nprint(quit is exit)", "exit", "quit()\n1 / 0"],
    "timed": ["%%time\n1 + 1", "_ + 1", "%%time\n1 + 1;", "%time 5", "%%time\n\nprint(1)\nx = 3"],
    "indented": [
        "    x = 1\n    print(x)\n\n    for i in range(2):\n        !echo {i}\n    x",
        "\n  %%time\n  if x:\n      print(2)",
        "%%time\n  print(3)",
        "  def f():\n      if 1:\n          a = 1\n          b = 2\n          c = 1 / 0\n          d = 3\n"
        "          e = 4\n\n  f()",
    ],
    "copied from a session": [
        ">>> x = 1\n>>> for i in range(2):\n...     print(i)\n...\n0\n1\n>>> x",
        "x = 2\n>>> x",
        "  >>> print(x)\n  ... ",
        "In [1]: x = 1\n   ...: print(x)\n\nIn [2]: x\n",
        ">>> !echo {x}\n>>> y = %pwd\n>>> 1 / 0\n",
    ],
}


@pytest.mark.parametrize("cells", LIKE_IPYTHON.values(), ids=LIKE_IPYTHON)
def test_as_ipython(some_python, ipython, tmp_path, cells):
    said = []
    for python in ipython, some_python:
        folder = tmp_path / ("%d" % len(said))
        notebook(folder / "like.ipynb", cells)
        result = profile(python, ["like.ipynb"], folder)
        said.append((result.status, without_times(result.out), result.err))
    assert said[0] == said[1]


def without_times(text):
    return re.sub(r"(?<=times: ).*|(?<=Wall time: ).*", "...", text)


def results_of(result):
    """{cell: {line: (share, source)}} of profile_results.txt."""
    cells, now = {}, None
    for text in (result.folder / "profile_results.txt").read_text().splitlines():
        head = re.match(r"  /.*, cell (\d+): % of time =", text)
        row = re.match(r" *(\d+) │(.*)│(.*)", text)
        if head:
            now = cells.setdefault(int(head.group(1)), {})
        elif row:
            share = sum(map(int, re.findall(r"(\d+)%", row.group(2))))
            now[int(row.group(1))] = share, row.group(3)
    return cells


WORK = [
    "for i in range(1000000): pass\n" * 12,  # in IPython a code object each, at the same address
    "class Job:\n    def work(self, n):\n        t = 0\n        for i in range(n):\n            t += i * i\n",
    "\n\n# where it is called\nJob().work(1500000)",
    "\n%%time\n\n# timed\n" + BUSY % 1500000,
    "%%capture\n" + BUSY % 1500000,
    "async def nap(seconds):\n    import asyncio\n    await asyncio.sleep(seconds)\nx = 1\nawait nap(0.25)",
    "import os\nos.remove(NAME)",  # what the report shows is in the capture
]


@pytest.fixture(scope="session", params=["plain", "ipython"])
def worked(request, tmp_path_factory, system_python):
    """A run whose places are known: by the system's Python without IPython, and with it."""
    folder = tmp_path_factory.mktemp("worked")
    cells = [text.replace("NAME", repr(str(folder / "job.ipynb"))) for text in WORK]
    notebook(folder / "job.ipynb", cells)
    python = system_python if request.param == "plain" else request.getfixturevalue("ipython")
    result = profile(python, ["job.ipynb"], folder, options=(), hz=400)
    assert result.status == 0, result
    return result


def test_cell_and_line(worked):
    cells = results_of(worked)
    work, timed, captured, naps = cells[2], cells[4], cells[5], cells[6]
    assert set(work) <= {4, 5} and work[5][1].strip() == "t += i * i"
    # what the magics themselves need is their own line's
    assert 7 in timed and set(timed) <= {2, 6, 7} and timed[7][1].strip() == "t += i * i"
    assert 4 in captured and set(captured) <= {1, 3, 4}
    # what is awaited is the waiting of the line that awaits
    assert list(naps) == [3] and naps[3][1].strip() == "await asyncio.sleep(seconds)"
    assert (worked.folder / "job.ipynb").is_file()
    text = (worked.folder / "profile_results.txt").read_text()
    assert "  Job.work (cell 2, line 2): " in text
    assert re.search(r"\d\. Job.work +\d+\.\d% \(cell 2, line 2\)", worked.out), worked
    assert re.search(r"[├└]─ cell 2 \(1 func, ", worked.out), worked


def test_only_the_notebook_is_in_stacks(worked):
    tree = run([BINARY, "tree", "--min", "0", capture_of(worked)], worked.folder).out
    calls = re.findall(r"^ *[\d.]+% .*?s  (\S.*)$", tree, re.M)
    roots = {re.sub(r"^… ", "", call) for call in calls if not re.match(r"[│├└ ]", call)}
    assert "<module> (job.ipynb, cell 3, line 1)" in roots, tree
    ours = re.compile(r"[Ss]hell\.|atexit|fah_|run\.py|IPython")
    assert not any(ours.search(root) for root in roots), tree
    folded = run([BINARY, "export", "-f", "folded", "-o", "-", capture_of(worked)], worked.folder)
    stacks = [line.split(";") for line in folded.out.splitlines()]
    assert any("Job.work (job.ipynb, cell 2, line 5)" in stack[-1] for stack in stacks), folded
    lines = set(re.findall(r"<module> \(job.ipynb, cell 1, line (\d+)\)", folded.out))
    assert lines == {str(line) for line in range(1, 13)}
    # a cell calls IPython (its magics), but is never called by it
    for stack in stacks:
        shells = [i for i, frame in enumerate(stack) if "run_cell" in frame or "fah_" in frame]
        assert not any("(job.ipynb" in frame for frame in stack[min(shells or [99]) :]), stack


@pytest.mark.parametrize(
    "shell, code, status",
    [
        ("ipython", "import sys\nsys.exit(3)", 3),
        ("ipython", "exit()", 0),
        ("system_python", "import sys\nsys.exit(3)", 3),
        ("system_python", "exit()", 0),
        ("system_python", "x = = 1", 1),
    ],
)
def test_ends(request, tmp_path, shell, code, status):
    notebook(tmp_path / "end.ipynb", [code, "print('not reached')"])
    result = profile(request.getfixturevalue(shell), ["end.ipynb"], tmp_path)
    assert (result.status, result.out) == (status, ""), result
    if status == 1:
        assert "Cell In[1], line 1\n    x = = 1\n" in result.err
        assert "SyntaxError: invalid syntax" in result.err


def test_magics_that_need_ipython_are_named(system_python, tmp_path):
    notebook(tmp_path / "magic.ipynb", ["print('ran')", "%load_ext autoreload\nx = 1\n%who"])
    result = profile(system_python, ["magic.ipynb"], tmp_path)
    assert result.status == 1 and result.out == "", result
    assert "magic.ipynb: cell 2, line 3: %who is IPython's, and /usr/bin/python3" in result.err
    notebook(tmp_path / "magic.ipynb", ["%load_ext autoreload\nprint('ran')"])
    result = profile(system_python, ["magic.ipynb"], tmp_path)
    assert result.status == 0 and result.out == "ran\n", result
    assert "cell 1, line 1: %load_ext autoreload is left out" in result.err


def test_help_is_left_out(system_python, tmp_path):
    """With what stands before it on its line, which IPython does not run either."""
    notebook(tmp_path / "help.ipynb", ["def f(): pass\nprint('first')\nprint('last'); f?", "print('end')"])
    result = profile(system_python, ["help.ipynb"], tmp_path)
    assert result.status == 0 and result.out == "first\nend\n", result
    assert "cell 1, line 3: f? is left out" in result.err


@pytest.mark.parametrize(
    "content, message",
    [
        ("", "is empty: there is nothing to profile"),
        (" \n", "is empty: no notebook"),
        ('{"cells": [}', "is no notebook: line 1, column 12: a value is missing"),
        ("[]", "is no notebook: it has no cells"),
        ({"cells": []}, "has no code: there is nothing to profile"),
        ({"cells": [cell(" \n")]}, "has no code: there is nothing to profile"),
        ({"metadata": {"kernelspec": {"language": "R"}}}, "is a notebook in R; only Python"),
        ({"metadata": {"language_info": {"name": "julia"}}}, "is a notebook in julia; only"),
        ({"nbformat": 3, "worksheets": []}, "is a notebook of format 3; make it one of format 4"),
        ({"nbformat": 5}, "is a notebook of format 5; format 4 is known"),
    ],
)
def test_refused_and_nothing_made(program, tmp_path, content, message):
    path = tmp_path / "bad.ipynb"
    if isinstance(content, dict):
        notebook(path, ["1"], **content)
    else:
        path.write_text(content)
    result = runner.run([program, "profile", "bad.ipynb"], tmp_path)
    assert result.status == 2 and result.out == "", result
    assert result.err.startswith("fixingahole: bad.ipynb " + message), result
    assert len(result.err.splitlines()) == 1, result
    assert [entry.name for entry in tmp_path.iterdir()] == ["bad.ipynb"]


SMALL = [
    "class Job:\n    def work(self, n):\n        t = 0\n        for i in range(n):\n            t += i * i\n",
    "job = Job()\nfor _ in range(7):\n    job.work(80000)\n",
]


def is_by_cell_and_line(result, counted):
    """Functions, callers and lines of SMALL, as anybody reads them."""
    assert result.status == 0, result
    assert re.search(r"^ 1\. Job\.work +\d+\.\d% \(cell 1, line 2\)$", result.out, re.M), result
    count = "n_calls: 7$" if counted else r"samples: [\d,]+$"
    assert re.search(r"^Job\.work, .*\n  └─ small\.ipynb, cell 2, line 3; <module>\n     " + count, result.out, re.M), result
    lines = results_of(result)
    assert set(lines[1]) <= {1, 3, 4, 5} and lines[1][5][1].strip() == "t += i * i", lines


def test_cell_and_line_everywhere(program, python, tmp_path):
    """Most of these Pythons have no IPython."""
    notebook(tmp_path / "small.ipynb", SMALL)
    result = profile(python, ["small.ipynb"], tmp_path, options=(), hz=400)
    is_by_cell_and_line(result, python.version >= (3, 12))


@pytest.fixture(scope="session")
def old_ipython():
    """A Python with the oldest IPython that is said to do."""
    path = REPO / "build-check" / "ipython" / "bin" / "python3"
    if not path.exists():
        pytest.skip("SKIP: tests/ipython.txt is not installed; ./check --only setup does so")
    numbers = run([path, "-c", "import sys; print(*sys.version_info[:3])"], REPO).out.split()
    return Python("old-ipython", tuple(map(int, numbers)), "/", str(path))


def test_an_old_ipython(program, said, old_ipython, tmp_path):
    """What cells print is the same; a traceback has that IPython's own form, and our names of cells."""
    result = talk(old_ipython, tmp_path / "w")
    assert result.status == 1 and result.out.replace("\n\n", "\n") == said.out.replace("\n\n", "\n"), result
    assert "cell 21 in <module>" in result.err and "cell 20 in area(r, unit, " in result.err, result
    assert "IPython cannot be used" not in result.err, result
    notebook(tmp_path / "small.ipynb", SMALL)
    result = profile(old_ipython, ["small.ipynb"], tmp_path, options=(), hz=400)
    is_by_cell_and_line(result, old_ipython.version >= (3, 12))
