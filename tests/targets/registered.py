"""registered.py LIBRARY SECONDS WAY: calls through code whose .eh_frame is registered, of two kinds in turns."""

import ctypes
import sys
import time

library = ctypes.CDLL(sys.argv[1])
BACK = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_long)
for function in (library.chain, library.caught):
    function.restype = ctypes.c_long
library.make.restype = ctypes.c_bool
library.chain.argtypes, library.caught.argtypes = [ctypes.c_long, ctypes.c_void_p], [ctypes.c_long]
spin_address = ctypes.cast(library.spin_inside, ctypes.c_void_p)


@BACK
def called_back(n):
    total = 0
    for i in range(n // 30):
        total += i * i
    return total % 100


def spun():
    return library.chain(200000, spin_address)


def through():
    return library.chain(200000, ctypes.cast(called_back, ctypes.c_void_p))


def thrown():
    return library.caught(200000)


end, kind, caught = time.perf_counter() + float(sys.argv[2]), 0, set()
while time.perf_counter() < end:
    if not library.make(kind, int(sys.argv[3])):
        caught.add("forgotten")
    turn = time.perf_counter() + 0.4
    while time.perf_counter() < turn:
        spun()
        through()
        caught.add(thrown())
    kind ^= 1
print(caught)
