"""What every victim shares: how long to run, and the last line it prints.

Every function of a victim says at the end of its `def` (lambda, class) line who may call it:

    def key_a(x):  # from: sort_a

A generator or coroutine runs when it is resumed and, from 3.11 on, when it is made: both callers are
named; one that is left in a local variable is closed by the caller of the function that had it. Names are those of functions of the same file; `name@file.py` is one elsewhere, `root` is "nobody,
it is the outermost frame", `any` is "anyone" (finalisers and signal handlers run anywhere).
tests/e2e/support/stacks.py holds every recorded stack against these comments.
"""
import sys
import time
import zlib


def seconds():  # from: main@*
    """How long to go on, from the command line; 0 is one round."""
    return float(sys.argv[1]) if len(sys.argv) > 1 else 0.0


def rounds(limit):  # from: main@*
    """0, 1, 2 ... until the time is up; at least one round."""
    end = time.monotonic() + limit
    n = 0
    while True:
        yield n
        n += 1
        if time.monotonic() >= end:
            return


class Sum:  # from: <module>
    """Results that must be the same in every round: so the last line tells nothing of the time."""

    def __init__(self):  # from: main@*
        self.first = {}

    def add(self, name, value):  # from: main@*
        text = repr(value)
        if self.first.setdefault(name, text) != text:
            print("CHANGED %s: %s, was %s" % (name, text, self.first[name]))
            sys.stdout.flush()
            raise SystemExit(99)

    def line(self):  # from: main@*
        parts = sorted(self.first.items())
        return "checksum %08x of %d" % (zlib.crc32(repr(parts).encode()), len(parts))
