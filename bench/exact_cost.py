"""What one call, one resume, one line takes: ns of a turn of a loop, the least of many, as JSON.

A tool that watches this program adds to it; bench/exact compares.
"""

import json
import sys
import time

N = 20000
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 25

try:
    profile  # of those who profile lines
except NameError:

    def profile(function):
        return function


def leaf(x):
    return x


class Thing:
    def method(self, x):
        return x


def numbers(n):
    for i in range(n):
        yield i


def empty():
    for i in range(N):
        pass


def python_call():
    for i in range(N):
        leaf(i)


def method_call():
    thing = Thing()
    for i in range(N):
        thing.method(i)


def c_call():
    f = abs
    for i in range(N):
        f(i)


def resume():
    for i in numbers(N):
        pass


@profile
def chosen_lines():
    x = 0
    for i in range(N):
        x = i
        x = i
        x = i
    return x


def other_lines():
    x = 0
    for i in range(N):
        x = i
        x = i
        x = i
    return x


KINDS = {
    "Python function": (python_call, 1),
    "method": (method_call, 1),
    "C function": (c_call, 1),
    "generator": (resume, 1),
    "line": (chosen_lines, 4),
    "line not chosen": (other_lines, 4),
    "empty": (empty, 1),
}


def least(function):
    best = None
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        function()
        took = time.perf_counter() - begun
        best = took if best is None or took < best else best
    return best


found = {name: 1e9 * least(function) / N / parts for name, (function, parts) in KINDS.items()}
print("COST " + json.dumps(found))
