"""languages.py CXX_LIBRARY RUST_LIBRARY|- CPU_SECONDS: Python, Rust, C++ and Python again, in a known chain.

plain() calls C++; through() calls Rust, which calls C++ (cxx_chain), which calls called_back().
"""

import ctypes
import sys
import time

BACK = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_long)
cxx = ctypes.CDLL(sys.argv[1]).cxx_chain
cxx.argtypes, cxx.restype = [ctypes.c_long, ctypes.c_void_p], ctypes.c_long
rust = None
if sys.argv[2] != "-":
    rust = ctypes.CDLL(sys.argv[2]).rust_chain
    rust.argtypes, rust.restype = [ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p], ctypes.c_int64


def called_back(n):
    total = 0
    for i in range(n):
        total += i * i
    return total % 100


back = BACK(called_back)
back_address = ctypes.cast(back, ctypes.c_void_p).value
cxx_address = ctypes.cast(cxx, ctypes.c_void_p).value


def plain():
    cxx(300000, None)


def through():
    if rust:
        rust(300000, cxx_address, back_address)
    else:
        cxx(300000, back_address)


end = time.process_time() + float(sys.argv[3])
while time.process_time() < end:
    plain()
    through()
