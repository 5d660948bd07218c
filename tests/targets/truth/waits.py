"""Waits of known length: a sleep, a lock that another thread holds, a socket, a pipe, a child process, a disk.

Each unit waits in one line, named by what it waits for, for a constructed time, and uses next to no CPU;
`compute` is what runs. With FAH_TRUTH_DISK it waits for a disk, too, that of the working directory; where
what is written there need not wait (tmpfs), that unit does nothing, and says so (`no_disk`).
"""

import os
import socket
import subprocess
import threading
import time

import clocks

UNIT = clocks.SECONDS / 8  # of wall time
SLOW = 0.002  # seconds that a write has to take to be waited for
BLOCK = bytes(1 << 23)


def compute(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        for _ in range(1000):
            pass


def sleep(seconds):
    begun = time.monotonic_ns()
    time.sleep(seconds)  # wait: sleep
    clocks.waited("sleep", begun)


def lock(seconds):
    held = threading.Lock()
    held.acquire()
    threading.Timer(seconds, held.release).start()
    begun = time.monotonic_ns()
    held.acquire()  # wait: lock
    clocks.waited("lock", begun)


def from_socket(seconds):
    here, there = socket.socketpair()
    threading.Timer(seconds, there.sendall, [b"x"]).start()
    begun = time.monotonic_ns()
    here.recv(1)  # wait: socket
    clocks.waited("socket", begun)
    here.close()
    there.close()


def from_pipe(seconds):
    out, into = os.pipe()
    threading.Timer(seconds, os.write, [into, b"x"]).start()
    begun = time.monotonic_ns()
    os.read(out, 1)  # wait: pipe
    clocks.waited("pipe", begun)
    os.close(out)
    os.close(into)


def for_child(seconds):
    child = subprocess.Popen(["sleep", "%.3f" % seconds])
    begun = time.monotonic_ns()
    child.wait()  # wait: child process
    clocks.waited("child process", begun)


def blocked():
    """Seconds in which this thread neither ran nor wanted a core, counted from anywhere."""
    now = time.monotonic()
    with open("/proc/thread-self/schedstat") as file:
        used, wanted, _slices = map(int, file.read().split())
    return now - (used + wanted) / 1e9


def disk(seconds):
    """True: it is one that must be waited for, each time: who waits a thousand times a second mostly wants a core."""
    file = os.open("written", os.O_WRONLY | os.O_CREAT, 0o600)
    os.unlink("written")
    begun, began, n = blocked(), time.monotonic(), 0
    took, slow = 0.0, True
    while slow and took < seconds and time.monotonic() < began + 8 * seconds:
        os.pwrite(file, BLOCK, 0)
        os.fsync(file)  # wait: disk
        took, n = blocked() - begun, n + 1
        slow = n < 5 or took > n * SLOW
    if slow:
        clocks.waits["disk"] = took
    os.close(file)
    return slow


def main():
    clocks.timed(compute, UNIT)
    clocks.timed(sleep, 2 * UNIT)
    clocks.timed(lock, UNIT)
    clocks.timed(from_socket, 1.5 * UNIT)
    clocks.timed(from_pipe, UNIT)
    clocks.timed(for_child, UNIT)
    return "FAH_TRUTH_DISK" in os.environ and not clocks.timed(disk, UNIT)


clocks.say(no_disk=main())
