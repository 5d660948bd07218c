"""numpy, one thread: products, sorts, elementwise work, and a Python loop over an array."""

import clocks
import numpy

chance = numpy.random.default_rng(3)
MATRIX = chance.random((220, 220))
VECTOR = chance.random(200000)


def product():
    return MATRIX @ MATRIX @ MATRIX


def sort():
    return numpy.sort(VECTOR)


def elementwise():
    return numpy.sqrt(VECTOR * 2.0 + 1.0) - VECTOR


def by_element():
    total = 0.0
    for value in VECTOR[:15000]:
        total += value
    return total


def turn():
    clocks.timed(product)
    clocks.timed(sort)
    clocks.timed(elementwise)
    clocks.timed(by_element)


clocks.rounds(turn)
clocks.say(native=["product", "sort", "elementwise"])
