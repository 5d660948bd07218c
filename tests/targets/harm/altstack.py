"""altstack.py BYTES SECONDS: an alternate signal stack of that size for twice as long, with pages below it that kill."""

import ctypes
import sys

from work import burn

GUARD = 16 * 4096
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


class Stack(ctypes.Structure):
    _fields_ = [("sp", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t)]


size = int(sys.argv[1])
base = libc.mmap(None, GUARD + size, 3, 0x22, -1, 0)
libc.mprotect(base, GUARD, 0)
print(libc.sigaltstack(ctypes.byref(Stack(base + GUARD, 0, size)), None))
burn(float(sys.argv[2]))
import decimal, sqlite3  # noqa: E401,F401,E402  (other code: whoever knows it has to look again)

burn(float(sys.argv[2]))
print("lives")
