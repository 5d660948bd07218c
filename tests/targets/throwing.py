"""throwing.py CXX_LIBRARY RUST_LIBRARY|- SECONDS: C++ throws through Rust and C++, below hot() and called_back()."""

import ctypes
import sys
import time

catches = ctypes.CDLL(sys.argv[1]).cxx_catches
catches.argtypes, catches.restype = [ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p], ctypes.c_long
through = ctypes.cast(ctypes.CDLL(sys.argv[2]).rust_pass, ctypes.c_void_p) if sys.argv[2] != "-" else None


@ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_long)
def called_back(n):
    """Exceptions that are thrown and caught below a frame of Python that has others around it."""
    return catches(20, through, None)


def hot():
    return catches(2000, through, ctypes.cast(called_back, ctypes.c_void_p))


end, caught = time.perf_counter() + float(sys.argv[3]), set()
while time.perf_counter() < end:
    caught.add(hot())
print(caught)
