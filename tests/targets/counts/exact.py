"""Calls of every kind, each a known number of times; together few enough to be counted all."""

import functools
import json
import threading
import types


def plain(x):
    return x


class Thing:
    made = 0

    def __init__(self):
        Thing.made += 1

    def method(self):
        return self

    @staticmethod
    def static():
        return 1

    @classmethod
    def of_class(cls):
        return cls

    @property
    def prop(self):
        return 2

    def __getitem__(self, i):
        return i


def generator(n):
    for i in range(n):
        yield plain(i)  # 50 x 3


async def coroutine(n):
    for _ in range(n):
        plain(0)  # 20 x 2
    return n


def decorated(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)  # 40

    return wrapper


@decorated
def wrapped(x):
    return x


def key(x):
    return -x


def add(x, y):
    return x + y


def hook(pairs):
    return dict(pairs)


def recursive(n):
    return recursive(n - 1) if n else 0  # 10 x 15


def raising():
    raise ValueError


def main():
    for i in range(300):
        plain(i)  # 300
    for i in range(200):
        plain(i), plain(i)  # 400
    for _ in range(70):
        thing = Thing()  # 70
        thing.method()  # 70
        Thing.static()
        Thing.of_class()
        thing.prop
        thing[3]
    for _ in range(50):
        list(generator(3))
    for _ in range(20):
        try:
            coroutine(2).send(None)
        except StopIteration:
            pass
    for _ in range(40):
        wrapped(1)
    sorted(range(90), key=key)  # 90
    list(map(key, range(30)))  # 30
    functools.reduce(add, range(61))  # 60
    json.loads('[{"a": 1}, {"b": {"c": 2}}]', object_pairs_hook=hook)  # 3
    for _ in range(10):
        recursive(15)  # 10
    for _ in range(25):
        try:
            raising()
        except ValueError:
            pass
    [plain(i) for i in range(80)]  # 80
    made = types.FunctionType(plain.__code__, globals(), "other")
    for _ in range(45):
        made(1)  # 45
    threads = [threading.Thread(target=in_thread) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def in_thread():
    for i in range(110):
        plain(i)  # 440


main()
