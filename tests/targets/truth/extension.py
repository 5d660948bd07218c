"""A native library of the tests' own (spin.c; FAH_TRUTH_LIBRARY names it), with and without the GIL.

The same loop with 1, 3 and 6 parts of steps: constructed to 10, 30 and 60 %.
"""

import ctypes
import os

import clocks

PLACE = os.environ["FAH_TRUTH_LIBRARY"]
PARTS = {"holds_one": 1, "drops_three": 3, "holds_six": 6}
STEPS = 700000


def made(kind):
    spin = kind(PLACE).spin
    spin.argtypes = [ctypes.c_uint64]
    spin.restype = ctypes.c_uint64
    return spin


holding, dropping = made(ctypes.PyDLL), made(ctypes.CDLL)


def holds_one():
    return holding(STEPS * PARTS["holds_one"])


def drops_three():
    return dropping(STEPS * PARTS["drops_three"])


def holds_six():
    return holding(STEPS * PARTS["holds_six"])


def turn():
    clocks.timed(holds_one)
    clocks.timed(drops_three)
    clocks.timed(holds_six)


clocks.rounds(turn)
whole = sum(PARTS.values())
clocks.say(
    native=list(PARTS), constructed={name: part / float(whole) for name, part in PARTS.items()}
)
