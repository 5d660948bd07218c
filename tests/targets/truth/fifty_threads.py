"""50 threads at once that all want the GIL, with unequal work: 20 with 1 part, 15 with 2, 15 with 5."""

import threading
import time

import clocks


def ones(part):
    end = time.thread_time() + part
    x = 0
    while time.thread_time() < end:
        for i in range(500):
            x ^= i


def twos(part):
    end = time.thread_time() + 2 * part
    x = 0
    while time.thread_time() < end:
        for i in range(500):
            x ^= i


def fives(part):
    end = time.thread_time() + 5 * part
    x = 0
    while time.thread_time() < end:
        for i in range(500):
            x ^= i


def main():
    kinds = [ones] * 20 + [twos] * 15 + [fives] * 15
    part = clocks.SECONDS / (20 + 2 * 15 + 5 * 15)
    threads = [threading.Thread(target=clocks.timed, args=(kind, part)) for kind in kinds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


main()
clocks.say(threads="at once", python=["ones", "twos", "fives"])
