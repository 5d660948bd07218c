"""Six kinds of numeric and text work, timed one by one: something worth profiling.

usage: advanced.py [--scale S] [--json]

Runs for six to nine seconds at scale 1 (ADVANCED_SCALE in the environment does the same as --scale)
and ends with a table of what each function took by its own clock, so that a profile can be held
against it. With --json that table is one JSON object: {"wall": {...}, "cpu": {...}, "total": ...}.
Needs numpy.
"""

import argparse
import json
import os
import time

# One thread for the linear algebra: its pool would otherwise work beside the clocks below.
for _pool in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_pool, "1")

import numpy as np  # noqa: E402  (reads the environment when it is imported)


def matrix_operations(rng, rounds):
    """Dense linear algebra: nearly all of it inside BLAS and LAPACK."""
    size = 160
    trace = 0.0
    for _ in range(rounds):
        a = rng.standard_normal((size, size))
        spd = a @ a.T + size * np.eye(size)
        inverse = np.linalg.inv(spd)
        eigenvalues = np.linalg.eigvalsh(spd)
        trace += float(np.trace(inverse)) + float(eigenvalues[-1])
    return trace


def monte_carlo_simulation(rng, rounds):
    """Pi from random points, a big array at a time."""
    points = 250_000
    inside = 0
    for _ in range(rounds):
        xy = rng.uniform(-1.0, 1.0, size=(points, 2))
        distances = np.sqrt(xy[:, 0] ** 2 + xy[:, 1] ** 2)
        inside += int(np.count_nonzero(distances <= 1.0))
    return 4.0 * inside / (points * rounds)


def statistical_analysis(rng, rounds):
    """Order statistics of two samples, and a bootstrap written as a Python loop."""
    size = 120_000
    summary = {}
    for _ in range(rounds):
        normal = rng.normal(0.0, 1.0, size)
        skewed = rng.exponential(2.0, size)
        for name, data in (("normal", normal), ("exponential", skewed)):
            summary[name] = {
                "mean": float(np.mean(data)),
                "std": float(np.std(data)),
                "median": float(np.median(data)),
                "quartiles": [float(q) for q in np.percentile(data, (25, 50, 75, 95))],
            }
        means = []
        for _ in range(60):
            picks = rng.integers(0, size, 2_000)
            means.append(float(normal[picks].mean()))
        summary["interval"] = (min(means), max(means))
    return summary


def fourier_analysis(rng, rounds):
    """A noisy sum of three sines, and the frequencies found again."""
    length = 2 ** 17
    t = np.arange(length) / 1000.0
    strongest = None
    for _ in range(rounds):
        signal = (
            np.sin(2 * np.pi * 5 * t)
            + 0.5 * np.sin(2 * np.pi * 10 * t)
            + 0.3 * np.sin(2 * np.pi * 20 * t)
            + rng.normal(0.0, 0.1, length)
        )
        spectrum = np.fft.rfft(signal)
        frequencies = np.fft.rfftfreq(length, d=0.001)
        power = np.abs(spectrum) ** 2
        top = np.argsort(power)[-3:]
        strongest = sorted(round(float(f)) for f in frequencies[top])
    return strongest


def recursive_computation(m, n):
    """Nothing but Python calls: deep and wide recursion without a cache."""
    if n <= 0 or m <= 0:
        return m + n + 1
    return (recursive_computation(m - 1, n - 1) + recursive_computation(m - 1, n - 2)) % 1_000_003


def data_serialization(rng, rounds):
    """Nested data to JSON text and back: built-in C code called from Python, and dict building."""
    size = 0
    for i in range(rounds):
        records = [
            {
                "id": i * 1000 + k,
                "name": f"record {k}",
                "tags": [f"t{k % 7}", f"t{k % 11}"],
                "matrix": row,
            }
            for k, row in enumerate(rng.uniform(0, 100, size=(160, 60)).tolist())
        ]
        text = json.dumps({"run": i, "records": records})
        back = json.loads(text)
        size += len(text) + len(back["records"])
    return size


class Timers:
    """Wall and thread CPU seconds of each function."""

    def __init__(self):
        self.wall = {}
        self.cpu = {}

    def run(self, function, *args, repeat=1):
        cpu = time.thread_time()
        wall = time.perf_counter()
        for _ in range(repeat):
            function(*args)
        self.wall[function.__name__] = time.perf_counter() - wall
        self.cpu[function.__name__] = time.thread_time() - cpu

    def table(self):
        total = sum(self.wall.values())
        for name, seconds in sorted(self.wall.items(), key=lambda item: -item[1]):
            yield f"{name:<24} {seconds:8.3f} s {100 * seconds / total:6.1f} %"
        yield f"{'total':<24} {total:8.3f} s"


def main():
    parser = argparse.ArgumentParser(description="Six kinds of work, timed one by one.")
    parser.add_argument("--scale", type=float, default=float(os.environ.get("ADVANCED_SCALE", "1")))
    parser.add_argument("--json", action="store_true", help="print the timings as JSON")
    options = parser.parse_args()

    def times(rounds):
        return max(1, round(rounds * options.scale))

    rng = np.random.default_rng(20260126)
    timers = Timers()
    timers.run(matrix_operations, rng, times(230))
    timers.run(monte_carlo_simulation, rng, times(190))
    timers.run(statistical_analysis, rng, times(95))
    timers.run(fourier_analysis, rng, times(150))
    timers.run(recursive_computation, 16, 24, repeat=times(75))
    timers.run(data_serialization, rng, times(300))

    if options.json:
        print(json.dumps({"wall": timers.wall, "cpu": timers.cpu, "total": sum(timers.wall.values())}))
    else:
        print("\n".join(timers.table()))


if __name__ == "__main__":
    main()
