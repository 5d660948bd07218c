"""Blocks of known sizes at known lines, in the order of their comments; says when all of them are held."""

import ctypes
import mmap
import sys
import threading
import time


def text():
    return [bytes(1000 + i % 3) for i in range(20000)]  # bytes


def floats():
    return [float(i) for i in range(400000)]  # floats


def array():
    return bytearray(30000001)  # array


def native(libc):
    return [libc.malloc(5000011) for _ in range(8)]  # native


def mapped():
    return mmap.mmap(-1, 25000000)  # mapped


def temporary():
    for _ in range(30):
        bytearray(2000003)  # temporary


def in_thread(out):
    out.append([bytes(50021) for _ in range(200)])  # thread


def main():
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.free.argtypes = [ctypes.c_void_p]
    held = [text(), floats(), array(), mapped()]
    blocks = native(libc)
    temporary()
    thread = threading.Thread(target=in_thread, args=(held,))
    thread.start()
    thread.join()
    end = time.thread_time() + 0.05  # the peak
    while time.thread_time() < end:
        pass
    for block in blocks:
        libc.free(block)
    del held[1:]
    sys.stdout.write("done\n")
    return held


kept = main()
