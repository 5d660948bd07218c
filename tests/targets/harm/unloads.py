"""unloads.py SECONDS FOLDER N STEPS THREADS: libraries that take each other's place for ever.

workI of libwI.so is called by callI and nobody else: whoever says otherwise took its name from a
library that stood there before.
"""

import _ctypes
import ctypes
import sys
import threading
import time

SECONDS, FOLDER, N, STEPS, THREADS = sys.argv[1:]


def run(i):
    library = _ctypes.dlopen("%s/libw%d.so" % (FOLDER, i), 2)
    work = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_long)(_ctypes.dlsym(library, "work%d" % i))
    result = work(int(STEPS))
    _ctypes.dlclose(library)
    return result


calls = {}
exec("".join("def call%d(): return run(%d)\n" % (i, i) for i in range(int(N))), globals(), calls)
calls = [calls["call%d" % i] for i in range(int(N))]
expected = [call() for call in calls]
failed = []


def storm(first):
    end, i = time.monotonic() + float(SECONDS), first
    while time.monotonic() < end:
        if calls[i % len(calls)]() != expected[i % len(calls)]:
            failed.append(i)
        i += 1


threads = [threading.Thread(target=storm, args=(7 * i,)) for i in range(1, int(THREADS))]
for thread in threads:
    thread.start()
storm(0)
for thread in threads:
    thread.join()
print(failed, len(set(expected)))
