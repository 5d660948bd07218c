"""exported.py [SECONDS]: stacks that every export must show, and names that are hard to write.

The main thread: Python -> sorted() -> Python, recursion, and a function whose name has all that
formats give a meaning to. A second thread: a loop of its own. Then the main thread sleeps. All work
is CPU of the thread that does it.
"""

import sys
import threading
import time
import types

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 0.25
ODD = 'odd; "name" \\ ünï\n数'


def until(share):
    end = time.thread_time() + SECONDS * share
    while time.thread_time() < end:
        yield


def callback(value):
    total = 0
    for i in range(200):
        total += i * value
    return total


def outer():
    for _ in until(1):
        sorted(range(500), key=callback)


def recurse(depth):
    if depth:
        return recurse(depth - 1)
    for _ in until(0.5):
        callback(3)


def plain():
    for _ in until(0.5):
        callback(7)


def worker():
    for _ in until(1):
        callback(5)


def odd_one():
    code = plain.__code__.replace(co_name=ODD)
    if hasattr(code, "co_qualname"):
        code = code.replace(co_qualname=ODD)
    return types.FunctionType(code, globals())


thread = threading.Thread(target=worker)
thread.start()
recurse(5)
odd_one()()
outer()  # last: the native frames are seen once the profiler knows the modules
thread.join()
time.sleep(SECONDS)
