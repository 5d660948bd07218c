"""Few functions, among them a generator, whose stacks a test knows."""
import sys
import time


def work(seconds):
    end = time.process_time() + seconds
    n = 0
    while time.process_time() < end:
        n += 1
    return n


def produce(times):
    for _ in range(times):
        yield work(0.005)


def rest():
    time.sleep(0.02)


def main():
    for n in produce(8):
        assert n
    rest()
    print("all is as it was")
    return 3


if __name__ == "__main__":
    sys.exit(main())
