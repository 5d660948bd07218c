"""faults.py WHAT: faulthandler, whose reports are the program's."""

import ctypes
import faulthandler
import os
import signal
import sys
import threading
import time

from work import burn


def later():
    faulthandler.dump_traceback_later(0.2, repeat=False)
    time.sleep(0.5)
    burn(0.1)


def user():
    faulthandler.register(signal.SIGUSR1, chain=False)
    for _ in range(50):
        os.kill(os.getpid(), signal.SIGUSR1)


def many():
    for _ in range(50):
        faulthandler.dump_traceback()
        burn(0.002)


def fault():
    burn(0.1)
    threading.Thread(target=time.sleep, args=(10,), daemon=True).start()
    ctypes.string_at(8)


def overflow():
    """The C stack's end, reported from the alternate one."""
    call = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_long)(lambda n: call(n + 1))
    sys.setrecursionlimit(10**7)
    burn(0.1)
    call(0)


def abort():
    burn(0.1)
    os.abort()


faulthandler.enable()
globals()[sys.argv[1]]()
print("end")
