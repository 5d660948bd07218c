"""The program's own signals: SIGALRM, SIGVTALRM and SIGPROF from timers, SIGURG of its own, handlers that raise. Status 20.

SIGURG is the profiler's signal too: every one that the program sends must reach its handler, and
none that it did not send.
"""
import os
import signal
import sys
import threading
import time

from victim import Sum, rounds, seconds

COUNT = {"alrm": 0, "urg": 0, "usr1": 0, "vtalrm": 0, "prof": 0}


class Tick(Exception):  # from: <module>
    pass


def on_alarm(number, frame):  # from: any
    COUNT["alrm"] += 1
    touch(frame)


def touch(frame):  # from: on_alarm, on_urgent
    return frame.f_lineno if frame is not None else 0


def on_urgent(number, frame):  # from: any
    COUNT["urg"] += 1
    touch(frame)


def on_user(number, frame):  # from: any
    COUNT["usr1"] += 1
    raise Tick


def on_virtual(number, frame):  # from: any
    COUNT["vtalrm"] += 1


def on_profile(number, frame):  # from: any
    COUNT["prof"] += 1


def wait_for(name, value):  # from: urgent_a, raised_b
    end = time.monotonic() + 20
    while COUNT[name] < value and time.monotonic() < end:
        time.sleep(0)
    return COUNT[name] - value


def urgent_a():  # from: main
    """Sent to the process: one at a time, so none may be lost or added."""
    extra = []
    for _ in range(20):
        before = COUNT["urg"]
        os.kill(os.getpid(), signal.SIGURG)
        extra.append(wait_for("urg", before + 1))
    return set(extra)


def key_b(x):  # from: raised_b
    return -x


def raised_b():  # from: main
    """A handler that raises, wherever it comes: out of sorted, out of a wait."""
    seen = 0
    for _ in range(20):
        try:
            os.kill(os.getpid(), signal.SIGUSR1)
            for _ in range(1000):
                sorted(range(20), key=key_b)
        except Tick:
            seen += 1
    return seen


def blocked_c():  # from: main
    """Blocked signals stay blocked and pending; what was blocked comes when it is let in."""
    before = COUNT["urg"]
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGURG})
    try:
        os.kill(os.getpid(), signal.SIGURG)
        spin_c()
        early = COUNT["urg"] - before
        pending = signal.SIGURG in signal.sigpending()
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGURG})
    spin_c()
    return early, pending, COUNT["urg"] - before


def spin_c():  # from: blocked_c, other_d
    return sum(i & 1 for i in range(2000))  # from: spin_c


def other_d(stop):  # from: run@threading.py
    while not stop.is_set():
        spin_c()


def alone():  # from: main
    """join() returns before the kernel's thread is gone, and that one could take the next signal."""
    while len(os.listdir("/proc/self/task")) > 1:
        time.sleep(0)


def sleep_e():  # from: main
    """A sleep interrupted by a handler goes on to its end (PEP 475)."""
    start = time.monotonic()
    time.sleep(0.01)
    return time.monotonic() - start >= 0.01


def main():  # from: <module>
    total = Sum()
    for name, handler in (("SIGALRM", on_alarm), ("SIGURG", on_urgent), ("SIGUSR1", on_user),
                          ("SIGVTALRM", on_virtual), ("SIGPROF", on_profile)):
        signal.signal(getattr(signal, name), handler)
    total.add("handler", signal.getsignal(signal.SIGURG) is on_urgent)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.001, 0.001)
    signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
    for n in rounds(seconds()):
        total.add("urgent_a", urgent_a())
        total.add("raised_b", raised_b())
        total.add("blocked_c", blocked_c())
        total.add("sleep_e", sleep_e())
        stop = threading.Event()
        thread = threading.Thread(target=other_d, args=(stop,))
        thread.start()
        total.add("urgent_a in threads", urgent_a())
        stop.set()
        thread.join()
        alone()
    while min(COUNT["alrm"], COUNT["vtalrm"], COUNT["prof"]) < 5:
        sum(range(10000))
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.setitimer(signal.ITIMER_PROF, 0)
    print(total.line())
    return 20


if __name__ == "__main__":
    sys.exit(main())
