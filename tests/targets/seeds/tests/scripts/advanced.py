"""Six kinds of work, each of so much CPU by the thread's own clock; each warns once. Prints its arguments."""

import json
import sys
import time
import warnings

kept = []


def matrix_operations():
    warnings.warn("integers only")
    end = time.thread_time() + 0.05
    row = list(range(200))
    while time.thread_time() < end:
        sum(map(int.__mul__, row, row))


def monte_carlo_simulation():
    warnings.warn("a poor generator")
    end, x = time.thread_time() + 0.05, 1
    while time.thread_time() < end:
        x = (x * 1103515245 + 12345) % 2**31


def statistical_analysis():
    warnings.warn("a small sample")
    end = time.thread_time() + 0.06
    while time.thread_time() < end:
        sorted(range(500), key=str)


def fourier_analysis():
    warnings.warn("a short signal")
    end = time.thread_time() + 0.03
    while time.thread_time() < end:
        for i in range(200):
            i * (-1) ** i


def recursive_computation(n=0):
    if not n:
        warnings.warn("a slow way")
    end = time.thread_time() + 0.006
    while time.thread_time() < end:
        n + 1
    return n if n == 8 else recursive_computation(n + 1)


def data_serialization():
    warnings.warn("a copy is kept")
    end = time.thread_time() + 0.006
    kept.append(bytearray(1500000))
    while time.thread_time() < end:
        text = json.dumps({"numbers": list(range(300))})
        json.loads(text)


def main():
    matrix_operations()
    monte_carlo_simulation()
    statistical_analysis()
    for _ in range(3):
        fourier_analysis()
    recursive_computation()
    for _ in range(40):
        data_serialization()
    print("done", sys.argv[1:])


if __name__ == "__main__":
    main()
