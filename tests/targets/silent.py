"""silent.py HOW SECONDS [LIBRARY]: CPU of the first thread, and as much of one that no signal reaches.

HOW: python, a Python thread that blocks all signals, beside the first one; or a function of silent.c, one of C.
"""

import ctypes
import signal
import sys
import threading
import time

HOW, SECONDS = sys.argv[1], float(sys.argv[2])
ALL = signal.valid_signals()


def burn():
    end = time.thread_time() + SECONDS
    while time.thread_time() < end:
        sum(range(1000))


def silent():
    signal.pthread_sigmask(signal.SIG_BLOCK, ALL)
    burn()


if HOW == "python":
    thread = threading.Thread(target=silent)
    thread.start()
    burn()
    thread.join()
else:
    burn()
    print(getattr(ctypes.CDLL(sys.argv[3]), HOW)(ctypes.c_double(SECONDS)))
