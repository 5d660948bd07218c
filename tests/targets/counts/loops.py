"""Loops that begin once and call a function too often to be counted; how often is known.

usage: loops.py WHAT...
"""

import sys
import threading


def leaf(x):
    return x + 1


def nothing(x):
    pass


def other(x):
    return x + 2


def values(n):
    for i in range(n):
        yield i


def single():
    for i in range(8000000):
        leaf(i)  # single


def empty():
    for i in range(12000000):
        nothing(i)  # empty


def nested():
    for _ in range(8000):
        for i in range(1000):
            leaf(i)  # nested


def threefold():
    for _ in range(80):
        for _ in range(1000):
            for i in range(100):
                leaf(i)  # threefold


def growing():
    for n in range(4000):
        for i in range(n):
            leaf(i)  # growing


def a_list():
    it = list(range(400000))
    for _ in range(20):
        for i in it:
            leaf(i)  # a_list


def a_dict():
    it = dict.fromkeys(range(800000))
    for _ in range(10):
        for i, _none in it.items():
            leaf(i)  # a_dict


def comprehension():
    return len([leaf(i) for i in range(8000000)])  # comprehension


def generator():
    for i in values(8000000):
        leaf(i)  # generator


def numbered():
    for _, i in enumerate(zip(range(8000000), range(8000000))):
        leaf(1)  # numbered


def mapped():
    for _ in map(leaf, range(8000000)):  # mapped
        pass


def one_in_three():
    for i in range(12000000):
        if i % 3:
            other(i)
        else:
            leaf(i)  # one_in_three


def twice():
    for _ in range(2):
        through(4000000)
        sum(range(20000000))  # between them it does not call


def through(n):
    for i in range(n):
        leaf(i)  # twice


# What follows deceives: the iterator is another one at the same place; the loop goes on and calls no more.
def again():
    it = list(range(100000))
    i = 0
    while i < 80:
        for x in it:
            leaf(x)  # again
        i += 1


def threads():
    both = [threading.Thread(target=in_thread) for _ in range(2)]
    for it in both:
        it.start()
    for it in both:
        it.join()


def in_thread():
    for i in range(4000000):
        leaf(i)  # threads


def ceases():
    for i in range(20000000):
        if i < 4000000:
            leaf(i)  # ceases
        else:
            i + 1
            i + 2


for name in sys.argv[1:]:
    globals()[name]()
