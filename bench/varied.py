"""A program with many different stacks, for measurements: varied.py SECONDS FILE

It computes for so long, half in calls up to forty deep among two hundred functions, half in numpy, and writes the
monotonic time into FILE as its last act."""

import json
import random
import sys
import time

import numpy

FUNCTIONS = 200
TEXT = "\n".join(f"""
def step_{i}(n):
    total = {i}
    if n % 3 == 0:
        total += sum(range(n + {i} % 7))
    if n > 0:
        total += STEPS[(n * {i + 3} + total) % {FUNCTIONS}](n - 1)
    return total
""" for i in range(FUNCTIONS))
exec(compile(TEXT, __file__ + "-steps", "exec"))  # the lines of a file that is not there: as templates have them
STEPS = [globals()[f"step_{i}"] for i in range(FUNCTIONS)]


def arrays(matrix):
    product = matrix @ matrix
    spectrum = numpy.fft.fft(product.ravel())
    return float(numpy.sort(abs(spectrum)).sum())


def work(until):
    chosen = random.Random(0)
    matrix = numpy.random.default_rng(0).random((120, 120))
    turns = 0
    while time.monotonic() < until:
        for _ in range(40):
            chosen.choice(STEPS)(chosen.randrange(40))
        json.loads(json.dumps({str(i): arrays(matrix) for i in range(3)}))
        turns += 1
    return turns


def main():
    work(time.monotonic() + float(sys.argv[1]))
    with open(sys.argv[2], "w") as end:
        end.write(repr(time.monotonic()))


main()
