"""RecursionError in every shape, caught, again and again. Ends with status 15."""
import functools
import sys

from victim import Sum, rounds, seconds


def plain_a(n):  # from: plain_a, over_a
    return plain_a(n + 1)


def over_a():  # from: main
    try:
        plain_a(0)
    except RecursionError:
        return "plain"


class Attr:  # from: <module>
    def __getattr__(self, name):  # from: __getattr__, over_b
        return getattr(self, name + "x") if len(name) < 10**6 else 0


def over_b():  # from: main
    try:
        return Attr().x
    except RecursionError:
        return "attr"


class Equal:  # from: <module>
    def __eq__(self, other):  # from: __eq__, over_c
        return [other] == [self]

    def __hash__(self):  # from: nothing
        return 0


def over_c():  # from: main
    try:
        return Equal() == Equal()
    except RecursionError:
        return "equal"


def step_d(acc, x):  # from: mixed_d
    return acc + mixed_d(x)


def mixed_d(n):  # from: step_d, over_d, <lambda>
    return functools.reduce(step_d, map(lambda x: x, (n, n)), 0)  # from: mixed_d


def over_d():  # from: main
    try:
        return mixed_d(1)
    except RecursionError:
        return "mixed"


def over_e():  # from: main
    nest = []
    for _ in range(3000):
        nest = [nest]
    try:
        return len(repr(nest)) > 0
    except RecursionError:
        return "repr"


def gen_f(n):  # from: gen_f, over_f
    yield from gen_f(n + 1)


def over_f():  # from: main
    try:
        return list(gen_f(0))
    except RecursionError:
        return "generator"


def clean_g(n):  # from: clean_g, over_g
    """The handler runs at the very limit, and fails again."""
    try:
        return clean_g(n + 1)
    finally:
        len("x")


def over_g():  # from: main
    try:
        clean_g(0)
    except RecursionError:
        return "finally"


def main():  # from: <module>
    total = Sum()
    sys.setrecursionlimit(400)
    for _ in rounds(seconds()):
        for part in (over_a, over_b, over_c, over_d, over_e, over_f, over_g):
            total.add(part.__name__, part())
    print(total.line())
    return 15


if __name__ == "__main__":
    sys.exit(main())
