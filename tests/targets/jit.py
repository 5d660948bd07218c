"""jit.py SECONDS: machine code made at run time, named in a perf map, called by hot()."""

import atexit
import ctypes
import mmap
import os
import sys
import time

# mov %rdi,%rcx; again: dec %rcx; jnz again; ret
CODE = bytes.fromhex("4889f9" "48ffc9" "75fb" "c3")
page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(CODE)
address = ctypes.addressof(ctypes.c_char.from_buffer(page))
spin = ctypes.CFUNCTYPE(None, ctypes.c_uint64)(address)
path = "/tmp/perf-%d.map" % os.getpid()
with open(path, "w") as f:
    f.write("%x %x spin made at run time\n" % (address, len(CODE)))
atexit.register(os.unlink, path)


def hot():
    spin(3000000)


end = time.perf_counter() + float(sys.argv[1])
while time.perf_counter() < end:
    hot()
time.sleep(0.1)  # the last samples are taken while the map is still there
