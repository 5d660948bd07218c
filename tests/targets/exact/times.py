"""Time that is known: sleeps, in functions and while a generator rests."""

import time


def nap():
    time.sleep(0.1)


def twice():
    nap()
    nap()


def numbers():
    for i in range(2):
        yield i


def rests():
    for _ in numbers():
        time.sleep(0.1)


def recursive(n):
    time.sleep(0.05)
    if n:
        recursive(n - 1)


twice()
rests()
recursive(2)
