"""Page faults: the kernel's time that no system call shows, beside Python that needs none."""

import mmap

import clocks

SIZE = 24 << 20
PAGE = 4096


def touch():
    with mmap.mmap(-1, SIZE) as area:
        for at in range(0, SIZE, PAGE):
            area[at] = 1


def fill():
    return len(bytearray(SIZE))


def compute():
    total = 0
    for i in range(120000):
        total += i
    return total


def turn():
    clocks.timed(touch)
    clocks.timed(fill)
    clocks.timed(compute)


clocks.rounds(turn)
clocks.say(python=["compute"])
