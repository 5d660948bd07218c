"""Waits for all signals, by every way there is, in a program that computes meanwhile.

No signal may come but those that the program sends. Prints what came.
"""

import ctypes
import os
import select
import signal
import struct
import sys
import threading

LIBC = ctypes.CDLL(None, use_errno=True)
ALL = set(range(1, signal.NSIG)) - {32, 33}
URG = signal.SIGURG
QUICK = sys.argv[1:] == ["quick"]


def burn():
    """Some of the profiler's periods; `quick`, for who only wants to know what is printed: none."""
    return sum(i & 3 for i in range(100 if QUICK else 120000))


def block(*signals):
    signal.pthread_sigmask(signal.SIG_BLOCK, signals or ALL)


def to_this_thread(number):
    signal.pthread_kill(threading.get_ident(), number)


def tell_pending():
    block()
    burn()
    print("pending", signal.sigpending())
    to_this_thread(URG)
    burn()
    print("pending", signal.sigpending(), signal.sigwait({URG}), signal.sigpending())


def tell_waits():
    block()
    seen = []
    for number in (signal.SIGUSR1, URG, signal.SIGTERM, URG):
        burn()
        to_this_thread(number)
        seen.append(signal.sigwait(ALL))
        burn()
        to_this_thread(number)
        seen.append(signal.sigwaitinfo(ALL).si_code)
        burn()
        seen.append(signal.sigtimedwait(ALL, 0))
        burn()
        seen.append(signal.sigtimedwait(ALL, 0.01))
    print("waits", seen)


def tell_descriptor():
    block()
    mask = (ctypes.c_ulong * 16)(*[2**64 - 1] * 16)
    fd = LIBC.signalfd(-1, mask, os.O_NONBLOCK | os.O_CLOEXEC)
    burn()
    print("signalfd", fd >= 0, select.select([fd], [], [], 0)[0])
    to_this_thread(URG)
    burn()
    print("signalfd", struct.unpack_from("I", os.read(fd, 4096))[0], select.select([fd], [], [], 0)[0])
    os.close(fd)


def tell_open_waits():
    """Without blocking first: what nobody sends doesn't come, though it could."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    seen = []
    for _ in range(20):
        burn()
        seen.append(signal.sigtimedwait({URG}, 0))
    print("open waits", set(seen))


def tell_exec():
    """What is blocked and pending goes over to the next program."""
    pid = os.fork()
    if pid == 0:
        block()
        burn()
        os.execv(
            sys.executable,
            [sys.executable, "-c", "import signal; print('exec', signal.sigpending(), flush=True)"],
        )
    os.waitpid(pid, 0)


def tell_toggles():
    """Signals that are blocked for a moment, again and again; all that are sent come, once."""
    count = []
    signal.signal(URG, lambda number, frame: count.append(number))
    for _ in range(3000):
        old = signal.pthread_sigmask(signal.SIG_BLOCK, ALL)
        to_this_thread(URG)
        assert signal.sigpending() == {URG}
        signal.pthread_sigmask(signal.SIG_SETMASK, old)
    print("toggles", len(count), old)
    signal.signal(URG, signal.SIG_DFL)


def waiter(seen):
    while True:
        number = signal.sigwait(ALL)
        if number == signal.SIGUSR2:
            return
        seen.append(number)


def tell_thread():
    """The usual form: all threads block all signals, one waits for them."""
    seen = []
    block()
    thread = threading.Thread(target=waiter, args=(seen,))
    thread.start()
    for number in (signal.SIGUSR1, URG, signal.SIGHUP):
        burn()
        signal.pthread_kill(thread.ident, number)
        while len(seen) == 0 or seen[-1] != number:
            burn()
    signal.pthread_kill(thread.ident, signal.SIGUSR2)
    thread.join()
    print("thread", seen)


if __name__ == "__main__":
    for tell in (tell_pending, tell_waits, tell_descriptor, tell_thread, tell_exec, tell_open_waits,
                 tell_toggles):
        tell()
        sys.stdout.flush()
