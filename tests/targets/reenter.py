"""C calls Python calls C: every way in which a built-in calls back. Ends with status 0.

Frames live a microsecond here, and the C frame between two evaluation loops is often half made
when the sample comes.
"""
import bisect
import functools
import itertools
import re
import sys

from victim import Sum, rounds, seconds

try:
    import ctypes
except ImportError:  # a build without libffi: the rest still runs
    ctypes = None

DATA = [(i * 7919) % 1009 for i in range(300)]  # from: <module>


def double_a(x):  # from: sort_a, <lambda>
    return x * 2


def key_a(x):  # from: sort_a
    return -x


def sort_a():  # from: main
    return sum(sorted(map(lambda x: double_a(x), DATA), key=key_a)[:10])  # from: sort_a


def key_b(x):  # from: sort_b
    return (x % 10, half_b(x))


def half_b(x):  # from: key_b
    return x // 2


def sort_b():  # from: main
    return sorted(map(lambda x: x + 1, DATA), key=key_b)[:3]  # from: sort_b


def step_c(acc, x):  # from: reduce_c
    return (acc * 31 + x) & 0xFFFFFF


def reduce_c():  # from: main
    return functools.reduce(step_c, DATA, 1)


def inner_d(acc, x):  # from: outer_d
    return acc + x


def outer_d(acc, x):  # from: reduce_d
    return functools.reduce(inner_d, (acc, x, 1), 0)


def reduce_d():  # from: main
    return functools.reduce(outer_d, DATA, 0)


class Less:  # from: <module>
    __slots__ = ("n",)

    def __init__(self, n):  # from: compare_e, <listcomp>
        self.n = n

    def __lt__(self, other):  # from: compare_e
        return lower_e(self, other)


def lower_e(a, b):  # from: __lt__
    return a.n < b.n


def compare_e():  # from: main
    items = [Less(n) for n in DATA[:80]]  # from: compare_e
    items.sort()
    return items[0].n, bisect.bisect_left(items, items[40]), min(items).n, max(items).n


class Key:  # from: <module>
    def __init__(self, n):  # from: hash_f, <listcomp>
        self.n = n

    def __hash__(self):  # from: hash_f
        return self.n % 7

    def __eq__(self, other):  # from: hash_f
        return same_f(self.n, other.n)


def same_f(a, b):  # from: __eq__
    return a == b


def hash_f():  # from: main
    keys = [Key(n % 40) for n in DATA[:120]]  # from: hash_f
    return len(set(keys)), len(dict.fromkeys(keys)), keys.index(keys[5])


def swap_g(match):  # from: sub@re.py, sub@__init__.py
    return upper_g(match.group(0))


def upper_g(text):  # from: swap_g
    return text.upper()


def sub_g():  # from: main
    return len(re.sub("[aeiou]", swap_g, "the quick brown fox jumps over the lazy dog " * 4))


class Odd:  # from: <module>
    def __getattr__(self, name):  # from: attr_h
        return len(name)

    def __iter__(self):  # from: attr_h
        return iter((1, 2, 3))

    def __contains__(self, x):  # from: attr_h
        return x == 2

    def __len__(self):  # from: attr_h
        return 5

    def __index__(self):  # from: attr_h
        return 2

    def __call__(self, x):  # from: attr_h
        return x + 1


def attr_h():  # from: main
    odd = Odd()
    total = 0
    for _ in range(30):
        total += odd.absent + sum(odd) + (2 in odd) + len(odd) + DATA[odd] + sum(map(odd, (1, 2)))
    return total


def keep_i(x):  # from: filter_i
    return x & 1


def filter_i():  # from: main
    return sum(itertools.takewhile(small_i, filter(keep_i, DATA)))


def small_i(x):  # from: filter_i
    return x < 1000


def order_j(a, b):  # from: qsort_j
    return a[0] - b[0]


def qsort_j():  # from: main
    if ctypes is None:
        return 0
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
    array = (ctypes.c_int * 40)(*DATA[:40])
    callback = compare(order_j)
    ctypes.CDLL(None).qsort(array, 40, ctypes.sizeof(ctypes.c_int), callback)
    return array[0], array[39]


def main():  # from: <module>
    total = Sum()
    parts = [sort_a, sort_b, reduce_c, reduce_d, compare_e, hash_f, sub_g, attr_h, filter_i, qsort_j]
    for _ in rounds(seconds()):
        for part in parts:
            total.add(part.__name__, part())
    print(total.line())
    return 0


if __name__ == "__main__":
    sys.exit(main())
