"""A notebook's code cells, and the module that they run in."""

import builtins
import collections
import io
import json
import linecache
import os
import sys
import types


class Refused(Exception):
    """The notebook cannot be run here; its text says why, with cell and line."""


class Cell:
    """A code cell. number counts code cells from 1; name is what its code has for a file."""

    def __init__(self, path, number, source, tags):
        self.number = number
        self.source = source
        # As the profiler's reports know them: src/model/cells.h.
        self.name = "%s/cell %d" % (path, number)
        self.skipped = "skip-execution" in tags
        self.may_raise = "raises-exception" in tags

    def remember(self):
        """The source for tracebacks and inspect; without a time it stays."""
        linecache.cache[self.name] = (len(self.source), None, lines_of(self.source), self.name)


def lines_of(text):
    """As the compiler counts them: a form feed ends none. With their ends."""
    return io.StringIO(text).readlines()


class Kept:
    """Code of cells, kept so that no other gets its address.

    IPython compiles each statement for itself and drops it: the next has the same address and the same
    names, and the profiler, which knows code by those, took it for the one before, with its lines.
    """

    def __init__(self):
        self.codes = collections.deque(maxlen=10000)  # a magic in a loop compiles each time

    def keep(self, code):
        self.codes.append(code)
        return code


def joined(text):
    """A source is a string or a list of strings."""
    parts = text if isinstance(text, list) else [text]
    return "".join(part for part in parts if isinstance(part, str))


def read(path):
    """The profiler has looked at the file before: what is no notebook does not come here."""
    with open(path, encoding="utf-8-sig") as file:
        notebook = json.load(file)
    path = os.path.realpath(path)
    cells = []
    for cell in notebook["cells"]:
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        metadata = cell.get("metadata")
        tags = metadata.get("tags") if isinstance(metadata, dict) else None
        cells.append(Cell(path, len(cells) + 1, joined(cell.get("source")), tags or []))
    for cell in cells:
        cell.remember()
    return cells


def new_main():
    """A __main__ as a notebook has it: without __file__."""
    main = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = main
    return main
