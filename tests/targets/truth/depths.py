"""The same kind of work below 1, 30 and 700 frames: a deep stack is neither dearer nor lost."""

import clocks


def work(n):
    total = 0
    for i in range(n):
        total += i & 7
    return total


def down(depth, n):
    return work(n) if depth == 0 else down(depth - 1, n)


def shallow():
    return work(90000)


def middle():
    return down(30, 60000)


def deep():
    return down(700, 150000)


def turn():
    clocks.timed(shallow)
    clocks.timed(middle)
    clocks.timed(deep)


clocks.rounds(turn)
clocks.say(shared=["work", "down"])
