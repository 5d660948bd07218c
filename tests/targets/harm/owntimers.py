"""Timers, masks and waits of the program's own."""

import ctypes
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

# A POSIX timer with SIGURG: one tick at a time, each as soon as the one before was counted, so none may be missing and
# none too many.
libc = ctypes.CDLL(None, use_errno=True)  # before 2.34 timers were librt's
librt = libc if hasattr(libc, "timer_create") else ctypes.CDLL("librt.so.1")


class Event(ctypes.Structure):
    _fields_ = [("value", ctypes.c_void_p), ("signo", ctypes.c_int), ("notify", ctypes.c_int), ("pad", ctypes.c_int * 12)]


class Spec(ctypes.Structure):
    _fields_ = [(name, ctypes.c_long) for name in ("again_s", "again_ns", "first_s", "first_ns")]


SIGEV_SIGNAL, timer = 0, ctypes.c_void_p()
signal.signal(signal.SIGURG, count)
event = Event(None, signal.SIGURG, SIGEV_SIGNAL)
print(librt.timer_create(time.CLOCK_MONOTONIC, ctypes.byref(event), ctypes.byref(timer)))
for n in range(1, 21):
    librt.timer_settime(timer, 0, ctypes.byref(Spec(0, 0, 0, 5000000)), None)
    end = time.monotonic() + 10
    while counts.get(signal.SIGURG, 0) < n and time.monotonic() < end:
        sum(range(1000))
busy(0.1)
print(counts[signal.SIGURG], librt.timer_delete(timer))
signal.signal(signal.SIGURG, signal.SIG_DFL)

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
