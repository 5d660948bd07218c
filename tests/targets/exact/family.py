"""Threads of both modules, a deep recursion in one, a fork and a program that it starts."""

import _thread
import os
import subprocess
import sys
import threading


def leaf(x):
    return x + 1


def work(n):
    x = 0
    for _ in range(n):
        x = leaf(x)
    return x


def raw(n, done):
    work(n)
    done.release()


def deep(n):
    return 0 if n == 0 else deep(n - 1)


def boot():
    sys.setrecursionlimit(60000)
    deep(50000)


def main():
    threads = [threading.Thread(target=work, args=(100 * (i + 1),)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    done = _thread.allocate_lock()
    done.acquire()
    _thread.start_new_thread(raw, (50, done))
    done.acquire()
    pid = os.fork()
    if pid == 0:
        work(7)
        os._exit(3)
    assert os.waitpid(pid, 0)[1] == 3 << 8
    subprocess.check_call([sys.executable, __file__, "child"])
    threading.stack_size(400 << 20)
    t = threading.Thread(target=boot)
    t.start()
    t.join()


if len(sys.argv) > 1:
    work(11)
else:
    main()
