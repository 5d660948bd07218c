"""Frames entered and left in the ways that a sampler may have to drop: awaits, generators, exceptions, stacks
of C and Python in turns. What is dropped is most of one or two of them; beside them, code that is never."""

import functools
import types

import clocks


@types.coroutine
def pause():
    yield 1


async def leaf(n):
    for _ in range(n):
        await pause()
    return n


async def middle(n):
    return await leaf(n) + await leaf(n)


def awaits(n):
    """To the end, or half-way and closed, or thrown into."""
    for i in range(n):
        coro = middle(3)
        try:
            for _ in range(7 if i % 3 == 0 else 2):
                coro.send(None)
            if i % 3 == 1:
                coro.close()
            else:
                coro.throw(KeyError("thrown"))
        except (StopIteration, KeyError):
            pass


def numbers(n):
    for i in range(n):
        yield i


def through(n):
    yield from numbers(n)


def yields(n):
    x = 0
    for _ in range(n):
        for i in through(5):
            x += i
    return x


def fails(n):
    if not n:
        raise KeyError(n)
    fails(n - 1)


def raises(n):
    for _ in range(n):
        try:
            fails(4)
        except KeyError:
            pass


def reenters(n):
    for _ in range(n):
        sorted(map(lambda x: -x, range(6)), key=lambda x: x)
        functools.reduce(lambda a, b: a + b, range(6))


def straight(n):
    x = 0
    for i in range(n):
        x += i
    return x


def turn():
    clocks.timed(awaits, 700)
    clocks.timed(yields, 2500)
    clocks.timed(raises, 1200)
    clocks.timed(reenters, 600)
    clocks.timed(straight, 30000)


clocks.unit("awaits", ["leaf", "middle", "pause"])
clocks.unit("yields", ["numbers", "through"])
clocks.unit("raises", ["fails"])
clocks.rounds(turn)
clocks.say()
