"""Blocks of malloc's, of 64 kB and 2 MB, each written to. ctypes makes ten small objects for each."""
import ctypes
import os
import time

S = float(os.environ.get("W_SCALE", "1"))
libc = ctypes.PyDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
libc.free.restype = None
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
libc.memset.restype = None


def blocks(n, size):
    for _ in range(n):
        block = libc.malloc(size)
        libc.memset(block, 1, size)
        libc.free(block)


def main():
    blocks(int(400000 * S), 65536)
    blocks(int(10000 * S), 2000000)


t = time.perf_counter()
c = time.process_time()
main()
print("WALL %.6f CPU %.6f" % (time.perf_counter() - t, time.process_time() - c), flush=True)
