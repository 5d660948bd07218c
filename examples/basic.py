"""Pure Python with functions of different weight, timed one by one; needs nothing but Python.

usage: basic.py [--scale S] [--json]

About three seconds at scale 1. heavy, medium and light run the same loop over 12, 6 and 2 parts of
the numbers, so that their times stand as 6 : 3 : 1 by construction; words is text work beside
them, about a sixth of the whole. The table at the end (or the JSON) is what each took by its own
clock.
"""

import argparse
import json
import time


def heavy(unit):
    x = 1
    for i in range(12 * unit):
        x = (x * 31 + i) & 0xFFFFFF
    return x


def medium(unit):
    x = 1
    for i in range(6 * unit):
        x = (x * 31 + i) & 0xFFFFFF
    return x


def light(unit):
    x = 1
    for i in range(2 * unit):
        x = (x * 31 + i) & 0xFFFFFF
    return x


def words(unit):
    counts = {}
    line = "the quick brown fox jumps over the lazy dog and then the fox sleeps"
    for _ in range(unit // 8):
        for word in line.split():
            counts[word] = counts.get(word, 0) + 1
    return max(counts, key=counts.get)


def main():
    parser = argparse.ArgumentParser(description="Pure Python work of known weights.")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--json", action="store_true", help="print the timings as JSON")
    options = parser.parse_args()

    unit = 16_000
    wall = dict.fromkeys(("heavy", "medium", "light", "words"), 0.0)
    cpu = dict(wall)
    # Many short rounds: a slow moment of the machine then hits all functions alike.
    for _ in range(max(1, round(100 * options.scale))):
        for function in (heavy, medium, light, words):
            c, w = time.thread_time(), time.perf_counter()
            function(unit)
            wall[function.__name__] += time.perf_counter() - w
            cpu[function.__name__] += time.thread_time() - c

    total = sum(wall.values())
    if options.json:
        print(json.dumps({"wall": wall, "cpu": cpu, "total": total}))
        return
    for name, seconds in sorted(wall.items(), key=lambda item: -item[1]):
        print(f"{name:<8} {seconds:7.3f} s {100 * seconds / total:6.1f} %")
    print(f"{'total':<8} {total:7.3f} s")


if __name__ == "__main__":
    main()
