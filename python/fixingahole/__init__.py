"""Marks for Fixing-A-Hole, a profiler for Python programs.

Nothing here is needed to be profiled, and a program that imports this runs the same without the
profiler. ``for _ in fixingahole.repeat(500, setup=reset): ...`` runs the body 500 times; when the program
is recorded, each iteration's time is, and a report gives their mean, with the first told apart.
"""

import itertools
import os
import sys

__all__ = ["repeat"]

_BEGIN, _END, _OVER = range(3)
_loops = itertools.count(1)
_mark = None  # the profiler's function; False: there is none


def _find_mark():
    """The function that the profiler's library has for us, where that is loaded."""
    try:
        with open("/proc/self/maps", "rb") as maps:
            if not any(b"libfixingahole-agent" in line for line in maps):
                return False
        import ctypes  # only now: a program that is not recorded never loads it

        mark = ctypes.PyDLL(None).fixingahole_mark
    except (ImportError, OSError, AttributeError):
        return False
    mark.argtypes = (ctypes.c_uint, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_char_p)
    mark.restype = None
    return mark


def repeat(times, setup=None):
    """Yield 0 to times - 1, and mark what the loop's body does each time as one iteration.

    setup, if given, is called before each iteration and is not part of it. An iteration that is left by
    break or by an exception is not counted.
    """
    global _mark
    if _mark is None:
        _mark = _find_mark()
    if not _mark:
        return _plain(times, setup)
    caller = sys._getframe(1)
    label = "%s:%d" % (os.path.basename(caller.f_code.co_filename), caller.f_lineno)
    return _marked(times, setup, _mark, next(_loops), label.encode("utf-8", "replace"))


def _plain(times, setup):
    for number in range(times):
        if setup is not None:
            setup()
        yield number


def _marked(times, setup, mark, loop, label):
    try:
        for number in range(times):
            if setup is not None:
                setup()
            mark(_BEGIN, loop, number, label)
            yield number
            mark(_END, loop, number, label)
    finally:
        mark(_OVER, loop, 0, label)
