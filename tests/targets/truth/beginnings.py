"""Threads of about 3 ms, one after another, each with the same work at its beginning and at its end: a clock that is
bound to the kernel's tick, and set when a thread begins, would see the ends more often."""

import threading
import time

import clocks


def beginning(seconds):
    end = time.thread_time() + seconds
    x = 0
    while time.thread_time() < end:
        for i in range(100):
            x ^= i


def ending(seconds):
    end = time.thread_time() + seconds
    x = 0
    while time.thread_time() < end:
        for i in range(100):
            x ^= i


def both(seconds):
    clocks.timed(beginning, seconds)
    clocks.timed(ending, seconds)


for _ in range(int(clocks.SECONDS / 0.003)):
    thread = threading.Thread(target=both, args=(0.0015,))
    thread.start()
    thread.join()
clocks.say(threads="in turns")
