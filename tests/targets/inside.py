"""Which interpreter runs: functions named by interpreter, each with its own clock.

One thread alternates between the main interpreter and others, one inside the other; a second thread
runs in an interpreter that the first has made, beside it. Python code and code that gives the GIL
up. The last line is JSON: CPU seconds by function. Argument: seconds of each part.
"""
import hashlib
import json
import os
import sys
import threading
import time

for name in ("_interpreters", "_xxsubinterpreters"):
    try:
        interpreters = __import__(name)
        break
    except ImportError:
        pass

ROUNDS = 6
DATA = b"x" * 4000000
WORK = """
import hashlib, time
data = b"x" * 4000000

def {0}_python(seconds):
    begin = time.thread_time()
    end = begin + seconds
    while time.thread_time() < end:
        for _ in range(1000):
            pass
    return time.thread_time() - begin

def {0}_native(seconds):
    begin = time.thread_time()
    end = begin + seconds
    while time.thread_time() < end:
        hashlib.sha256(data)
    return time.thread_time() - begin

def {0}(seconds, fd):
    import os
    for f in {0}_python, {0}_native:
        spent = f(seconds)
        os.write(fd, ("%s %r\\n" % (f.__name__, spent)).encode())
"""
NEST = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
"""


def main_python(seconds):
    begin = time.thread_time()
    end = begin + seconds
    while time.thread_time() < end:
        for _ in range(1000):
            pass
    return time.thread_time() - begin


def main_native(seconds):
    begin = time.thread_time()
    end = begin + seconds
    while time.thread_time() < end:
        hashlib.sha256(DATA)
    return time.thread_time() - begin


def run(which, code):
    failed = interpreters.run_string(which, code)
    if failed is not None:
        raise RuntimeError(failed)


def note(cpu, name, spent):
    cpu[name] = cpu.get(name, 0) + spent


def main():
    seconds = float(sys.argv[1]) / ROUNDS
    cpu = {}
    read, write = os.pipe()
    within, beside, deep = (interpreters.create() for _ in range(3))
    for which, name in (within, "within"), (beside, "beside"), (deep, "deep"):
        run(which, WORK.format(name))
    run(within, NEST)
    for _ in range(ROUNDS):
        note(cpu, "main_python", main_python(seconds))
        run(within, "within(%r, %d)" % (seconds, write))
        note(cpu, "main_native", main_native(seconds))
        inner = "deep(%r, %d)" % (seconds, write)
        run(within, "interpreters.run_string(%d, %r)\nwithin(%r, %d)" % (deep, inner, seconds, write))
        thread = threading.Thread(target=run, args=(beside, "beside(%r, %d)" % (seconds, write)))
        thread.start()
        note(cpu, "main_native", main_native(seconds))
        thread.join()
    for which in within, beside, deep:
        interpreters.destroy(which)
    os.close(write)
    with os.fdopen(read) as lines:
        for line in lines:
            name, spent = line.split()
            note(cpu, name, float(spent))
    print(json.dumps(cpu))


if __name__ == "__main__":
    main()
