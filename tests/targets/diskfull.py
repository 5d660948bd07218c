"""Fills the disk that it is recorded on, works on in many different stacks, frees it, ends.

  usage: diskfull.py FOLDER SECONDS
"""
import errno
import os
import sys
import time


def fill(folder):
    path = os.path.join(folder, "filler")
    with open(path, "wb", buffering=0) as file:
        for size in (1 << 16, 1 << 9, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
    return path


def work(k):
    """In a function of its own, with a name that takes room in a capture."""
    space, name = {}, "made_%d_%s" % (k, "x" * 400)
    exec("def %s(n):\n    return sum(i & %d for i in range(n))\n" % (name, k), space)
    return space[name](3000)


def main(folder, seconds):
    path = fill(folder)
    end = time.process_time() + seconds
    k = 0
    while time.process_time() < end:
        work(k)
        k += 1
    os.unlink(path)
    print("worked on a full disk")
    return 8


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], float(sys.argv[2])))
