"""os._exit: in children at any moment, from a thread, and at last in the program itself. Status 23."""
import os
import sys
import threading
import time
import warnings

from victim import Sum, rounds, seconds

warnings.simplefilter("ignore", DeprecationWarning)  # 3.12+: fork with threads


def spin():  # from: spinner, forked
    return sum(step(i) for i in range(200))  # from: spin


def step(i):  # from: <genexpr>
    return i & 3


def spinner():  # from: run@threading.py
    while True:
        spin()


def exiter(after, status):  # from: run@threading.py, main
    time.sleep(after)
    os._exit(status)


def forked(n):  # from: main
    """A child in which a thread calls os._exit while the others run Python."""
    pid = os.fork()
    if pid == 0:
        for target, args in ((spinner, ()), (exiter, (0.001 * n, 30 + n))):
            threading.Thread(target=target, args=args, daemon=True).start()
        while True:
            spin()
    return os.waitpid(pid, 0)[1] >> 8


def main():  # from: <module>
    total = Sum()
    for _ in rounds(seconds()):
        for n in range(8):
            total.add(n, forked(n))
    print(total.line())
    sys.stdout.flush()
    for _ in range(3):
        threading.Thread(target=spinner, daemon=True).start()
    exiter(0.02, 23)


if __name__ == "__main__":
    sys.exit(main())
