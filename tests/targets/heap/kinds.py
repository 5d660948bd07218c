"""Blocks of every kind, each kind of a size that nothing else at its line asks for, and what becomes of them.

usage: kinds.py BLOCKS.so [NEW.so]
The last line printed is JSON: [[comment at the end of its line, bytes, asked for, left at the end, whose], ...].
"""

import array
import ctypes
import json
import mmap
import sys
import threading

try:
    import numpy
except ImportError:
    numpy = None

HEAD = sys.getsizeof(b"")
# From 3.15 on a bytearray is around a bytes object, before it has a byte of its own at the end.
AROUND = HEAD if sys.version_info >= (3, 15) else 1
said = {}
kept = []


class Small:
    __slots__ = tuple("abcdefghijklmnopqrstuvwxyzA")  # in no free list, and larger than what a comprehension needs


def objects():
    blocks = [bytes(1009) for _ in range(701)]  # objects
    del blocks[::2]
    kept.append(blocks)
    said["objects"] = 1009 + HEAD, 701, 350, "python"


def small():
    blocks = [Small() for _ in range(30011)]  # small
    del blocks[10007:]
    kept.append(blocks)
    said["small"] = sys.getsizeof(blocks[0]), 30011, 10007, "python"


def arrays():
    blocks = [array.array("b", b"x") * 40009 for _ in range(13)]  # array
    del blocks[5:]
    kept.append(blocks)
    said["array"] = 40009, 13, 5, "python"


def large():
    kept.append(bytearray(30000001))  # large
    said["large"] = 30000001 + AROUND, 1, 1, "python"


def grown():
    """By many small steps; what is left is the last block."""
    block = bytearray()
    while len(block) < 3000000:
        block += bytes(10007)  # grown
    kept.append(block)
    said["grown"] = block.__alloc__(), 1, 1, "python"


def mapped():
    kept.append(mmap.mmap(-1, 25000003))  # mapped
    mmap.mmap(-1, 24000007).close()  # closed
    said["mapped"] = 25000003, 1, 1, "mapped"
    said["closed"] = 24000007, 1, 0, "mapped"


def of_numpy():
    blocks = [numpy.empty(7000003, numpy.uint8) for _ in range(3)]  # numpy
    blocks.append(numpy.zeros(6000011, numpy.uint8))  # zeros
    del blocks[0]
    kept.append(blocks)
    said["numpy"] = 7000003, 3, 2, "native"
    said["zeros"] = 6000011, 1, 1, "native"


def in_thread(blocks):
    for _ in range(200):
        blocks.append(bytes(50021))  # thread


def threads():
    """Each asks; the main thread gives back."""
    blocks = []
    working = [threading.Thread(target=in_thread, args=(blocks,)) for _ in range(4)]
    for thread in working:
        thread.start()
    for thread in working:
        thread.join()
    del blocks[123:]
    kept.append(blocks)
    said["thread"] = 50021 + HEAD, 800, 123, "python"


def api(name, *words):
    function = getattr(ctypes.pythonapi, name)
    function.argtypes = words
    function.restype = None if name.endswith("Free") else ctypes.c_void_p
    return function


def domains():
    """As extensions ask Python for memory: below and above what its pools hold."""
    for domain, sizes in ("PyMem_Raw", (7001, 211)), ("PyMem_", (7013, 223)), ("PyObject_", (7019, 227)):
        malloc, free = api(domain + "Malloc", ctypes.c_size_t), api(domain + "Free", ctypes.c_void_p)
        for size in sizes:
            blocks = [malloc(size) for _ in range(11)]  # domains
            for block in blocks[:4]:
                free(block)
            said["domains", size] = size, 11, 7, "python"
    calloc = api("PyMem_Calloc", ctypes.c_size_t, ctypes.c_size_t)
    realloc = api("PyMem_Realloc", ctypes.c_void_p, ctypes.c_size_t)
    blocks = [calloc(19, 431) for _ in range(5)]  # calloc of Python's
    blocks = [realloc(block, 239) for block in blocks]  # shrunk
    blocks = [realloc(block, 9011) for block in blocks]  # realloc of Python's
    said["calloc of Python's"] = 19 * 431, 5, 0, "python"
    said["shrunk"] = 239, 5, 0, "python"
    said["realloc of Python's"] = 9011, 5, 5, "python"


def of_c(path):
    library = ctypes.CDLL(path)
    library.by_malloc()  # malloc
    library.by_calloc()  # calloc
    library.by_alignment()  # aligned
    library.by_realloc()  # realloc
    library.temporary()  # temporary
    said["malloc"] = 1000003, 10, 10, "native"
    said["calloc"] = 7 * 500009, 3, 3, "native"
    said["aligned"] = 2000003, 5, 5, "native"
    said["realloc"] = 4000037, 1, 1, "native"
    said["temporary"] = 3000029, 200, 0, "native"


def of_cxx(path):
    library = ctypes.CDLL(path)
    library.by_new()  # new
    said["new"] = 1000033, 6, 6, "native"


def main():
    objects()
    small()
    arrays()
    large()
    grown()
    mapped()
    if numpy:
        of_numpy()
    threads()
    domains()
    of_c(sys.argv[1])
    if len(sys.argv) > 2:
        of_cxx(sys.argv[2])


main()
print(json.dumps([[*(key if isinstance(key, tuple) else [key])[:1], *what] for key, what in said.items()]))
