"""Runs a command where the kernel refuses what sandboxes refuse: perf_event_open, ptrace, reading and
writing other processes' memory. usage: refused.py COMMAND [ARG]... (x86-64; needs no privilege)"""

import ctypes
import errno
import os
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 38, 22, 2
REFUSED = {"ptrace": 101, "perf_event_open": 298, "process_vm_readv": 310, "process_vm_writev": 311}
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06  # of BPF: load a word, jump if equal, return
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
ARCH_AT, X86_64 = 4, 0xC000003E


def program() -> bytes:
    """Only the native ABI is judged; a system call of the list gives EPERM."""
    steps = [(LOAD, 0, 0, ARCH_AT), (EQUAL, 1, 0, X86_64), (RETURN, 0, 0, ALLOW), (LOAD, 0, 0, 0)]
    numbers = sorted(REFUSED.values())
    for i, number in enumerate(numbers):
        steps.append((EQUAL, len(numbers) - i, 0, number))
    steps += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, ERRNO | errno.EPERM)]
    return b"".join(struct.pack("<HBBI", *step) for step in steps)


def refuse():
    code = program()
    libc = ctypes.CDLL(None, use_errno=True)
    room = ctypes.create_string_buffer(code, len(code))
    head = struct.pack("<HxxxxxxQ", len(code) // 8, ctypes.addressof(room))
    zero = ctypes.c_ulong(0)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), zero, zero, zero) != 0:
        raise OSError(ctypes.get_errno(), "PR_SET_NO_NEW_PRIVS")
    if libc.prctl(PR_SET_SECCOMP, ctypes.c_ulong(FILTER), head, zero, zero) != 0:
        raise OSError(ctypes.get_errno(), "PR_SET_SECCOMP")
    # What was asked for holds, or the test would test nothing.
    if libc.syscall(REFUSED["ptrace"], 0, 0, 0, 0) != -1 or ctypes.get_errno() != errno.EPERM:
        raise OSError(0, "ptrace is not refused")


if __name__ == "__main__":
    refuse()
    os.execvp(sys.argv[1], sys.argv[1:])
