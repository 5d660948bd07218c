"""Cells without IPython: compiled here, values printed as IPython prints them in a terminal."""

import __future__

import ast
import inspect
import os
import pprint
import sys

import fah_await
import fah_cells
import fah_errors
import fah_helpers
import fah_magics

FUTURE = 0
for feature in __future__.all_feature_names:
    FUTURE |= getattr(__future__, feature).compiler_flag

LONG = 1000  # members of a value that are shown
COLUMNS = 79


def text_of(value):
    """repr, but of long collections one member a line and not more than can be read."""
    if type(value) is fah_helpers.SList:
        value = list(value)
    if type(value) in (list, tuple, set, frozenset, dict):
        cut = len(value) > LONG
        if cut:
            import itertools

            some = value.items() if type(value) is dict else value
            value = type(value)(itertools.islice(some, LONG))
        text = repr(value)
        if len(text) > COLUMNS:
            text = pprint.pformat(value, width=COLUMNS, sort_dicts=False)
        return text[:-1] + ",\n ..." + text[-1] if cut else text
    return repr(value)


def display(*values, **_):
    """Stands in for IPython's, where there is none."""
    for value in values:
        print(value if isinstance(value, str) and "\n" in value else text_of(value))


class ExitAutocall:
    """exit and quit of the cells: no cell runs after the one that calls them, which goes on to its end. Named as
    IPython's, for what an argument too many says."""

    def __init__(self, shell):
        self.shell = shell

    def __call__(self):
        self.shell.left = True


class Shell:
    def __init__(self, main, cells):
        self.cells = cells
        self.space = main.__dict__
        self.kept = fah_cells.Kept()
        self.interrupted = self.left = False
        self.flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        os.environ.setdefault("MPLBACKEND", "Agg")  # as in Jupyter no window is opened
        self.plans = {cell.number: self.plan(cell) for cell in cells if not cell.skipped}
        self.loop = fah_await.Loop(cells)
        self.helpers = fah_helpers.Helpers()
        self.space.update(
            {fah_magics.HELPERS: self.helpers, "display": display, "In": [""], "Out": {}}
        )
        self.space["exit"] = self.space["quit"] = self.leave = ExitAutocall(self)

    def plan(self, cell):
        """What a cell does, so far as it is no Python. All are looked at before the first runs."""
        for source in cell.source, fah_magics.unwrapped(cell.source):
            try:
                ast_of(source, cell.name, self.flags)
            except SyntaxError:
                pass
            except ValueError as error:  # a NUL
                raise fah_cells.Refused("cell %d: %s" % (cell.number, error))
            else:
                return fah_magics.Plan(source)
        try:
            return fah_magics.translate(source)
        except fah_magics.Unknown as unknown:
            raise fah_cells.Refused(
                "cell %d, line %d: %s is IPython's, and %s has none; in that environment, pip install "
                "ipython" % (cell.number, unknown.line, unknown.what, sys.executable)
            )

    def run(self, cell):
        """False where an exception ended it, which was shown."""
        plan = self.plans[cell.number]
        self.space["In"].append(cell.source)
        for line, text in plan.left_out:
            print(
                "fixingahole: cell %d, line %d: %s is left out: %s has no IPython"
                % (cell.number, line, text, sys.executable),
                file=sys.stderr,
            )
        try:
            with plan.around(self.helpers, self.space):
                value = self.execute(cell, self.called(plan.source))
            if value is not None and plan.shows and not silent(plan.source):
                self.put_out(cell.number, value)
        except SystemExit:
            raise
        except BaseException as error:
            self.interrupted = isinstance(error, KeyboardInterrupt)
            fah_errors.show(error, self.cells)
            return False
        return True

    def called(self, source):
        """A cell of one word that leaves needs no brackets."""
        word = source.strip().rstrip(";")
        if word in ("exit", "quit") and self.space.get(word) is self.leave:
            return source.replace(word, word + "()")
        return source

    def execute(self, cell, source):
        """The value of its last expression."""
        tree = ast_of(source, cell.name, self.flags)
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = ast.Expression(tree.body.pop().value)
        self.evaluate(tree, cell.name, "exec")
        return None if last is None else self.evaluate(last, cell.name, "eval")

    def evaluate(self, tree, name, mode):
        code = self.kept.keep(compile(tree, name, mode, self.flags, True))
        self.flags |= code.co_flags & FUTURE
        value = eval(code, self.space)
        if code.co_flags & inspect.CO_COROUTINE:
            value = self.loop.run(value)
        return value

    def put_out(self, number, value):
        text = text_of(value)
        print("Out[%d]: %s%s" % (number, "\n" if "\n" in text else "", text))
        space = self.space
        space["___"], space["__"], space["_"] = space.get("__", ""), space.get("_", ""), value
        space["Out"][number] = space["_%d" % number] = value

    def close(self):
        self.loop.close()


def ast_of(source, name, flags):
    return compile(source, name, "exec", flags | ast.PyCF_ONLY_AST, True)


def silent(source):
    """A semicolon at the end, before any comment, keeps the value from being shown."""
    import io
    import tokenize

    last = ""
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.OP or token.type in (tokenize.NAME, tokenize.NUMBER):
                last = token.string
            elif token.type == tokenize.STRING:
                last = ""
    except (tokenize.TokenError, SyntaxError):
        pass
    return last == ";"
