"""Calls of every kind. How many there are says cProfile, which counts beside."""

import functools
import sys


def plain(x):
    return x + 1


def raising(n):
    if n:
        raising(n - 1)
    else:
        raise KeyError(n)


def catches():
    for i in range(7):
        try:
            raising(i)
        except KeyError:
            pass


def generator(n):
    for i in range(n):
        got = yield i
        if got:
            len("got")


def generators():
    list(generator(10))
    half = generator(100)
    for _ in range(5):
        next(half)
    half.send(3)
    half.close()
    dropped = generator(3)
    next(dropped)
    del dropped
    never = generator(3)
    del never
    thrown = generator(3)
    next(thrown)
    try:
        thrown.throw(ValueError)
    except ValueError:
        pass


async def coroutine(n):
    if n:
        await coroutine(n - 1)
    return n


class Wait:
    def __await__(self):
        yield self


async def waits():
    await Wait()
    await coroutine(3)


async def agen():
    for i in range(3):
        yield i


async def over_agen():
    return [x async for x in agen()]


def coroutines():
    for make in (waits, over_agen):
        c = make()
        try:
            while True:
                c.send(None)
        except StopIteration:
            pass


def recursion(n):
    return 0 if n == 0 else 1 + recursion(n - 1)


def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


class Thing:
    def __init__(self, x):
        self.x = x

    def __lt__(self, other):
        return self.x < other.x

    @property
    def prop(self):
        return self.x

    @staticmethod
    def static():
        return 1

    @classmethod
    def of_class(cls):
        return cls(2)

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return True

    def __getattr__(self, name):
        return name

    def __iter__(self):
        return iter((1, 2))


def things():
    made = [Thing(i % 5) for i in range(20)]
    sorted(made)
    sum(t.prop for t in made)
    for t in made:
        t.static()
        t.of_class()
        t.nothing
        list(t)
    with Thing(1):
        raise ValueError


def decorated(f):
    @functools.wraps(f)
    def wrapper(*args):
        return f(*args)

    return wrapper


@decorated
def wrapped(x):
    return plain(x)


@functools.lru_cache(maxsize=None)
def cached(n):
    return n if n < 2 else cached(n - 1) + cached(n - 2)


def from_c():
    sorted(range(30), key=plain)
    list(map(plain, range(30)))
    functools.reduce(lambda a, b: a + b, range(30))
    for i in range(9):
        wrapped(i)
    cached(20)
    max([1, 2, 3], key=lambda x: -x)
    "a-b".split("-")
    [].append(1)
    str.upper("x")
    dict.fromkeys("abc")
    for f in (len, plain_len, len, plain_len, str.upper):
        f("abc")  # one place, functions of C's and of Python's
    try:
        int("x")
    except ValueError:
        pass
    try:
        len(3)
    except TypeError:
        pass


def plain_len(x):
    return 3


def made():
    exec("def inner(x):\n    return x\nfor i in range(4):\n    inner(i)\n", {})
    eval("plain(1)")
    f = lambda x: [y for y in (z for z in range(x))]  # noqa: E731
    f(5)


def deep():
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(6000)
    recursion(3000)
    sys.setrecursionlimit(limit)


def main():
    for i in range(100):
        plain(i)
    catches()
    generators()
    coroutines()
    recursion(40)
    even(11)
    things()
    from_c()
    made()
    deep()


main()
