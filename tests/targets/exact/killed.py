"""Ends as nobody can prepare for: killed, replaced by another program, or as a worker of a pool, which is killed
when its last result is there.  usage: killed.py TERM|KILL|exec|fork|spawn"""

import multiprocessing
import os
import signal
import sys
import time

TURNS = 700
TASKS = 4


def leaf(x):
    return x + 1


def work(n):
    total = 0
    for i in range(n):
        total += leaf(i)
    time.sleep(0.05)  # the other worker gets its part
    return total


if __name__ == "__main__":
    how = sys.argv[1]
    if how in ("fork", "spawn"):
        with multiprocessing.get_context(how).Pool(2) as pool:
            print(sum(pool.map(work, [TURNS] * TASKS, chunksize=1)))
    else:
        print(sum(work(TURNS) for _ in range(TASKS)), flush=True)
    if how == "exec":
        os.execv(sys.executable, [sys.executable, "-c", "pass"])
    if how in ("TERM", "KILL"):
        os.kill(os.getpid(), getattr(signal, "SIG" + how))
        time.sleep(60)
