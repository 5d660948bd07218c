"""Single lines of constructed shares, each long enough for a clock of its own: 10, 5, 2 and 1 parts.

The work of a line is C's or is done inside the line, so that it is charged to that line.
"""

import time

import clocks

TABLE = list(range(60000))
VALUES = [(i * 7919) % 100003 * 0.5 for i in range(25000)]


def all_of_them(n):
    t = time.thread_time_ns()
    a = sum(range(10 * n))  # line: ten
    t = clocks.lap("ten", t)
    b = sum(range(n))  # line: one
    t = clocks.lap("one", t)
    c = sum(range(5 * n))  # line: five
    t = clocks.lap("five", t)
    d = sum(range(2 * n))  # line: two
    t = clocks.lap("two", t)
    e = sorted(VALUES)  # line: sorted
    t = clocks.lap("sorted", t)
    for f in TABLE:  # line: bytecode
        pass  # line: bytecode
    t = clocks.lap("bytecode", t)
    g = [x + 1 for x in TABLE]  # line: comprehension
    t = clocks.lap("comprehension", t)
    return a, b, c, d, e, f, g


clocks.rounds(lambda: clocks.timed(all_of_them, 15000))
clocks.say()
