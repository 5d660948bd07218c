"""Timers, masks and waits of the program's own."""

import os
import signal
import time

counts = {}


def count(number, frame):
    counts[number] = counts.get(number, 0) + 1


def busy(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(1000))


for which, number in (
    (signal.ITIMER_REAL, signal.SIGALRM),
    (signal.ITIMER_VIRTUAL, signal.SIGVTALRM),
    (signal.ITIMER_PROF, signal.SIGPROF),
):
    signal.signal(number, count)
    signal.setitimer(which, 0.02, 0.02)
    before = time.process_time()
    while counts.get(number, 0) < 20:
        sum(range(1000))
    used = time.process_time() - before
    print(number, signal.setitimer(which, 0)[1], number == signal.SIGALRM or 0.2 < used < 1.0)

reader, writer = os.pipe()
os.set_blocking(writer, False)
signal.set_wakeup_fd(writer)
os.kill(os.getpid(), signal.SIGALRM)
busy(0.2)
print(os.read(reader, 100))
signal.set_wakeup_fd(-1)

print(signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGALRM}))
os.kill(os.getpid(), signal.SIGUSR1)
busy(0.1)
print(signal.sigpending(), signal.sigtimedwait({signal.SIGUSR1}, 1).si_signo)
print(signal.sigtimedwait({signal.SIGUSR1}, 0.05))
signal.setitimer(signal.ITIMER_REAL, 0.05)
print(signal.sigwait({signal.SIGALRM}))
signal.signal(signal.SIGALRM, lambda number, frame: 1 / 0)
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
signal.setitimer(signal.ITIMER_REAL, 0.05)
try:
    time.sleep(5)
except ZeroDivisionError:
    print("raised")
