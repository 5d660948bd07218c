"""A name that means functions of Python's and of C's in turn, called at one place."""

import builtins


def f(x):
    return 1


def call():
    for _ in range(10):
        f("abc")


call()
call()
f = len
call()


def f(x):  # noqa: F811
    return 2


call()
del f
builtins.f = len
call()
