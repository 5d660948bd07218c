"""leaderless.py SECONDS: the first thread ends itself; another one works on, with pauses, and ends the program."""

import ctypes
import sys
import threading
import time


def work():
    end = time.monotonic() + float(sys.argv[1])
    while time.monotonic() < end:
        sum(range(300000))
        time.sleep(0.02)
    print("done", flush=True)
    ctypes.CDLL(None).exit(7)


if __name__ == "__main__":
    threading.Thread(target=work).start()
    ctypes.CDLL(None).pthread_exit(None)
