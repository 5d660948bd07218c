"""Runs a notebook's code cells in order, in one process: python run.py NOTEBOOK [ARGUMENTS].

Started by `fixingahole profile NOTEBOOK` with the program's own Python, 3.8 or newer; nothing but the
standard library is needed. Where that Python has IPython, the cells run in a shell of its; else they are
compiled here. Either way a cell's code has a file name of its own (fah_cells.Cell.name), by which the
reports find cell and line, and every frame below this file is left out of them.
"""

import os
import sys


def import_ours():
    """The other files of this folder, without leaving it in sys.path or bytecode beside them."""
    here = os.path.dirname(os.path.abspath(__file__))
    write, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    if sys.path and os.path.abspath(sys.path[0]) == here:
        del sys.path[0]  # not there with -P
    sys.path.insert(0, here)
    try:
        import fah_cells
        import fah_ipython
        import fah_plain
    finally:
        sys.path.remove(here)
        sys.dont_write_bytecode = write
    return fah_cells, fah_ipython, fah_plain


def choose_shell(fah_ipython, fah_plain, main, cells):
    try:
        return fah_ipython.Shell(main, cells)
    except Exception as error:  # of an IPython that is half installed, or too old
        if not isinstance(error, ImportError) or error.name != "IPython":
            print("fixingahole: IPython cannot be used: %r" % error, file=sys.stderr)
    return fah_plain.Shell(main, cells)


def run():
    """The status to exit with."""
    fah_cells, fah_ipython, fah_plain = import_ours()
    del sys.argv[0]
    path = os.path.abspath(sys.argv[0])
    cells = fah_cells.read(path)
    main = fah_cells.new_main()
    try:
        shell = choose_shell(fah_ipython, fah_plain, main, cells)
    except fah_cells.Refused as refused:
        print("fixingahole: %s: %s" % (sys.argv[0], refused), file=sys.stderr)
        return 1
    os.chdir(os.path.dirname(path))
    sys.path.insert(0, os.path.dirname(path))
    try:
        for cell in cells:
            if cell.skipped or not cell.source.strip():
                continue
            if not shell.run(cell) and not cell.may_raise:
                return 130 if shell.interrupted else 1
            if shell.left:
                break
    finally:
        shell.close()
    return 0


if __name__ == "__main__":
    ours = sys.modules["__main__"]  # new_main takes its place; what runs here goes on needing it
    sys.exit(run())
