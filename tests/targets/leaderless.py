"""The first thread ends itself; another one works on for some seconds, and ends the program."""

import ctypes
import threading
import time


def work():
    end = time.monotonic() + 4
    while time.monotonic() < end:
        sum(range(1000))
    print("done", flush=True)
    ctypes.CDLL(None).exit(7)


if __name__ == "__main__":
    threading.Thread(target=work).start()
    ctypes.CDLL(None).pthread_exit(None)
