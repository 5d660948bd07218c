"""os.fork in loops: from the main thread, from a thread, from a child. Ends with status 21."""
import os
import sys
import threading
import warnings

from victim import Sum, rounds, seconds

warnings.simplefilter("ignore", DeprecationWarning)  # 3.12+: fork with threads, which is the point


def work(n):  # from: child_a, child_b, grandchild_b, main, child_c, child_d
    total = 0
    for i in range(n):
        total += step(i)
    return total


def step(i):  # from: work
    return i & 7


def child_a(n):  # from: fork_a
    os._exit(work(2000) % 50 + n)


def fork_a():  # from: main
    out = []
    for n in range(5):
        pid = os.fork()
        if pid == 0:
            child_a(n)
        out.append(os.waitpid(pid, 0)[1] >> 8)
    return out


def grandchild_b():  # from: child_b
    work(1000)
    os._exit(4)


def child_b():  # from: fork_b
    work(500)
    pid = os.fork()
    if pid == 0:
        grandchild_b()
    os._exit((os.waitpid(pid, 0)[1] >> 8) + 1)


def fork_b():  # from: main
    pid = os.fork()
    if pid == 0:
        child_b()
    return os.waitpid(pid, 0)[1] >> 8


def child_c():  # from: fork_c
    work(1000)
    thread = threading.Thread(target=thread_c)
    thread.start()
    thread.join()
    os._exit(9)


def thread_c():  # from: run@threading.py
    return sum(range(100))


def fork_c(out):  # from: run@threading.py
    pid = os.fork()
    if pid == 0:
        child_c()
    out.append(os.waitpid(pid, 0)[1] >> 8)


def child_d():  # from: fork_d
    return work(3000)


def fork_d():  # from: main
    """A child that ends as Python ends, by sys.exit and finalisation."""
    pid = os.fork()
    if pid == 0:
        child_d()
        sys.exit(6)
    return os.waitpid(pid, 0)[1] >> 8


def main():  # from: <module>
    total = Sum()
    for _ in rounds(seconds()):
        work(3000)
        total.add("fork_a", fork_a())
        total.add("fork_b", fork_b())
        out = []
        thread = threading.Thread(target=fork_c, args=(out,))
        thread.start()
        work(1000)
        thread.join()
        total.add("fork_c", out)
        total.add("fork_d", fork_d())
    print(total.line())
    return 21


if __name__ == "__main__":
    sys.exit(main())
