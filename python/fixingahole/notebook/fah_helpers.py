"""What magics and shell escapes do at run time, for Pythons without IPython.

Cells call these (fah_magics writes the calls), so their time is the line's that called.
"""

import contextlib
import os
import re
import subprocess
import sys
import time

EXPANDED = re.compile(r"\{([^{}]+)\}|\$(\$?[\w.]+)")


def seconds(value):
    for limit, factor, unit in ((1e-6, 1e9, "ns"), (1e-3, 1e6, "µs"), (1, 1e3, "ms")):
        if value < limit:
            return "%.3g %s" % (value * factor, unit)
    return "%.3g s" % value


class Captured:
    """Of %%capture: the texts, as IPython's object has them."""

    def __init__(self):
        import io

        self.out, self.err = io.StringIO(), io.StringIO()

    stdout = property(lambda self: self.out.getvalue())
    stderr = property(lambda self: self.err.getvalue())

    def show(self):
        sys.stdout.write(self.stdout)
        sys.stderr.write(self.stderr)

    __call__ = show

    def __str__(self):
        return self.stdout


class SList(list):
    """Of `x = !command`: its lines, with what IPython's list of that name has besides."""

    l = list = property(lambda self: self)
    n = nlstr = property("\n".join)
    s = spstr = property(" ".join)

    @property
    def p(self):
        import pathlib

        return [pathlib.Path(line) for line in self if os.path.exists(line)]

    paths = p

    def grep(self, pattern, prune=False, field=None):
        """Lines that match; a function may stand for the pattern, prune takes the others."""
        if isinstance(pattern, str):
            pattern = re.compile(pattern, re.I).search
        return SList(line for line in self if bool(pattern(word(line, field))) != bool(prune))

    def fields(self, *numbers):
        """The words with these numbers of each line, joined; without numbers the words."""
        if not numbers:
            return [line.split() for line in self]
        rows = ([word(line, number) for number in numbers] for line in self)
        return SList(filter(None, (" ".join(filter(None, row)) for row in rows)))

    def sort(self, field=None, nums=False):
        """A sorted copy: by a word, by the digits in it as one number."""

        def key(line):
            text = word(line, field)
            return int("".join(filter(str.isdigit, text)) or 0) if nums else text, line

        return SList(sorted(self, key=key))


def word(line, number):
    """The line's word with that number; None: all of it."""
    if number is None:
        return line
    return "".join(line.split()[number : number + 1 or None])


class Helpers:
    def __init__(self):
        self.before = None  # the folder that %cd left

    def __repr__(self):
        return "<magics without IPython>"

    # time

    def clock(self):
        return time.perf_counter(), os.times()

    def timed(self, clock, value):
        """Evaluated between the two: %time of an expression."""
        self.say_time(clock)
        return value

    @contextlib.contextmanager
    def timing(self):
        clock = self.clock()
        try:
            yield
        finally:
            self.say_time(clock)

    def say_time(self, clock):
        wall = time.perf_counter() - clock[0]
        now, then = os.times(), clock[1]
        user, system = now.user - then.user, now.system - then.system
        print(
            "CPU times: user %s, sys: %s, total: %s\nWall time: %s"
            % tuple(map(seconds, (user, system, user + system, wall)))
        )

    # output

    @contextlib.contextmanager
    def capturing(self, arguments, space):
        captured = Captured()
        words = arguments.split()
        with contextlib.ExitStack() as stack:
            if "--no-stdout" not in words:
                stack.enter_context(contextlib.redirect_stdout(captured.out))
            if "--no-stderr" not in words:
                stack.enter_context(contextlib.redirect_stderr(captured.err))
            try:
                yield
            finally:
                for name in words:
                    if not name.startswith("-"):
                        space[name] = captured

    # programs

    def expand(self, command):
        """{expression} and $name of whoever called; all as it is where one of them fails: as IPython."""
        caller = sys._getframe(2)

        def evaluate(found):
            text = found.group(1) or found.group(2)
            if text.startswith("$"):
                return text  # $$name: the shell's own
            return str(eval(text, caller.f_globals, caller.f_locals))

        try:
            return EXPANDED.sub(evaluate, command)
        except Exception:
            return command

    def system(self, command):
        command = self.expand(command)
        sys.stdout.flush()
        sys.stderr.flush()
        status = subprocess.call(command, shell=True)
        sys.modules["__main__"].__dict__["_exit_code"] = status

    def lines(self, command):
        command = self.expand(command)
        sys.stdout.flush()
        found = subprocess.run(
            command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        return SList(found.stdout.decode(errors="replace").splitlines())

    def script(self, words, text):
        import shlex

        sys.stdout.flush()
        sys.stderr.flush()
        subprocess.run(shlex.split(words), input=text.encode(), check=True)

    def pip(self, arguments):
        import shlex

        words = shlex.split(self.expand(arguments))
        sys.stdout.flush()
        subprocess.call([sys.executable, "-m", "pip"] + words)

    # folders, variables, files

    def pwd(self):
        return os.getcwd()

    def cd(self, folder):
        folder = self.expand(folder).strip().strip("'\"")
        if folder == "-" and self.before:
            folder = self.before
        here = os.getcwd()
        os.chdir(os.path.expanduser(folder or "~"))
        self.before = here
        print(os.getcwd())

    def env(self, text):
        text = self.expand(text).strip()
        if not text:
            return dict(os.environ)
        name, equals, value = text.partition("=")
        if not equals:
            name, space, value = text.partition(" ")
            if not space:
                return os.environ[name]
        os.environ[name.strip()] = value.strip()
        print("env: %s=%s" % (name.strip(), value.strip()))
        return None

    def matplotlib(self, backend):
        """Figures are made but not shown, as far as a terminal can show them."""
        found = sys.modules.get("matplotlib")
        if found is not None and backend.strip() in ("", "inline", "notebook", "widget", "agg"):
            found.use("Agg")

    def write_file(self, arguments, text):
        words = arguments.split()
        append = "-a" in words or "--append" in words
        name = os.path.expanduser([word for word in words if not word.startswith("-")][-1])
        verb = "Appending to" if append else "Overwriting" if os.path.exists(name) else "Writing"
        print("%s %s" % (verb, name))
        with open(name, "a" if append else "w", encoding="utf-8") as file:
            file.write(text)
