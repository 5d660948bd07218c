"""The longest list of arguments with which a child starts, by every way, to the byte."""

import os
import subprocess

PROGRAM, ENV = "/bin/true", {"A": "1"}


def run(args):
    return subprocess.run(args, env=ENV).returncode


def spawn(args):
    return os.waitpid(os.posix_spawn(PROGRAM, args, ENV), 0)[1]


def spawnp(args):
    return os.waitpid(os.posix_spawnp("true", args, ENV), 0)[1]


def execute(call, name):
    def start(args):
        pid = os.fork()
        if pid == 0:
            try:
                call(name, args, ENV)
            finally:
                os._exit(1)
        return os.waitpid(pid, 0)[1]

    return start


def starts(way, n):
    try:
        return way([PROGRAM] + ["x" * 1023] * (n // 1024) + ["x" * (n % 1024)]) == 0
    except OSError:
        return False


for way in run, spawn, spawnp, execute(os.execve, PROGRAM), execute(os.execvpe, "true"):
    low, high = 0, 8 << 20
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if starts(way, middle) else (low, middle)
    print(low)
