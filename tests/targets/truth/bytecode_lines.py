"""Neighbouring lines of one hot loop, too short for clocks: their truth is a difference.

`both` has the cheap and the dear line; `only_cheap` and `only_dear` leave one out, `neither` both. The
time of a line is what a loop takes less without it, measured in the same run, in turns: twice, with
the other line and without it. Where these two differ (the same line takes longer in one loop than in
another, for the processor's reasons) the truth is their mean, and is known no better than that.
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


def neither():
    a = b = 0
    for i in range(N):
        pass
    return a, b


LOOPS = (both, only_cheap, only_dear, neither)
turns = []


def turn():
    for loop in LOOPS:
        clocks.timed(loop)
    turns.append([clocks.units[loop.__name__]["cpu"] for loop in LOOPS])


def apart(both, only_cheap, only_dear, neither):
    """By how much a line's two differences differ: of each line the same."""
    return both + neither - only_cheap - only_dear


def lines(both, only_cheap, only_dear, neither):
    half = apart(both, only_cheap, only_dear, neither) / 2
    return {
        "cheap": both - only_dear - half,
        "dear": both - only_cheap - half,
        "loop": neither - half,
    }


def known_to():
    """How far the shares of ten parts of the run are from each other: the standard error of the largest."""
    parts = []
    for i in range(10):
        first, last = turns[i * len(turns) // 10], turns[(i + 1) * len(turns) // 10 - 1]
        cpu = lines(*[b - a for a, b in zip(first, last)])
        parts.append({name: cpu[name] / sum(cpu.values()) for name in cpu})
    of = {name: [part[name] for part in parts] for name in parts[0]}
    return max((sum((x - sum(of[name]) / 10) ** 2 for x in of[name]) / 90) ** 0.5 for name in of)


clocks.rounds(turn)
clocks.lines.update(lines(*turns[-1]))
clocks.say(
    known_to=known_to() if len(turns) >= 30 else 0.04,
    apart=abs(apart(*turns[-1])) / 2 / turns[-1][0],
)
