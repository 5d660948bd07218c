"""Calls of C functions, types and methods of the interpreter's own, by every way in: all of it is native."""

import functools
import operator

import clocks

NUMBERS = list(range(20000))
PAIRS = list(zip(NUMBERS, NUMBERS))
BIG = 7**4000
BYTES = bytes(200000)
DIGITS = str(7**1500)
ARGS = ([0] * 40000,)
find = BYTES.find  # bound


# What they make is freed outside of them: that is the interpreter's own work.
def texts():
    return str(BIG), int(DIGITS)


def makes():
    return list(NUMBERS), tuple(NUMBERS), dict(PAIRS), set(NUMBERS)


def methods():
    return NUMBERS.index(19999), BYTES.count(b"x"), find(b"y")


def functions():
    return sum(NUMBERS), max(NUMBERS), sorted(NUMBERS, reverse=True)


def together():
    return functools.reduce(operator.add, NUMBERS), list(map(abs, NUMBERS)), any(*ARGS)


def objects():
    return functools.partial(sum, NUMBERS)(), NUMBERS.__contains__(-1)


def turn():
    clocks.timed(texts)
    clocks.timed(makes)
    clocks.timed(methods)
    clocks.timed(functions)
    clocks.timed(together)
    clocks.timed(objects)


clocks.rounds(turn)
clocks.say(native=list(clocks.units))
