"""chain.py LIBRARY CPU-SECONDS: Python and native code that call each other in known ways.

In turn: native code that holds the GIL (chain_outer by PyDLL), that drops it (by CDLL), that calls
Python back, and the interpreter's own: sorted() with a key in Python, zlib.
"""

import ctypes
import sys
import time
import zlib

DATA = bytes(range(256)) * 400
BACK = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_long)
holding, dropping = ctypes.PyDLL(sys.argv[1]).chain_outer, ctypes.CDLL(sys.argv[1]).chain_outer
for function in (holding, dropping):
    function.argtypes = [ctypes.c_uint64, ctypes.c_void_p]
    function.restype = ctypes.c_uint64


def work(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


def called_back(n):
    work(n)
    return 1


back = BACK(called_back)
back_address = ctypes.cast(back, ctypes.c_void_p).value


def hold():
    holding(1000000, None)


def drop():
    dropping(1000000, None)


def through():
    dropping(1000000, back_address)


def key(x):
    return work(20) - x


def sort():
    sorted(range(300), key=key)


def compress():
    zlib.compress(DATA, 6)


def main():
    end = time.process_time() + float(sys.argv[2])
    while time.process_time() < end:
        hold()
        drop()
        through()
        sort()
        compress()


main()
