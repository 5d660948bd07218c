"""What a function's locals hold is freed when it ends: its own time, on the line where it returns, not its
caller's. Before 3.11 nothing says which frame it was, and it is the caller's."""

import gc
import time

import clocks

ended = [0]


def holds():
    since = time.thread_time_ns()
    kept = [[i] for i in range(12000)]  # line: made
    ended[0] = clocks.lap("made", since)
    return kept[0]  # line: freed


def called():
    holds()
    clocks.lap("freed", ended[0])


def unpacked():
    holds(*())
    clocks.lap("freed", ended[0])


class Made:
    def __init__(self):
        kept = [[i] for i in range(12000)]
        self.kept = kept[0]


def constructs():
    return Made()


def ends():
    kept = [[i] for i in range(12000)]
    return kept[0]


def drops():
    kept = [[i] for i in range(12000)]
    del kept


def turn():
    clocks.timed(called)
    clocks.timed(unpacked)
    clocks.timed(constructs)
    clocks.timed(ends)
    clocks.timed(drops)


gc.disable()
clocks.unit("constructs", ["Made.__init__"])
clocks.rounds(turn)
clocks.say(shared=True)
