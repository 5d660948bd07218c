"""Waits of known length: a sleep, a lock that another thread holds, a socket, a pipe, a child process.

Each unit waits in one line, named by what it waits for, for a constructed time, and uses next to no CPU;
`compute` is what runs.
"""

import os
import socket
import subprocess
import threading
import time

import clocks

UNIT = clocks.SECONDS / 8  # of wall time


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


def main():
    clocks.timed(compute, UNIT)
    clocks.timed(sleep, 2 * UNIT)
    clocks.timed(lock, UNIT)
    clocks.timed(from_socket, 1.5 * UNIT)
    clocks.timed(from_pipe, UNIT)
    clocks.timed(for_child, UNIT)


main()
clocks.say()
