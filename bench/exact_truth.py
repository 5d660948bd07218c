"""Nine small programs, each of a kind of its own: how much of the whole each takes, by its own clock, as JSON.

One calls nothing; the others do little else. Who watches this program must show the same shares.
"""

import json
import sys
import time

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 6


def leaf(x):
    return x + 1


class Thing:
    def method(self, x):
        return x


def numbers(n):
    for i in range(n):
        yield i


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def no_calls():
    x = 0
    for i in range(400000):
        x += i * 2


def functions():
    x = 0
    for _ in range(100000):
        x = leaf(x)


def methods():
    thing = Thing()
    for i in range(100000):
        thing.method(i)


def of_c():
    f = abs
    for i in range(100000):
        f(i)


def appends():
    for _ in range(100):
        found = []  # short: what large ones take is the kernel's, and never the same
        for _ in range(1000):
            found.append(None)


def resumes():
    for _ in numbers(100000):
        pass


def recursion():
    fib(21)


def callbacks():
    sorted(range(60000), key=lambda x: -x)


def builtins():
    for i in range(30000):
        isinstance(i, int)
        len("abc")
        str(i)


PROGRAMS = [no_calls, functions, methods, of_c, appends, resumes, recursion, callbacks, builtins]


def main():
    found = {program.__name__: 0.0 for program in PROGRAMS}
    for _ in range(ROUNDS):
        for program in PROGRAMS:
            begun = time.perf_counter()
            program()
            found[program.__name__] += time.perf_counter() - begun
    return found


print("TRUTH " + json.dumps(main()))
