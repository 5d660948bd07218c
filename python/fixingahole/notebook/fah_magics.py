"""IPython's magics and shell escapes as Python, for Pythons without IPython.

Every line stays the line that it was. What is not known here is named, with its line.
"""

import ast
import contextlib
import re
import textwrap

import fah_cells

HELPERS = "__fah__"  # the name of fah_helpers.Helpers in the cells' module

LEFT_OUT = {
    "alias_magic", "autoawait", "autoreload", "colors", "config", "load_ext", "precision", "reload_ext",
    "unload_ext", "xmode",
}  # fmt: skip
COMMANDS = {"cat", "cp", "ls", "mkdir", "mv", "rm", "rmdir"}  # IPython has them as aliases
SCRIPTS = {"bash", "perl", "python", "python3", "ruby", "sh"}
SHOWN = {"HTML", "html", "javascript", "js", "latex", "markdown", "svg"}  # a terminal shows none
BARE = {"cd", "pip"}  # without the %, where that is no Python

ESCAPE = re.compile(r"(\s*)(%|!!|!|\?)(.*)", re.S)
ASSIGNED = re.compile(r"(\s*[^\s=()#'\"][^=()#'\"]*=\s*)(%|!)(?!=)(.*)", re.S)
HELP = re.compile(r"%{0,2}[^\W\d][\w.*]*(?:\[-?\d+\][\w.*]*)*\?{1,2}\s*$|[\w.]*\*[\w.*]*\?\s*$")
PROMPTS = [  # what shows that a cell was copied with them, and what to take off each line
    (re.compile(r"\s*>>>"), re.compile(r"[ \t]*(?:>>>|\.\.\.)[ \t]?")),
    (re.compile(r"\s*In \[\d+\]:"), re.compile(r"[ \t]*(?:In \[\d+\]|\.{3,}):[ \t]?")),
]
TIMEIT_OPTIONS = re.compile(r"(?:-[nrtp]\s*\d+\s+|-[tcqov]+\s+)*")


class Unknown(Exception):
    def __init__(self, line, what):
        Exception.__init__(self, what)
        self.line, self.what = line, what


class Plan:
    """A cell as Python."""

    def __init__(self, source, magic=None, left_out=()):
        self.source = source
        self.magic = magic  # (name, arguments) of a %%magic around all of it
        self.left_out = list(left_out)  # (line, text)

    @property
    def shows(self):
        """Is the value of its last expression shown, once the magic is done?"""
        return self.magic is None or self.magic[0] == "time"

    def around(self, helpers, space):
        """The magic as a context to run the source in."""
        if self.magic is None:
            return contextlib.nullcontext()
        if self.magic[0] == "capture":
            return helpers.capturing(self.magic[1], space)
        return helpers.timing()


def call(method, *arguments):
    return "%s.%s(%s)" % (HELPERS, method, ", ".join(map(repr, arguments)))


def unwrapped(source):
    """Without the indentation of all of it, and without the prompts of a session that it was copied from."""
    source = textwrap.dedent(source)
    for first, each in PROMPTS:
        lines = fah_cells.lines_of(source)
        if any(first.match(line) for line in lines):
            source = "".join(each.sub("", line, 1) if each.match(line) else line for line in lines)
    return source


def translate(source):
    """A Plan; Unknown where the cell needs what only IPython has."""
    lines = fah_cells.lines_of(source)
    first = next((i for i, line in enumerate(lines) if line.strip()), 0)
    if lines and lines[first].startswith("%%"):
        return cell_magic(lines, first)
    out, left_out = escapes(lines)
    return Plan("".join(out), None, left_out)


def cell_magic(lines, first):
    name, _, arguments = lines[first][2:].strip().partition(" ")
    body = lines[first + 1 :]
    ending = "\n" * len(body)
    blank = ["\n"] * (first + 1)
    text = "".join(body)
    if name in ("time", "timeit", "capture"):
        if name == "timeit":  # behind its options stands a set-up
            blank[first] = TIMEIT_OPTIONS.sub("", arguments + " ", 1).strip() + "\n"
        inner, left_out = escapes(fah_cells.lines_of(unwrapped(text)), first + 2)
        return Plan("".join(blank + inner), (name, arguments), left_out)
    if name in SCRIPTS:
        made = call("script", (name + " " + arguments).strip(), text)
    elif name == "script":
        made = call("script", arguments, text)
    elif name in ("writefile", "file"):
        made = call("write_file", arguments, text)
    elif name in SHOWN:
        made = ""
    else:
        raise Unknown(first + 1, "%%" + name)
    return Plan("\n" * first + made + ending)


