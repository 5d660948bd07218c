"""Native code that keeps the GIL: sorts, powers, joins, searches."""

import random
import re

import clocks

chance = random.Random(3)
FLOATS = [chance.random() for _ in range(30000)]
INTS = [chance.randrange(1 << 40) for _ in range(15000)]
WORDS = [str(chance.random()) for _ in range(60000)]
TEXT = " ".join(WORDS[:8000])
WANTED = re.compile(r"(?:[0-9]+\.)+(\d)\1\1\1\1")


def sort_floats():
    return sorted(FLOATS)


def sort_ints():
    return sorted(INTS)


def big_power():
    return pow(7, 60001, 1 << 12000)


def join_words():
    return [", ".join(WORDS) for _ in range(2)]


def search():
    return WANTED.findall(TEXT)


def turn():
    clocks.timed(sort_floats)
    clocks.timed(sort_ints)
    clocks.timed(big_power)
    clocks.timed(join_words)
    clocks.timed(search)


clocks.rounds(turn)
clocks.say(native=list(clocks.units))
