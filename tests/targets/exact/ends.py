"""Where cProfile shows something else (doc/calls.md): what is called at the end, and functions of one place and name;
and sys.exit deep inside."""

import atexit
import sys


def leaf():
    return 1


def at_end():
    for _ in range(5):
        leaf()


class Late:
    def __del__(self):
        self.leaf()


def deep(n):
    leaf()
    if n == 0:
        sys.exit(3)
    deep(n - 1)


atexit.register(at_end)
sys.late = Late()  # a module's that outlives this one: the interpreter's own end takes it away
Late.leaf = staticmethod(leaf)
twins = [lambda: 1, lambda: 2]
for _ in range(3):
    twins[0]()
for _ in range(4):
    twins[1]()
deep(6)
