"""Threads, children and memory, or what the program is told where it gets none."""

import os
import subprocess
import sys
import threading

from work import burn


def threads():
    started = []
    for _ in range(5):
        started.append(threading.Thread(target=burn, args=(0.02,)))
        started[-1].start()
    for thread in started:
        thread.join()


def command():
    return subprocess.run([sys.executable, "-SEc", "print(sum(range(10**6)))"], stdout=-1).stdout


def fork():
    pid = os.fork()
    if pid == 0:
        burn(0.05)
        os._exit(3)
    return os.waitpid(pid, 0)[1]


def files():
    with open("grows", "wb") as file:
        file.write(b"x" * 100000)
    return os.path.getsize("grows")


burn(0.2)
for what in threads, command, fork, files:
    try:
        print(what.__name__, what())
    except (OSError, RuntimeError) as err:
        print(what.__name__, err)
burn(0.1)
