"""greenlets.py SECONDS: two greenlets that change places inside stacks of different depth; neither ever
calls the other."""

import hashlib
import sys
import time

import greenlet

TURNS = 50


def work(depth):
    if depth:
        return work(depth - 1)
    for i in range(TURNS):
        hashlib.sha256(b"x" * 2000).digest()
        greenlet.getcurrent().parent.switch(i)


def shallow():
    return work(5)


def deep():
    return work(40)


end = time.thread_time() + float(sys.argv[1])
while True:
    one, other = greenlet.greenlet(shallow), greenlet.greenlet(deep)
    turns = [(one.switch(), other.switch()) for _ in range(TURNS)]
    assert turns == [(i, i) for i in range(TURNS)], turns
    if time.thread_time() >= end:
        break
print(len(turns))
