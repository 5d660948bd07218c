"""Many tiny calls: functions, methods, built-in functions, lambdas, against straight code."""

import clocks


def leaf(x):
    return x + 1


def functions(n):
    x = 0
    for _ in range(n):
        x = leaf(x)
    return x


class Counter:
    def __init__(self):
        self.value = 0

    def step(self):
        self.value += 1


def methods(n):
    counter = Counter()
    for _ in range(n):
        counter.step()
    return counter.value


def builtins(n):
    x = 0
    for i in range(n):
        x = abs(x) + len("ab")
    return x


def keys(n):
    return sorted(range(n), key=lambda x: -x)


def straight(n):
    x = 0
    for i in range(n):
        x += i
    return x


def turn():
    clocks.timed(functions, 20000)
    clocks.timed(methods, 15000)
    clocks.timed(builtins, 15000)
    clocks.timed(keys, 9000)
    clocks.timed(straight, 20000)


clocks.unit("functions", ["leaf"])
clocks.unit("methods", ["Counter.step"])
clocks.rounds(turn)
clocks.say(python=["functions", "methods", "straight"])
