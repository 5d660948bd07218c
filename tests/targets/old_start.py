"""old_start.py OLD LATER: loads OLD, then LATER, which needs libgcc; OLD goes and comes once more."""

import _ctypes
import sys


def libgcc():
    with open("/proc/self/maps") as maps:
        return "libgcc_s" in maps.read()


old = _ctypes.dlopen(sys.argv[1], 2)
print("old", libgcc())
_ctypes.dlopen(sys.argv[2], 2)
print("later", libgcc())
_ctypes.dlclose(old)
_ctypes.dlclose(_ctypes.dlopen(sys.argv[1], 2))
print("old", libgcc())
