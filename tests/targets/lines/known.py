"""Each line of its functions says how often it runs: "# 12"; one without a number does not run, or is not
chosen; "# ?" and "# 2|4" depend
on the version.

Runs plain too: then nothing is marked.
"""

import asyncio
import contextlib
import functools
import os
import sys
import threading

try:
    profile
except NameError:

    def profile(thing):
        return thing


@profile
def loop(n):
    total = 0  # 3
    for i in range(n):  # 153
        total += i  # 150
        if i % 3 == 0:  # 150
            total -= 1  # 51
            continue  # 51
        total += 1  # 99
    return total  # 3


@profile
def countdown(n):
    while n:  # 11
        n -= 1  # 10
    return n  # 1


@profile
def fib(n):
    if n < 2:  # 177
        return n  # 89
    return fib(n - 1) + fib(n - 2)  # 88


@profile
def deep(n):
    if n:  # 901
        deep(n - 1)  # 900


@profile
def handled(n):
    try:  # 10
        if n % 2:  # 10
            raise ValueError(n)  # 5
        n += 1  # 5
    except ValueError:  # 5
        n = 0  # 5
    return n  # 10


@profile
def fails(n):
    if n > 2:  # 4
        raise KeyError(n)  # 1
    fails(n + 1)  # 3


@profile
def generator(n):
    for i in range(n):  # 24
        got = yield i  # 22
        if got:  # 21
            return got  # 1


@profile
def delegating():
    yield from generator(10)  # 1
    yield from iter("abc")  # 1


@profile
async def tick(n):
    for _ in range(n):  # 24
        await asyncio.sleep(0)  # 20
    return n  # 4


@profile
async def numbers(n):
    for i in range(n):  # 6
        await asyncio.sleep(0)  # 5
        yield i  # 5


@profile
async def gather():
    results = await asyncio.gather(*(tick(5) for _ in range(4)))  # 1
    async for i in numbers(5):  # 6
        results.append(i)  # 5|6
    return results  # 1


@profile
def outer(n):
    def inner(x):  # 2
        return x + 1

    return inner(n)  # 2


def makes():
    @profile
    def inner(x):
        y = x * 2  # 6
        return y  # 6

    return inner


double = profile(lambda x: x * 2)  # 7


class Thing:
    @profile
    def __init__(self):
        self.value = 1  # 5

    @profile
    @property
    def doubled(self):
        return self.value * 2  # 5

    @profile
    @classmethod
    def of_class(cls):
        return cls  # 3

    @classmethod
    @profile
    def inside(cls):
        return cls  # 4

    @profile
    @staticmethod
    def static():
        return 1  # 2


@profile
class Whole:
    def method(self):
        return self  # 6

    @property
    def value(self):
        return 1  # 6

    class Nested:
        def method(self):
            return 2  # 1


def decorated(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)  # 3

    return wrapper


@profile
@decorated
def wrapped(x):
    return x  # 3


@profile
@functools.lru_cache(maxsize=None)
def cached(x):
    return x  # 2


partial = profile(functools.partial(lambda a, b: a + b, 1))  # 4


class Called:
    def __call__(self):
        return 3  # 2


called = profile(Called())


@profile
def in_thread(n):
    for _ in range(n):  # 404
        pass  # 400


@profile
def with_block():
    with contextlib.suppress(ValueError):  # ?
        int("x")  # 2|4
    return 1  # 2


@profile
def never():
    return 1


def not_chosen(n):
    for _ in range(n):
        pass


def run():
    assert sum(loop(50) for _ in range(3)) > 0
    countdown(10)
    fib(10)
    sys.setrecursionlimit(3000)
    deep(900)
    for i in range(10):
        handled(i)
    try:
        fails(0)
    except KeyError:
        pass
    list(generator(8))
    one = generator(5)
    next(one)
    next(one)
    try:
        one.send(1)
    except StopIteration:
        pass
    list(delegating())
    two = generator(5)
    next(two)
    next(two)
    two.close()
    asyncio.run(gather())
    outer(1), outer(2)
    for _ in range(2):
        inner = makes()
        inner(1), inner(2), inner(3)
    for i in range(7):
        double(i)
    for _ in range(5):
        thing = Thing()
        thing.doubled
    for _ in range(3):
        Thing.of_class()
    for _ in range(4):
        Thing.inside()
    Thing.static(), Thing.static()
    for _ in range(6):
        Whole().method(), Whole().value
    Whole.Nested().method()
    for i in range(3):
        wrapped(i)
    cached(1), cached(1), cached(2)
    for i in range(4):
        partial(i)
    called(), called()
    threads = [threading.Thread(target=in_thread, args=(100,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with_block(), with_block()
    not_chosen(100)


run()
if "fork" in sys.argv:
    child = os.fork()
    if not child:
        countdown(10)
        os._exit(0)
    os.waitpid(child, 0)
print("known:", sys.argv[1:])
