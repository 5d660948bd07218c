"""Neighbouring lines of one hot loop, too short for clocks: their truth is a difference.

`both` has the cheap and the dear line; `only_cheap` and `only_dear` leave one out. The time of a
line is what the loop takes less without it, measured in the same run, in turns.
"""

import clocks

N = 20000


def both():
    a = b = 0
    for i in range(N):  # line: loop
        a = i & 255  # line: cheap
        b = ((((i * 3 + 1) & 255) * 5 + i) & 1023) * 7 + (i ^ 77) - (i >> 3)  # line: dear
    return a, b


def only_cheap():
    a = b = 0
    for i in range(N):
        a = i & 255
    return a, b


def only_dear():
    a = b = 0
    for i in range(N):
        b = ((((i * 3 + 1) & 255) * 5 + i) & 1023) * 7 + (i ^ 77) - (i >> 3)
    return a, b


def turn():
    clocks.timed(both)
    clocks.timed(only_cheap)
    clocks.timed(only_dear)


clocks.rounds(turn)
cpu = {name: clocks.units[name]["cpu"] for name in clocks.units}
clocks.lines["cheap"] = cpu["both"] - cpu["only_dear"]
clocks.lines["dear"] = cpu["both"] - cpu["only_cheap"]
clocks.lines["loop"] = cpu["only_cheap"] + cpu["only_dear"] - cpu["both"]
clocks.say(differences=True)
