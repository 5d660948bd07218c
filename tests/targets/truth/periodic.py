"""Work in step with the kernel's tick, the classic trap of sampling by the tick.

`first` and `second` take turns, 2 ms of the thread's CPU each: a period of 4 ms, that of a tick at
250 Hz; whoever looks once in 4 ms at the same phase sees only one of them. `early` and `late` work
in the first and in the last 2 ms of every 4 ms of the monotonic clock, and sleep in between. They ask
for the time now and then only: time in the kernel is known by its ticks alone, whatever the clock.
"""

import time

import clocks

STEP = 2000000
PERIOD = 2 * STEP
LITTLE = range(1000)


def first(end):
    while time.thread_time_ns() < end:
        for _ in LITTLE:
            pass


def second(end):
    while time.thread_time_ns() < end:
        for _ in LITTLE:
            pass


def early(end):
    while time.monotonic_ns() < end:
        for _ in LITTLE:
            pass


def late(end):
    while time.monotonic_ns() < end:
        for _ in LITTLE:
            pass


def turns():
    begun = time.thread_time_ns()
    for i in range(10):
        clocks.timed(first, begun + (2 * i + 1) * STEP)
        clocks.timed(second, begun + (2 * i + 2) * STEP)


def grid(function, phase):
    now = time.monotonic_ns()
    for i in range(10):
        start = (now // PERIOD + 1 + i) * PERIOD + phase
        time.sleep(max(0, start - time.monotonic_ns()) / 1e9)
        clocks.timed(function, start + STEP - 200000)


def turn():
    turns()
    grid(early, 0)
    grid(late, STEP)


clocks.rounds(turn)
clocks.say()