def escapes(lines, first=1):
    """The lines with each escape at the start of a statement translated; and what was left out.

    first: the number of the first of them.
    """
    out, left_out = [], []
    at = 0
    while at < len(lines):
        end = at + 1
        if starts_escape(lines[at]):
            while end < len(lines) and lines[end - 1].rstrip("\n").endswith("\\"):
                end += 1
            text = " ".join(line.rstrip("\n").rstrip("\\") for line in lines[at:end])
            made, ignored = escape(text, at + first)
            if ignored:
                left_out.append((at + first, ignored))
            out.append(made + "\n" * (end - at))
        else:
            state = Open()
            state.take(lines[at])
            while end < len(lines) and state.more():
                state.take(lines[end])
                end += 1
            help_for = asked_about(lines[at:end])
            if help_for:  # it takes all of the statement's lines, also what stands before it
                left_out.append((end - 1 + first, help_for))
                out.append(indent_of(lines[at]) + "pass" + "\n" * (end - at))
            else:
                out += lines[at:end]
        at = end
    return out, left_out


def starts_escape(line):
    if ESCAPE.match(line) or ASSIGNED.match(line):
        return True
    word = line.split(None, 1)
    return len(word) == 2 and word[0] in BARE and not re.match(r"[=.(\[,:]", word[1])


def asked_about(lines):
    """name? or name?? at the end of a statement; None: there is none, or it is in a string or comment."""
    found = HELP.search(lines[-1])
    if not found:
        return None
    state = Open()
    for line in lines[:-1] + [lines[-1][: found.start()]]:
        state.take(line)
    return None if state.quote or state.comment else found.group().strip()


def escape(text, line):
    """(Python for one escape, the text where nothing is done for it)."""
    found = ASSIGNED.match(text)
    if found and not ESCAPE.match(text):
        target, kind, rest = found.groups()
        return target + (call("lines", rest) if kind == "!" else value_of(rest, line)), None
    found = ESCAPE.match(text)
    if not found:
        return indent_of(text) + value_of(text.strip(), line), None
    indent, kind, rest = found.groups()
    if kind == "!!":
        return indent + call("lines", rest), None
    if kind == "!":
        return indent + call("system", rest), None
    if kind == "?" or HELP.fullmatch(text.strip()):
        return indent + "pass", text.strip()
    if rest.split(None, 1)[:1] and rest.split(None, 1)[0] in LEFT_OUT:
        return indent + "pass", text.strip()
    return indent + value_of(rest, line), None


def indent_of(text):
    return text[: len(text) - len(text.lstrip())]


def value_of(text, line):
    """Python for a line magic, without its %."""
    name, _, rest = text.strip().partition(" ")
    rest = rest.strip()
    if name in ("time", "timeit"):
        if name == "timeit":
            rest = TIMEIT_OPTIONS.sub("", rest, 1)
        return timed(rest, name == "time")
    if name in ("cd", "matplotlib", "pip"):
        return call(name, rest)
    if name in ("env", "set_env"):
        return call("env", rest)
    if name == "pwd":
        return call("pwd")
    if name in ("sx", "system"):
        return call("lines", rest)
    if name in COMMANDS:
        return call("system", text.strip())
    raise Unknown(line, "%" + name)


def timed(statement, with_value):
    if is_python(statement, "eval"):
        made = "%s.timed(%s.clock(), (%s))" % (HELPERS, HELPERS, statement)
        return made if with_value else "[%s] and None" % made
    made = "with %s.timing(): %s" % (HELPERS, statement)
    return made if is_python(made, "exec") else statement


def is_python(text, mode):
    try:
        compile(text, "<magic>", mode, ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, True)
    except (SyntaxError, ValueError):
        return False
    return True


class Open:
    """What of a statement is still open at the end of a line: brackets, a long string, a backslash."""

    QUOTES = re.compile(r"'''|\"\"\"|'|\"")

    def __init__(self):
        self.depth = 0
        self.quote = None
        self.backslash = False
        self.comment = False  # the last line has one

    def more(self):
        return self.depth > 0 or self.quote is not None or self.backslash

    def take(self, line):
        self.backslash = self.comment = False
        at = 0
        while at < len(line):
            if line[at] == "\\":
                self.backslash = self.quote is None and not line[at + 1 :].strip("\r\n")
                at += 2
            elif self.quote:
                if line.startswith(self.quote, at):
                    at += len(self.quote)
                    self.quote = None
                else:
                    at += 1
            elif line[at] == "#":
                self.comment = True
                break
            else:
                found = self.QUOTES.match(line, at)
                if found:
                    self.quote = found.group()
                    at += len(self.quote)
                else:
                    self.depth += (line[at] in "([{") - (line[at] in ")]}")
                    at += 1
        if self.quote and len(self.quote) == 1 and not line.rstrip("\r\n").endswith("\\"):
            self.quote = None  # it did not end: no Python, whatever comes
