"""Calls among functions of Python alone: no C function is called, so none of it is native."""

import clocks


def leaf(x):
    return x


class Made:
    def __init__(self, value):
        self.value = value

    def get(self):
        return self.value


class Small:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


def taking(a, b=2, *rest, c=3, **named):
    return a


def functions():
    i = 0
    while i < 12000:
        leaf(i)
        i += 1


def methods():
    made, i = Made(1), 0
    while i < 12000:
        made.get()
        i += 1


def bound():
    get, i = Made(1).get, 0
    while i < 12000:
        get()
        i += 1


def makes():
    i = 0
    while i < 6000:
        Made(i).get()
        Small(i)
        i += 1


def keywords():
    i = 0
    while i < 8000:
        taking(i, c=i)
        i += 1


def many():
    i, args, named = 0, (1, 2), {"c": 1}
    while i < 6000:
        taking(*args)
        taking(i, **named)
        i += 1


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def recursion():
    return fib(17)


def turn():
    clocks.timed(functions)
    clocks.timed(methods)
    clocks.timed(bound)
    clocks.timed(makes)
    clocks.timed(keywords)
    clocks.timed(many)
    clocks.timed(recursion)


clocks.unit("functions", ["leaf"])
clocks.unit("methods", ["Made.get"])
clocks.unit("keywords", ["taking"])
clocks.unit("recursion", ["fib"])
clocks.rounds(turn)
clocks.say(shared=True, python=list(clocks.units))
