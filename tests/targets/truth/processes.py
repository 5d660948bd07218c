"""Work in children: by fork, by a new interpreter (the file runs itself), and in the parent."""

import os
import subprocess
import sys

import clocks


def in_parent():
    x = 0
    for i in range(60000):
        x = (x + i) & 1023
    return x


def in_fork():
    x = 0
    for i in range(60000):
        x = (x + i) & 1023
    return x


def in_child():
    x = 0
    for i in range(60000):
        x = (x + i) & 1023
    return x


def fork(seconds):
    pid = os.fork()
    if pid == 0:
        clocks.units.clear()
        clocks.rounds(lambda: clocks.timed(in_fork), seconds)
        clocks.say()
        os._exit(0)
    os.waitpid(pid, 0)


if len(sys.argv) > 2:
    clocks.rounds(lambda: clocks.timed(in_child))
else:
    fork(clocks.SECONDS * 0.2)
    subprocess.check_call(
        [sys.executable, os.path.abspath(__file__), str(clocks.SECONDS * 0.5), "child"]
    )
    fork(clocks.SECONDS * 0.1)
    clocks.rounds(lambda: clocks.timed(in_parent), clocks.SECONDS * 0.2)
clocks.say()
