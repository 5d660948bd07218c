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

# a module's names that go, and come back as a copy of others
names = {}
exec("def g(x):\n    return 1\ndef through():\n    for _ in range(3):\n        g('ab')\n", names)
names["through"]()
others = dict(names, g=len)
names.clear()
names.update(others)
names["through"]()
