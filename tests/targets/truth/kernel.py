"""The kernel's work in one function, faults of pages in another, none in a third: whose system time is whose."""

import mmap
import os

import clocks

ZERO = os.open("/dev/zero", os.O_RDONLY)
RANDOM = os.open("/dev/urandom", os.O_RDONLY)  # os.urandom may be the C library's own work


def random():
    return os.read(RANDOM, 300000)


def reads():
    return os.read(ZERO, 1 << 20)


def faults():
    with mmap.mmap(-1, 4 << 20) as area:
        area.write(bytes(4 << 20))


def compute():
    total = 0
    for i in range(40000):
        total ^= i
    return total


def turn():
    clocks.timed(random)
    clocks.timed(compute)
    clocks.timed(reads)
    clocks.timed(faults)


clocks.rounds(turn)
clocks.say(python=["compute"], kernel=["random"])
