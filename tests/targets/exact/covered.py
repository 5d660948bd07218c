"""For coverage: run by it, or with the argument "api" using it for a part of itself."""

import sys


def leaf(x):
    return x + 1


def work(n):
    for _ in range(500):
        n = leaf(n)
    if n < 0:
        print("never")
    return n


print(work(1), sys.argv[1:])
if "api" in sys.argv:
    import coverage

    tool = coverage.Coverage(data_file=None, config_file=False)
    tool.start()
    work(2)
    tool.stop()
    print(sorted(tool.get_data().lines(__file__)))
    work(3)
sys.exit(3)
