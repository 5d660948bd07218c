"""Code that is made while the program runs: by exec under a file name of its own, eval, a function
with replaced code, a lambda."""

import clocks

TEXT = """
def %s(n):
    x = 0
    for i in range(n):
        x = (x * 5 + i) & 1023
    return x
"""


def made(name, file):
    space = {}
    exec(compile(TEXT % name, file, "exec"), space)
    return space[name]


made_first = made("made_first", "<made first>")
made_second = made("made_second", "<made second>")


def evaluated(n):
    return eval("sum([i & 3 for i in range(n)])", {"n": n})


def ordinary(n):
    x = 0
    for i in range(n):
        x += i
    return x


def turn():
    clocks.timed(made_first, 30000)
    clocks.timed(made_second, 12000)
    clocks.timed(evaluated, 20000)
    clocks.timed(ordinary, 30000)


clocks.rounds(turn)
clocks.say(outside=["made_first", "made_second"])
