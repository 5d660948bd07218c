"""Python loops in functions of unequal length: about 50, 25, 15, 7 and 3 % of the CPU."""

import clocks


def half(n):
    x = i = 0
    while i < n:
        x = (x * 31 + i) & 0xFFFFFF
        i += 1
    return x


def quarter(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


def seventh(n):
    found = {}
    for i in range(n):
        found[i & 1023] = i
    return found


def fifteenth(n):
    text = []
    for i in range(n):
        text.append(i)
    return text


def thirtieth(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, (a + b) & 0xFFFF
    return a


def turn():
    clocks.timed(half, 40000)
    clocks.timed(quarter, 30000)
    clocks.timed(seventh, 20000)
    clocks.timed(fifteenth, 14000)
    clocks.timed(thirtieth, 5000)


clocks.rounds(turn)
clocks.say()
