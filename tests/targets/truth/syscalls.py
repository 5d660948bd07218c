"""System calls: short ones, some that work in the kernel, and Python beside them."""

import os

import clocks

NULL = os.open(os.devnull, os.O_WRONLY)
ZERO = os.open("/dev/zero", os.O_RDONLY)
BLOCK = b"x" * 4096
HERE = os.path.abspath(__file__)


def stats(n):
    for _ in range(n):
        os.stat(HERE)


def writes(n):
    for _ in range(n):
        os.write(NULL, BLOCK)


def reads(n):
    for _ in range(n):
        os.read(ZERO, 1 << 20)


def parents(n):
    for _ in range(n):
        os.getppid()


def compute(n):
    total = 0
    for i in range(n):
        total ^= i
    return total


def turn():
    clocks.timed(stats, 2500)
    clocks.timed(writes, 6000)
    clocks.timed(reads, 20)
    clocks.timed(parents, 15000)
    clocks.timed(compute, 90000)


clocks.rounds(turn)
clocks.say(python=["compute"])
