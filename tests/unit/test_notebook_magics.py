"""How cells with magics become Python without IPython: line by line, or named where they cannot."""

import os
import pathlib
import sys
import unittest

SOURCE = pathlib.Path(os.environ.get("FAH_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "python" / "fixingahole" / "notebook"))

import fah_cells  # noqa: E402
import fah_magics  # noqa: E402
import fah_plain  # noqa: E402

SAME = [  # the cell, and what it becomes
    ("!ls -l {x}", "__fah__.system('ls -l {x}')\n"),
    ("!!ls", "__fah__.lines('ls')\n"),
    ("files = !ls", "files = __fah__.lines('ls')\n"),
    ("a, b = !ls", "a, b = __fah__.lines('ls')\n"),
    ("%system ls", "__fah__.lines('ls')\n"),
    ("here = %pwd", "here = __fah__.pwd()\n"),
    ("%cd ~/data", "__fah__.cd('~/data')\n"),
    ("%env A=1", "__fah__.env('A=1')\n"),
    ("%matplotlib inline\nx = 1\n", "__fah__.matplotlib('inline')\nx = 1\n"),
    ("%pip install numpy", "__fah__.pip('install numpy')\n"),
    ("pip install numpy", "__fah__.pip('install numpy')\n"),
    ("%ls -l", "__fah__.system('ls -l')\n"),
    ("%time f(1)", "__fah__.timed(__fah__.clock(), (f(1)))\n"),
    ("%time x = f(1)", "with __fah__.timing(): x = f(1)\n"),
    ("%time for i in x: f(i)", "for i in x: f(i)\n"),
    ("%timeit -n 10 f(1)", "[__fah__.timed(__fah__.clock(), (f(1)))] and None\n"),
    ("%timeit -n 10 -r3 x = f(1)", "with __fah__.timing(): x = f(1)\n"),
    ("if x:\n    %time y = 1\n", "if x:\n    with __fah__.timing(): y = 1\n"),
    ("!echo a \\\n  b\nx = 1", "__fah__.system('echo a    b')\n\nx = 1"),
    ("x.sort?\ny = 1", "pass\ny = 1"),
    ("print('last'); f?", "pass\n"),
    ("y = [1,\n 2]; y[-1].x??\nz = 1", "pass\n\nz = 1"),
    ("if x:\n    a.b*?\n!ls", "if x:\n    pass\n__fah__.system('ls')\n"),
    ("%time?\n!ls", "pass\n__fah__.system('ls')\n"),
    ("s = '''\nwhy?\n''' # what?\n!ls a?", "s = '''\nwhy?\n''' # what?\n__fah__.system('ls a?')\n"),
    ("%load_ext autoreload\n%autoreload 2\ny = 1", "pass\npass\ny = 1"),
    # what stands inside a statement is no magic
    ("x = (5\n%3)\n!ls", "x = (5\n%3)\n__fah__.system('ls')\n"),
    ("x = '''\n%time\n!ls\n'''\n!ls", "x = '''\n%time\n!ls\n'''\n__fah__.system('ls')\n"),
    ("x = 5 \\\n%3\n!ls", "x = 5 \\\n%3\n__fah__.system('ls')\n"),
    ("x = 'it''s (' # ( '''\n!ls", "x = 'it''s (' # ( '''\n__fah__.system('ls')\n"),
    ("d['a'] = 7 % 3\n!ls", "d['a'] = 7 % 3\n__fah__.system('ls')\n"),
    ("if x != 1: y = 2\n!ls", "if x != 1: y = 2\n__fah__.system('ls')\n"),
    # of a whole cell
    ("%%time\nx = 1\ny = 2", "\nx = 1\ny = 2"),
    ("%%time\n  x = 1\n  !ls", "\nx = 1\n__fah__.system('ls')\n"),
    ("\n\n%%time\nx = 1", "\n\n\nx = 1"),
    ("%%timeit -n 3 x = 0\nx + 1", "x = 0\nx + 1"),
    ("%%capture out\nx = 1\n!ls", "\nx = 1\n__fah__.system('ls')\n"),
    ("%%bash\nls\npwd\n", "__fah__.script('bash', 'ls\\npwd\\n')\n\n"),
    ("%%writefile a.py\nx = 1\n", "__fah__.write_file('a.py', 'x = 1\\n')\n"),
    ("%%html\n<b>x</b>\n", "\n"),
]
NAMED = [
    ("%%cython\ndef f(): pass", 1, "%%cython"),
    ("x = 1\n%who", 2, "%who"),
    ("\n%%R\nx <- 1", 2, "%%R"),
    ("y = %recall 3", 1, "%recall"),
]


UNWRAPPED = [  # the cell, and what it becomes: as many lines
    ("    x = 1\n\n    if x:\n        y = 2", "x = 1\n\nif x:\n    y = 2"),
    ("x = 1\n  y = 2", "x = 1\n  y = 2"),
    (">>> x = 1\n>>> if x:\n...     y = 2\n...\n>>>\nx", "x = 1\nif x:\n    y = 2\n\n\nx"),
    ("  >>> x = 1\n  ... ", "x = 1\n"),
    ("x = 1\n>>> y = 2\n", "x = 1\ny = 2\n"),
    ("x = 1\n...\n", "x = 1\n...\n"),
    ("In [1]: x = 1\n   ...: y = 2\n\nIn [12]: x\n", "x = 1\ny = 2\n\nx\n"),
]


class Magics(unittest.TestCase):
    def test_unwrapped(self):
        for cell, expected in UNWRAPPED:
            with self.subTest(cell=cell):
                made = fah_magics.unwrapped(cell)
                self.assertEqual(made, expected)
                self.assertEqual(made.count("\n"), cell.count("\n"))

    def test_translated(self):
        for cell, expected in SAME:
            with self.subTest(cell=cell):
                made = fah_magics.translate(cell).source
                self.assertEqual(made, expected)
                compile(made, "cell", "exec")

    def test_named(self):
        for cell, line, what in NAMED:
            with self.subTest(cell=cell), self.assertRaises(fah_magics.Unknown) as caught:
                fah_magics.translate(cell)
            self.assertEqual((caught.exception.line, caught.exception.what), (line, what))

    def test_left_out(self):
        plan = fah_magics.translate("%%time\n%load_ext x\nnp.sum?\n%autoreload 2")
        self.assertEqual(
            plan.left_out, [(2, "%load_ext x"), (3, "np.sum?"), (4, "%autoreload 2")]
        )

        plan = fah_magics.translate("x = [1,\n 2]; x[0]?\nprint(1); a.b??")
        self.assertEqual(plan.left_out, [(2, "x[0]?"), (3, "a.b??")])

    def test_refused_before_the_first_cell(self):
        cells = [fah_cells.Cell("/n.ipynb", i + 1, text, []) for i, text in enumerate(("a", "a\n%who"))]
        with self.assertRaises(fah_cells.Refused) as caught:
            fah_plain.Shell(fah_cells.types.ModuleType("m"), cells)
        self.assertIn("cell 2, line 2: %who is IPython's", str(caught.exception))

    def test_silent(self):
        for source, expected in (
            ("x;", True),
            ("x; # y", True),
            ("x # ;", False),
            ("x\n", False),
            ("';'", False),
            ("x;\n\n", True),
        ):
            self.assertEqual(fah_plain.silent(source), expected, source)

    def test_values(self):
        self.assertEqual(fah_plain.text_of([1, 2]), "[1, 2]")
        self.assertEqual(len(fah_plain.text_of(list(range(5000))).splitlines()), 1001)
        self.assertEqual(fah_plain.text_of("a" * 200), repr("a" * 200))


if __name__ == "__main__":
    unittest.main()
