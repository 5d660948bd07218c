"""Stacks deeper than a sample keeps, in the main thread and in others. Ends with status 26."""
import sys
import threading

from victim import Sum, rounds, seconds


def down_a(n):  # from: down_a, deep_a
    return 1 + down_a(n - 1) if n else spin_a()


def spin_a():  # from: down_a
    total = 0
    for i in range(3000):
        total += i
    return total


def deep_a():  # from: main, in_thread_b
    return down_a(3500)


def in_thread_b(out):  # from: run@threading.py
    out.append(deep_a())


def key_c(x):  # from: down_c
    return -x


def down_c(n):  # from: down_c, deep_c, <lambda>
    """A mixed stack: an evaluation loop in C's hands every tenth level."""
    if n % 10:
        return 1 + down_c(n - 1)
    return n and max(map(lambda x: down_c(x), [n - 1]), key=key_c)  # from: down_c


def deep_c():  # from: main
    return down_c(800)


def main():  # from: <module>
    total = Sum()
    sys.setrecursionlimit(5000)
    threading.stack_size(64 << 20)
    for _ in rounds(seconds()):
        total.add("deep_a", deep_a())
        total.add("deep_c", deep_c())
        out = []
        thread = threading.Thread(target=in_thread_b, args=(out,))
        thread.start()
        thread.join()
        total.add("in_thread_b", out)
    print(total.line())
    return 26


if __name__ == "__main__":
    sys.exit(main())
