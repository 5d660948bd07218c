"""A program for cProfile and profile to look at: recursion, generators, C code, names that are not ASCII, two modules of
one name in two packages.  usage: profiled.py OUT [--old]"""
import email.message
import json
import os
import re
import sys
import xml.dom


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def even(n):
    return n == 0 or odd(n - 1)


def odd(n):
    return n != 0 and even(n - 1)


def numbers():
    for i in range(10):
        yield i


class Größe:
    def späß(self):
        return sorted(range(100), key=lambda x: -x)


def work():
    fib(10)
    even(30)
    list(numbers())
    Größe().späß()
    json.loads(json.dumps({"a": [1, 2, {"b": None}]}))
    re.compile("a+%s" % os.getpid())
    for folder in ("/a", "/b"):
        exec(compile("def go():\n  fib(3)\ngo()", folder + "/same.py", "exec"), {"fib": fib})


def main():
    out, old = sys.argv[1], sys.argv[2:]
    module = __import__("profile" if old else "cProfile")
    it = module.Profile()
    it.runcall(work) if old else it.run("work()")
    it.dump_stats(out)


if __name__ == "__main__":
    main()
