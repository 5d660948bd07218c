"""Generators: plain, a chain of three, delegated, and expressions; each unit pays for what it pulls."""

import clocks


def numbers(n):
    for i in range(n):
        yield i * 3 & 255


def odd_ones(source):
    for x in source:
        if x & 1:
            yield x


def squares(source):
    for x in source:
        yield x * x


def delegated(n):
    yield from numbers(n)


def plain():
    return sum(numbers(40000))


def chained():
    return sum(squares(odd_ones(numbers(25000))))


def delegating():
    return sum(delegated(15000))


def expression():
    return sum(x ^ 1 for x in range(20000))


def turn():
    clocks.timed(plain)
    clocks.timed(chained)
    clocks.timed(delegating)
    clocks.timed(expression)


clocks.rounds(turn)
clocks.say(shared=["numbers", "odd_ones", "squares", "delegated"])
