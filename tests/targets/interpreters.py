"""Sub-interpreters: one thread, several thread states, made and destroyed. Ends with status 25."""
import sys
import threading

from victim import Sum, rounds, seconds

interpreters = None
for name in ("_interpreters", "_xxsubinterpreters"):
    try:
        interpreters = __import__(name)
        break
    except ImportError:
        pass

CODE = """
def outer_5(n):
    return sum(inner_5(i) for i in range(n))

def inner_5(i):
    return i & 3

assert outer_5(500) == 750
"""


def inside(n):  # from: main, in_thread
    which = interpreters.create()
    try:
        for _ in range(n):
            failed = interpreters.run_string(which, CODE)
            if failed is not None:
                raise RuntimeError(failed)
    finally:
        interpreters.destroy(which)
    return n


def in_thread(out):  # from: run@threading.py
    out.append(inside(2))


def busy(n):  # from: main
    return sum(step(i) for i in range(n))  # from: busy


def step(i):  # from: <genexpr>
    return i & 1


def main():  # from: <module>
    total = Sum()
    for _ in rounds(seconds()):
        total.add("busy", busy(2000))
        total.add("inside", inside(3))
        out = []
        thread = threading.Thread(target=in_thread, args=(out,))
        thread.start()
        total.add("busy", busy(2000))
        thread.join()
        total.add("in_thread", out)
    print(total.line())
    return 25


if __name__ == "__main__":
    sys.exit(main())
