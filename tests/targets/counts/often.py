"""Calls that are too many to be counted all; how many there are is known.

usage: often.py WHAT
"""

import sys


def leaf(x):
    return x + 1


def straight(n):
    total = 0
    for i in range(n):
        total += i
    return total


def some(n):
    x = 0
    for _ in range(n):
        x = leaf(x)  # some
    return x


def others(n):
    x = 0
    for _ in range(n):
        x = leaf(x)  # others
        x += sum(range(20))
    return x


def inner(n):
    for i in range(n):
        leaf(i)  # inner


def middle(n):
    for _ in range(n):
        inner(20)  # middle


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)  # fib


def callers():
    for _ in range(40):
        some(60000)
        others(20000)


def alone():
    for i in range(40):
        for _ in range(50000):
            leaf(i)  # alone
        straight(100000)


def pair(n):
    for i in range(n):
        leaf(leaf(i))  # pair


def pairs():
    for _ in range(40):
        pair(25000)


def chain():
    for _ in range(60):
        middle(1500)


def phases():
    for _ in range(20):
        some(80000)
    for _ in range(40):
        straight(200000)
    for _ in range(20):
        others(30000)


def recursion():
    fib(29)


globals()[sys.argv[1]]()
