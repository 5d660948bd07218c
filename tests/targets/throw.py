"""Exceptions thrown through C frames, in every direction. Ends with status 11."""
import functools
import re
import sys

from victim import Sum, rounds, seconds


class Stop(Exception):  # from: <module>
    pass


def bad_key(x):  # from: through_sort
    if x == 17:
        raise_key(x)
    return x


def raise_key(x):  # from: bad_key
    raise Stop(x)


def through_sort():  # from: main
    try:
        sorted(range(40), key=bad_key)
    except Stop as error:
        return error.args


def bad_step(acc, x):  # from: level_two
    if x > 20:
        raise Stop(acc)
    return acc + x


def level_two(x):  # from: through_map
    return functools.reduce(bad_step, range(x), 0)


def through_map():  # from: main
    seen = []
    try:
        for value in map(level_two, range(10, 40)):
            seen.append(value)
    except Stop as error:
        seen.append(error.args[0])
    return seen


def bad_sub(match):  # from: sub@re.py, sub@__init__.py
    try:
        return inner_sub(match)
    finally:
        clean_sub()


def inner_sub(match):  # from: bad_sub
    if match.group() == "x":
        raise Stop("x")
    return "-"


def clean_sub():  # from: bad_sub
    return None


def through_re():  # from: main
    try:
        return re.sub(".", bad_sub, "abcdefghijklmnopqrstuvwxyz")
    except Stop as error:
        return error.args


class Lazy:  # from: <module>
    def __getattr__(self, name):  # from: through_getattr, <listcomp>
        raise AttributeError(name)

    def __getitem__(self, i):  # from: through_iter
        if i > 9:
            raise IndexError(i)
        return i

    def __eq__(self, other):  # from: <lambda>
        raise Stop("eq")

    def __bool__(self):  # from: <lambda>
        raise Stop("bool")


def through_getattr():  # from: main
    lazy = Lazy()
    return [getattr(lazy, "x%d" % i, i) for i in range(30)], hasattr(lazy, "y")  # from: through_getattr


def through_iter():  # from: main
    return sum(Lazy()), list(Lazy())[-1]


def through_eq():  # from: main
    out = []
    for test in (lambda: Lazy() in [1, 2], lambda: any([Lazy()])):  # from: through_eq
        try:
            test()
        except Stop as error:
            out.append(error.args)
    return out


def counter(limit):  # from: through_gen, feed
    try:
        for i in range(limit):
            yield i
    except Stop:
        yield -1
    finally:
        clean_gen()


def clean_gen():  # from: counter
    return None


def feed(limit):  # from: through_gen
    return (yield from counter(limit))


def through_gen():  # from: main
    out = []
    gen = feed(5)
    out.append(next(gen))
    out.append(gen.throw(Stop()))
    gen.close()
    plain = counter(3)
    next(plain)
    plain.close()
    try:
        next(plain)
    except StopIteration:
        out.append("end")
    return out


class Manager:  # from: <module>
    def __enter__(self):  # from: through_with
        return self

    def __exit__(self, kind, value, trace):  # from: through_with
        return kind is Stop


def through_with():  # from: main
    n = 0
    for i in range(30):
        with Manager():
            n += 1
            if i % 2:
                raise Stop(i)
    return n


def chain(depth):  # from: chain, through_chain
    try:
        if depth:
            chain(depth - 1)
        else:
            raise Stop("deep")
    except Stop as error:
        raise Stop(depth) from error


def through_chain():  # from: main
    try:
        chain(25)
    except Stop as error:
        n = 0
        while error is not None:
            n += 1
            error = error.__cause__
        return n


def main():  # from: <module>
    total = Sum()
    parts = [through_sort, through_map, through_re, through_getattr, through_iter, through_eq,
             through_gen, through_with, through_chain]
    for _ in rounds(seconds()):
        for part in parts:
            total.add(part.__name__, part())
    print(total.line())
    return 11


if __name__ == "__main__":
    sys.exit(main())
