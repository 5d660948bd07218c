"""Garbage collections of a known share: by gc.collect(), by allocation, and with finalisers.

Each part has its own clock: gc.callbacks say when a collection starts and ends, and the finalisers'
own time is taken out. The last line is JSON: CPU seconds by part. Argument: seconds of each part.
"""
import gc
import json
import sys
import time

SPENT = {"collecting": 0.0, "finalising": 0.0, "working": 0.0}
began = 0.0
inside = 0.0  # of finalisers, in this collection


def on_gc(phase, info):
    global began, inside
    if phase == "start":
        began, inside = time.thread_time(), 0.0
    else:
        SPENT["collecting"] += time.thread_time() - began - inside
        SPENT["finalising"] += inside


class Finalised:
    def __init__(self):
        self.me = self

    def __del__(self):
        finalise()


def finalise():
    global inside
    begin = time.thread_time()
    while time.thread_time() < begin + 0.002:
        pass
    inside += time.thread_time() - begin


def work(seconds):
    begin = time.thread_time()
    while time.thread_time() < begin + seconds:
        for _ in range(100):
            pass
    SPENT["working"] += time.thread_time() - begin


def explicit(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        gc.collect()


def allocating(seconds):
    """Collections begun by allocation alone: everything survives, so the oldest are collected too."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        gc.enable()
        kept = []
        for _ in range(60000):
            kept.append([[], {}])
        gc.disable()


def finalisers(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        made = [Finalised() for _ in range(10)]
        del made
        gc.collect()


def main():
    seconds = float(sys.argv[1]) / 4
    gc.disable()
    ballast = [[i] for i in range(200000)]
    gc.callbacks.append(on_gc)
    for _ in range(4):
        explicit(seconds)
        work(seconds)
        allocating(seconds)
        finalisers(seconds)
    gc.callbacks.remove(on_gc)
    del ballast
    print(json.dumps(SPENT))


if __name__ == "__main__":
    main()
