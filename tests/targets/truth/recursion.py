"""Functions that call themselves, also in turns with each other: no share is above what its unit used."""

import clocks


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


def walk(tree):
    return 1 if tree is None else walk(tree[0]) + walk(tree[1])


TREE = None
for _ in range(11):
    TREE = (TREE, TREE)


def fibonacci():
    return fib(19)


def parity():
    return [even(400) for _ in range(60)]


def tree():
    return walk(TREE)


def turn():
    clocks.timed(fibonacci)
    clocks.timed(parity)
    clocks.timed(tree)


clocks.unit("fibonacci", ["fib"])
clocks.unit("parity", ["even", "odd"])
clocks.unit("tree", ["walk"])
clocks.rounds(turn)
clocks.say(python=["fibonacci", "tree"])  # parity is so deep that the kernel gives stacks and takes them
