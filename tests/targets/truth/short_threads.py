"""Threads of unequal length, about 3 ms, 20 ms and a third of all CPU (1 s of 3), one after another."""

import threading
import time

import clocks


def three_ms(seconds):
    end = time.thread_time() + seconds
    x = 0
    while time.thread_time() < end:
        for i in range(200):
            x ^= i


def twenty_ms(seconds):
    end = time.thread_time() + seconds
    x = 0
    while time.thread_time() < end:
        for i in range(200):
            x ^= i


def one_second(seconds):
    end = time.thread_time() + seconds
    x = 0
    while time.thread_time() < end:
        for i in range(200):
            x ^= i


def one_after_another(function, count, seconds):
    for _ in range(count):
        thread = threading.Thread(target=clocks.timed, args=(function, seconds))
        thread.start()
        thread.join()


# A third each, whatever the whole.
third = clocks.SECONDS / 3
one_after_another(three_ms, int(third / 0.003), 0.003)
one_after_another(twenty_ms, int(third / 0.020), 0.020)
one_after_another(one_second, 1, third)
clocks.say(threads="in turns")
