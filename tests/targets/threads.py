"""Threads that live 3 ms, raw threads, threads from threads, a daemon left at the end. Status 16."""
import _thread
import sys
import threading
import time

from victim import Sum, rounds, seconds


def work_a(n):  # from: short_a, nested_b, raw_c
    total = 0
    for i in range(n):
        total += step_a(i)
    return total


def step_a(i):  # from: work_a
    return i & 3


def short_a(out, slot):  # from: run@threading.py
    end = time.thread_time() + 0.003
    value = work_a(200)
    while time.thread_time() < end:
        value = work_a(200)
    out[slot] = value


def nested_b(out, depth):  # from: run@threading.py
    work_a(300)
    if depth:
        thread = threading.Thread(target=nested_b, args=(out, depth - 1))
        thread.start()
        thread.join()
    out.append(depth)


def raw_c(lock, out):  # from: root
    out.append(work_a(100))
    lock.release()


def empty_d():  # from: run@threading.py
    pass


class Ender:  # from: <module>
    """Its finaliser runs while its thread is being torn down."""

    def __init__(self, log):  # from: local_e
        self.log = log

    def __del__(self):  # from: any
        self.log.append(1)


def local_e(local, log):  # from: run@threading.py
    local.value = Ender(log)


def raiser_f(out):  # from: run@threading.py
    try:
        work_f(0)
    except ZeroDivisionError:
        out.append("caught")
    raise SystemExit  # ends the thread without a word


def work_f(n):  # from: raiser_f
    return 1 // n


def daemon_g():  # from: run@threading.py
    while True:
        spin_g()


def spin_g():  # from: daemon_g
    time.sleep(0.0005)


def pool(target, args, n):  # from: main
    threads = [threading.Thread(target=target, args=args(i)) for i in range(n)]  # from: pool
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main():  # from: <module>
    total = Sum()
    threading.Thread(target=daemon_g, daemon=True).start()
    for _ in rounds(seconds()):
        out = [None] * 6
        pool(short_a, lambda i: (out, i), 6)  # from: <listcomp>, pool
        total.add("short_a", out)
        deep = []
        pool(nested_b, lambda i: (deep, 4), 2)  # from: <listcomp>, pool
        total.add("nested_b", sorted(deep))
        lock, raw = _thread.allocate_lock(), []
        for _ in range(8):
            lock.acquire()
            _thread.start_new_thread(raw_c, (lock, raw))
        lock.acquire()
        total.add("raw_c", raw)
        pool(empty_d, lambda i: (), 12)  # from: <listcomp>, pool
        log, local = [], threading.local()
        pool(local_e, lambda i: (local, log), 6)  # from: <listcomp>, pool
        total.add("local_e", len(log))
        caught = []
        pool(raiser_f, lambda i: (caught,), 3)  # from: <listcomp>, pool
        total.add("raiser_f", caught)
    print(total.line())
    return 16


if __name__ == "__main__":
    sys.exit(main())
