"""The clocks that a program of this folder holds against itself.

A unit is a function that `timed` calls; its truth is the CPU of the thread that ran it, and the wall
time, by the kernel's clocks, around the call. `rounds` repeats a turn until the process has used
the CPU asked for, so a run has the same number of samples on a slow machine as on a fast one
(FAH_TRUTH_TURNS: so many turns instead, for runs that are to do the same work). At the end one
line of JSON goes to the file that FAH_TRUTH names (children append theirs), so that stdout stays
the program's.

    usage: PROGRAM.py [CPU SECONDS]
"""

import json
import os
import resource
import sys
import threading
import time

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0

units = {}
lines = {}
waits = {}
log = []  # (unit, begin, end) in ns of the monotonic clock, where a program asks for it
keep_log = bool(os.environ.get("FAH_TRUTH_LOG"))
lock = threading.Lock()
begun = time.perf_counter()
rusage_thread = getattr(resource, "RUSAGE_THREAD", 1)


def unit(name, functions=()):
    """The entry of a unit; functions: others of the program's that work for it alone."""
    entry = units.get(name)
    if entry is None:
        entry = units[name] = {"cpu": 0.0, "wall": 0.0, "system": 0.0, "calls": 0, "with": []}
    for other in functions:
        if other not in entry["with"]:
            entry["with"].append(other)
    return entry


def add(name, cpu, wall=0.0, system=0.0):
    with lock:
        entry = unit(name)
        entry["cpu"] += cpu
        entry["wall"] += wall
        entry["system"] += system
        entry["calls"] += 1


def timed(function, *args):
    """function(*args), its time added to the unit of its name."""
    before = resource.getrusage(rusage_thread).ru_stime
    wall = time.monotonic_ns()
    cpu = time.thread_time_ns()
    result = function(*args)
    cpu = time.thread_time_ns() - cpu
    end = time.monotonic_ns()
    add(
        function.__name__,
        cpu / 1e9,
        (end - wall) / 1e9,
        resource.getrusage(rusage_thread).ru_stime - before,
    )
    if keep_log:
        log.append((function.__name__, wall, end))
    return result


def lap(name, since):
    """CPU since then is the line's that has the comment `line: name`; now, for the next one."""
    now = time.thread_time_ns()
    lines[name] = lines.get(name, 0.0) + (now - since) / 1e9
    return time.thread_time_ns()


def waited(name, since):
    """Wall time since then (time.monotonic_ns) is the line's that has the comment `wait: name`."""
    waits[name] = waits.get(name, 0.0) + (time.monotonic_ns() - since) / 1e9


chance = time.time_ns() % 2**32


def out_of_step(turn_ns):
    """Up to half of the turn's CPU, by chance. Turns of equal length can keep step with the kernel's
    tick for a whole run, and then a tick sees the same place each time: that is for periodic.py to show.
    (With an eighth, where turn and chance took half a tick together, one of 27 % was shown with 54.)"""
    global chance
    chance = (chance * 1664525 + 1013904223) % 2**32
    end = time.thread_time_ns() + turn_ns * chance // 2**33
    while time.thread_time_ns() < end:
        pass


def rounds(turn, seconds=None):
    """Turns until the process has used its CPU: whole ones, at least one."""
    if "FAH_TRUTH_TURNS" in os.environ:
        for _ in range(int(os.environ["FAH_TRUTH_TURNS"])):
            turn()
        return
    end = time.process_time() + (SECONDS if seconds is None else seconds)
    while True:
        begun = time.thread_time_ns()
        turn()
        out_of_step(time.thread_time_ns() - begun)
        if time.process_time() >= end:
            return


def say(**more):
    own = resource.getrusage(resource.RUSAGE_SELF)
    it = {
        "pid": os.getpid(),
        "units": units,
        "lines": lines,
        "cpu": own.ru_utime + own.ru_stime,
        "system": own.ru_stime,
        "wall": time.perf_counter() - begun,
    }
    if log:
        it["log"] = log
    if waits:
        it["waits"] = waits
    it.update(more)
    place = os.environ.get("FAH_TRUTH")
    if place:
        text = json.dumps(it) + "\n"
        file = os.open(place, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        os.write(file, text.encode())  # one write: children append to the same file
        os.close(file)
    else:
        for name in sorted(units, key=lambda name: -units[name]["cpu"]):
            print("%-20s %7.3f s" % (name, units[name]["cpu"]))
