"""Cells in a shell of IPython's own, where the program's environment has it (7.0 or newer).

What is changed of it: code is compiled with the names and lines of its cell, also inside %%time and
%%capture, which run a part of it; tracebacks go to stderr; nothing of the user's profile is read or written.
"""

import ast
import atexit
import os
import sys

import fah_await
import fah_cells

TIMED = ("<timed exec>", "<timed eval>")  # what %time and %%time call their code


def leading(text):
    """Blank lines at the start, which IPython takes away."""
    lines = fah_cells.lines_of(text)
    return next((i for i, line in enumerate(lines) if line.strip()), 0)


class Place:
    """Which cell runs, and at which of its lines the text begins that is about to be compiled."""

    def __init__(self, cells):
        self.names = {cell.name for cell in cells}
        self.kept = fah_cells.Kept()
        self.cell = None
        self.offset = None  # None: the text is no part of the cell

    def find(self, text):
        """The offset of a part of the cell, given to run_cell by a magic of it."""
        at = self.cell.source.rfind(text.rstrip("\n"))
        return None if at < 0 else self.cell.source.count("\n", 0, at) + leading(text)

    def magic(self):
        """(name, offset) of what %time or %%time compiles, by who called it; None: somebody else."""
        frame, body = sys._getframe(2), None
        while frame is not None:
            code = frame.f_code
            if code.co_filename in self.names:
                line = frame.f_lineno
                return code.co_filename, line - 1 if body is None else line + leading(body)
            if code.co_name == "run_cell_magic" and body is None:
                body = str(frame.f_locals.get("cell", ""))
            frame = frame.f_back
        return None


def make_compiler(base, place):
    class Compiler(base):
        def cache(self, transformed_code, number=0, *rest, **named):
            if place.offset is None:
                return base.cache(self, transformed_code, number, *rest, **named)
            name = place.cell.name
            if hasattr(self, "_filename_map"):  # from 7.22 on: "Cell In[3]" in tracebacks
                self._filename_map[name] = place.cell.number
            place.cell.remember()
            return name

        def ast_parse(self, source, filename="<unknown>", symbol="exec"):
            tree = base.ast_parse(self, source, filename, symbol)
            if filename in place.names and place.offset:
                ast.increment_lineno(tree, place.offset)
            return tree

        def __call__(self, source, filename, symbol, *rest, **named):
            if filename in TIMED and isinstance(source, ast.AST):
                found = place.magic()
                if found:
                    filename, offset = found
                    ast.increment_lineno(source, offset)
            code = base.__call__(self, source, filename, symbol, *rest, **named)
            return place.kept.keep(code) if filename in place.names else code

    return Compiler


def make_shell(base, place):
    class NotebookShell(base):
        left = False


        def run_cell(self, raw_cell, *rest, **named):
            outer = place.offset
            place.offset = None if place.cell is None else place.find(raw_cell)
            try:
                return base.run_cell(self, raw_cell, *rest, **named)
            finally:
                place.offset = outer

        def _update_code_co_name(self, code):  # of 8: "<cell line: 1>"; it is <module>
            return code

        def showtraceback(self, *rest, **named):
            if isinstance(sys.exc_info()[1], SystemExit):
                import warnings  # of how to leave IPython

                warnings.filterwarnings("ignore", message="To exit: use")
                return
            base.showtraceback(self, *rest, **named)

        def _showtraceback(self, etype, evalue, stb):
            sys.stdout.flush()
            print(self.InteractiveTB.stb2text(stb), file=sys.stderr, flush=True)

        def enable_gui(self, gui=None):
            pass  # no loop of a window system's runs between cells

        def ask_exit(self):
            self.left = True

        def system(self, cmd):
            """Straight to the terminal, as in a terminal; what was printed before comes before."""
            import subprocess

            cmd = self.var_expand(cmd, depth=1)
            sys.stdout.flush()
            self.user_ns["_exit_code"] = subprocess.call(cmd, shell=True)

    return NotebookShell


class Shell:
    def __init__(self, main, cells):
        from IPython.core.compilerop import CachingCompiler
        from IPython.core.interactiveshell import InteractiveShell
        from IPython.core.profiledir import ProfileDir
        from IPython.core.release import version_info
        from traitlets.config import Config
        import tempfile

        self.interrupted = False
        self.place = Place(cells)
        self.loop = fah_await.Loop(cells)
        self.folder = tempfile.mkdtemp(prefix="ipython-")
        self.owner = os.getpid()  # a fork that ends leaves the folder
        config = Config()
        config.HistoryManager.enabled = False
        if not sys.stdout.isatty():
            config.InteractiveShell.colors = "nocolor" if version_info[0] >= 9 else "NoColor"
        compiler = make_compiler(CachingCompiler, self.place)
        shell = make_shell(InteractiveShell, self.place)
        self.shell = shell.instance(
            user_module=main,
            config=config,
            ipython_dir=self.folder,
            profile_dir=ProfileDir.create_profile_dir(self.folder),
        )
        self.shell.compile = compiler()
        self.shell.loop_runner = self.loop.run
        # It would empty the cells' module, which Python does anyway, and save a history.
        atexit.unregister(self.shell.atexit_operations)
        inline_plots()

    @property
    def left(self):
        return self.shell.left

    def run(self, cell):
        """False where an exception ended it, which was shown."""
        self.place.cell = cell
        self.shell.execution_count = cell.number
        result = self.shell.run_cell(cell.source, store_history=True)
        error = result.error_before_exec or result.error_in_exec
        if isinstance(error, SystemExit):
            raise error
        self.interrupted = isinstance(error, KeyboardInterrupt)
        return error is None

    def close(self):
        self.loop.close()
        if os.getpid() == self.owner:
            import shutil

            shutil.rmtree(self.folder, ignore_errors=True)


def inline_plots():
    """As Jupyter's kernel: figures belong to the cell, no window is opened."""
    import importlib.util

    inline = importlib.util.find_spec("matplotlib_inline") is not None
    backend = "module://matplotlib_inline.backend_inline" if inline else "Agg"
    os.environ.setdefault("MPLBACKEND", backend)
