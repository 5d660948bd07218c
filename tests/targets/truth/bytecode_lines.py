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


turns = []


def turn():
    clocks.timed(both)
    clocks.timed(only_cheap)
    clocks.timed(only_dear)
    turns.append([clocks.units[name]["cpu"] for name in ("both", "only_cheap", "only_dear")])


def lines(both, only_cheap, only_dear):
    return {"cheap": both - only_dear, "dear": both - only_cheap, "loop": only_cheap + only_dear - both}


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
clocks.say(known_to=known_to() if len(turns) >= 30 else 0.04)
