"""`fixingahole.repeat`: a plain loop by itself; recorded, each iteration's time."""

import os
import re
import sys

from support import capture
from support import run as tool
from support.pythons import REPO
from support.run import BINARY

PACKAGE = str(REPO / "python")
LOOPS = """
import sys, time
import fixingahole

made = []

def reset():
    time.sleep(0.01)
    made.append(None)

def body(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass

numbers = []
for i in fixingahole.repeat(20, setup=reset):
    body(0.02 if i == 0 else 0.001)
    numbers.append(i)
for _ in fixingahole.repeat(5000): pass
for i in fixingahole.repeat(10):
    if i == 3:
        break
def failing():
    for i in fixingahole.repeat(10):
        if i == 2:
            raise ValueError
try:
    failing()
except ValueError:
    pass
print(numbers == list(range(20)), len(made), list(fixingahole.repeat(0)), "ctypes" in sys.modules)
"""


def test_iterations(program, python, tmp_path):
    (tmp_path / "loops.py").write_text(LOOPS)
    env = {"PYTHONPATH": PACKAGE, "PYTHONDONTWRITEBYTECODE": "1"}
    expected = tool.plain(python, ["loops.py"], tmp_path, env=env)
    assert expected.out == "True 20 [] False\n", expected
    words = [str(BINARY), "record", "-o", "x.fah", "--", python.path, "loops.py"]
    result = tool.run(words, tmp_path, python, env=env)
    assert (result.status, result.out) == (0, "True 20 [] True\n"), result
    it = capture.read(tmp_path / "x.fah")
    loops = {}
    for part in it.iterations:
        loops.setdefault(part.loop, []).append(part)
    assert [sum(part.count for part in loops[i]) for i in (1, 2, 3, 4)] == [20, 5000, 3, 2]
    assert set(loops) == {1, 2, 3, 4}
    # the setup is not in it, so an iteration took at least its CPU, and that what the body used
    assert [part.first for part in loops[1]] == list(range(20)), "long ones and first ones alone"
    for part in loops[1]:
        body = 0.02e9 if part.first == 0 else 0.001e9
        assert body * 0.99 <= part.cpu and body * 0.99 <= part.wall, part
    assert len(loops[2]) < 5000, "short ones are not recorded together"
    assert [part.label for part in (loops[1][0], loops[4][0])] == ["loops.py:17", "loops.py:25"]
    said = result.err.replace("\n  ", " ")
    wanted = r"Loop loops.py:17: 20 iterations; the first [\d.]+ m?s \(CPU [\d.]+ ms\), the others .* ± "
    assert re.search(wanted, said), result
    assert "Loop loops.py:20: 5,000 iterations" in tool.inspect(tmp_path / "x.fah").out


def test_in_a_child_and_in_threads(program, system_python, tmp_path):
    (tmp_path / "it.py").write_text(
        "import os, threading, fixingahole\n"
        "def loop():\n    for _ in fixingahole.repeat(3): pass\n"
        "loop()\n"
        "threads = [threading.Thread(target=loop) for _ in range(3)]\n"
        "for t in threads: t.start()\n"
        "for t in threads: t.join()\n"
        "pid = os.fork()\n"
        "loop()\n"
        "if pid: os.waitpid(pid, 0)\n"
    )
    words = [str(BINARY), "record", "-q", "-o", "x.fah", "--", system_python.path, "it.py"]
    result = tool.run(words, tmp_path, env={"PYTHONPATH": PACKAGE})
    assert result.status == 0, result
    it = capture.read(tmp_path / "x.fah")
    found = {}
    for part in it.iterations:
        key = it.threads[part.thread][0], part.loop
        found[key] = found.get(key, 0) + part.count
    assert found == {(1, 1): 3, (1, 2): 3, (1, 3): 3, (1, 4): 3, (1, 5): 3, (2, 5): 3}, found


def test_the_package_is_plain_python():
    """3.8's grammar, no compiled part, nothing imported but the standard library and what lies beside
    it; the notebook's runner may ask for IPython."""
    import ast

    for folder, _, files in os.walk(PACKAGE):
        for name in files:
            if "__pycache__" in folder:
                continue
            assert name.endswith(".py") or name in ("py.typed", "meson.build"), name
            if not name.endswith(".py"):
                continue
            text = open(os.path.join(folder, name)).read()
            tree = ast.parse(text, feature_version=(3, 8))
            known = set(sys.stdlib_module_names) | {other[:-3] for other in files}
            if os.path.basename(folder) == "notebook":
                known |= {"IPython", "traitlets"}  # which comes with it
            for node in ast.walk(tree):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom) and not node.level:
                    names = [node.module]
                assert {name.split(".")[0] for name in names} <= known, ast.dump(node)
