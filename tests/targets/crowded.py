"""Threads that share the GIL, on a core that the program may have to itself or not.
usage: crowded.py CORE SECONDS

crowd   three threads that compute for SECONDS of CPU each, and main in join()
alone   main computes for SECONDS, and blocks for a moment all the time
rest    one thread that sleeps for 3 x SECONDS, and main in join()

Prints, as JSON, what the program's own clocks say of each: {name: [wall, CPU]}.
"""

import json
import os
import sys
import threading
import time

CORE, SECONDS = int(sys.argv[1]), float(sys.argv[2])


def work():
    end = time.thread_time() + SECONDS
    x = 0
    while time.thread_time() < end:
        for i in range(1000):
            x += i


def crowd():
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def turns():
    end = time.thread_time() + SECONDS
    x = 0
    while time.thread_time() < end:
        for i in range(20000):
            x += i
        time.sleep(0.0001)


def alone():
    turns()


def rest():
    thread = threading.Thread(target=time.sleep, args=(3 * SECONDS,))
    thread.start()
    thread.join()


os.sched_setaffinity(0, {CORE})
clocks = {}
for phase in (crowd, alone, rest):
    wall, cpu = time.monotonic(), time.process_time()
    phase()
    clocks[phase.__name__] = [time.monotonic() - wall, time.process_time() - cpu]
print(json.dumps(clocks))
