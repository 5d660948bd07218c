"""C stacks of many thousand frames: callbacks, containers in containers, a regular expression."""

import ctypes
import functools
import json
import re
import sys
import threading

sys.setrecursionlimit(10**6)


def down(n):
    return call(n - 1) + 1 if n else 1


call = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_long)(down)


def nested(n):
    return functools.reduce(lambda inner, _: [inner], range(n), [])


def tried(what):
    try:
        return what()
    except RecursionError:
        return "too deep"


def main():
    for _ in range(3):
        print(tried(lambda: call(3000) == 3001))  # a callback that fails returns what it finds
        print(tried(lambda: len(json.dumps(nested(10000)))))
        print(tried(lambda: len(repr(nested(10000)))))
        print(tried(lambda: nested(5000) == nested(5000)))
        print(bool(re.match(r"(?:a|b)*c", "ab" * 50000 + "c")))


threading.stack_size(512 << 20)
thread = threading.Thread(target=main)
thread.start()
thread.join()
