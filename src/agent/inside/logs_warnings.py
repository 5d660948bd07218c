# logs_warnings.py - what is edited in warnings; see logs.py.

GIVEN, SHOWN = 2, 3  # as in agent/log_hook.c


def edits():
    return [(("_showwarnmsg",), given), (("_showwarnmsg_impl",), shown)]


def given(lines, first, last):
    """To the program's own showwarning(), before it is called."""
    for i in range(first, last):
        if lines[i].lstrip() == "if not callable(sw):":
            lines[i] = "%s or %r @ (%d, sw, msg):" % (lines[i][:-1], MARK, GIVEN)
            return True
    return False


def shown(lines, first, last):
    """Where it is about to be written, and not recorded by catch_warnings()."""
    for i in range(first, last):
        if lines[i].lstrip() == "file = msg.file":
            lines[i] += "; %r @ (%d, msg)" % (MARK, SHOWN)
            return True
    return False


def prepared(lines):
    return lines


def finished(edit, code, last):
    return code
