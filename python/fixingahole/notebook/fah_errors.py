"""An exception as Jupyter shows it, for Pythons without IPython."""

import inspect
import linecache
import sys
import textwrap
import traceback

WIDTH = 75
NUMBER = 7  # columns of a line number, with the arrow
AROUND = 2  # lines shown before and after the one at fault


def show(error, cells):
    """The traceback of an exception, from its first frame in a cell on, to stderr."""
    numbers = {cell.name: cell.number for cell in cells}
    sys.stdout.flush()
    lines = lines_of(error, numbers)
    if not isinstance(error, SyntaxError) or error.filename not in numbers:
        lines.insert(0, "-" * WIDTH)
    sys.stderr.write("\n".join(lines) + "\n")
    sys.stderr.flush()


def lines_of(error, numbers, seen=()):
    if isinstance(error, SyntaxError) and error.filename in numbers:
        return syntax(error, numbers)
    lines = []
    before, between = earlier(error)
    if before is not None and id(before) not in seen:
        lines += lines_of(before, numbers, seen + (id(error),)) + ["", between, ""]
    head = "Traceback (most recent call last)"
    name = type(error).__name__
    lines.append(name + head.rjust(max(WIDTH - len(name), len(head) + 1)))
    for frame, line in frames_of(error, numbers):
        lines += describe(frame, line, numbers) + [""]
    if hasattr(error, "exceptions") and hasattr(error, "derive"):  # a group: with its members
        text = traceback.format_exception(type(error), error, None, chain=False)
    else:
        text = traceback.format_exception_only(type(error), error)
    return lines + "".join(text).splitlines()


def earlier(error):
    if error.__cause__ is not None:
        return (
            error.__cause__,
            "The above exception was the direct cause of the following exception:",
        )
    if error.__context__ is not None and not error.__suppress_context__:
        return (
            error.__context__,
            "During handling of the above exception, another exception occurred:",
        )
    return None, None


def frames_of(error, numbers):
    """Without those of whoever called the cell."""
    found = list(traceback.walk_tb(error.__traceback__))
    for i, (frame, _) in enumerate(found):
        if frame.f_code.co_filename in numbers:
            return found[i:]
    return found


def arguments(code):
    plain = code.co_argcount + code.co_kwonlyargcount
    names = list(code.co_varnames[:plain])
    if code.co_flags & inspect.CO_VARARGS:
        names.append("*" + code.co_varnames[plain])
        plain += 1
    if code.co_flags & inspect.CO_VARKEYWORDS:
        names.append("**" + code.co_varnames[plain])
    return names


def describe(frame, line, numbers):
    code = frame.f_code
    if code.co_filename in numbers:
        place = "Cell In[%d], line %d" % (numbers[code.co_filename], line)
    else:
        place = "File %s:%d" % (code.co_filename, line)
    if code.co_name != "<module>":
        place += ", in %s(%s)" % (code.co_name, ", ".join(arguments(code)))
    first = max(1, line - AROUND)
    texts = [
        linecache.getline(code.co_filename, number, frame.f_globals)
        for number in range(first, line + AROUND + 1)
    ]
    lines = [place]
    for number, text in enumerate(textwrap.dedent("".join(texts)).splitlines(), first):
        if text.strip() or len(lines) > 1:
            mark = str(number).rjust(NUMBER)
            if number == line:
                mark = ("> %d" % number).rjust(NUMBER, "-")
            lines.append(mark + " " + text.rstrip())
    return lines


def syntax(error, numbers):
    lines = "".join(traceback.format_exception_only(type(error), error)).splitlines()
    lines[0] = "  Cell In[%d], line %d" % (numbers[error.filename], error.lineno or 1)
    return lines
