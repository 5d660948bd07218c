"""Two functions and a nap of 50 us after each turn: on a machine without a core to spare most of the wall time is want of
one, and none of it is the nap's."""

import time

import clocks


def adds():
    total = 0
    for i in range(40000):
        total += i
    return total


def sorts():
    return sorted(range(60000), key=lambda value: -value)[0]


def turn():
    clocks.timed(adds)
    clocks.timed(sorts)
    time.sleep(0.00005)


def ran_or_waited_for_a_core():
    """Seconds, by the kernel's own count of this thread."""
    with open("/proc/thread-self/schedstat") as file:
        ran, waited, _slices = map(int, file.read().split())
    return (ran + waited) / 1e9


begun = ran_or_waited_for_a_core()
clocks.unit("sorts", functions=["sorts.<locals>.<lambda>"])
clocks.rounds(turn)
clocks.say(wanted_a_core=ran_or_waited_for_a_core() - begun)
