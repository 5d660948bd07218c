"""Puts itself under a seccomp filter that kills for what the profiler would call, then works on.

Argument: prctl, seccomp or refused (the kernel does not take the filter); and `quick`, for who only wants
to know what it prints. Prints what it did.
"""

import ctypes
import os
import subprocess
import sys
import threading

LIBC = ctypes.CDLL(None, use_errno=True)
# process_vm_readv and writev, getrusage, getpid, timer_create to timer_delete, sched_yield
FORBIDDEN = [310, 311, 98, 39, 222, 223, 224, 225, 226, 24]
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SYS_SECCOMP = 22, 38, 317
KILL, ALLOW = 0x80000000, 0x7FFF0000


class Instruction(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_ushort),
        ("jt", ctypes.c_ubyte),
        ("jf", ctypes.c_ubyte),
        ("k", ctypes.c_uint),
    ]


class Program(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.POINTER(Instruction))]


def make_filter():
    lines = [(0x20, 0, 0, 0)]  # load the number of the call
    for i, number in enumerate(FORBIDDEN):
        lines.append((0x15, len(FORBIDDEN) - i, 0, number))
    lines += [(0x06, 0, 0, ALLOW), (0x06, 0, 0, KILL)]
    return (Instruction * len(lines))(*[Instruction(*line) for line in lines])


ROUNDS = 1000 if sys.argv[2:] == ["quick"] else 1500000


def before():
    return sum(i & 3 for i in range(ROUNDS))


def after():
    return sum(i & 7 for i in range(ROUNDS))


def main(how):
    before()
    LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    lines = make_filter()
    program = Program(0 if how == "refused" else len(lines), lines)
    if how == "seccomp":
        done = LIBC.syscall(SYS_SECCOMP, 1, 0, ctypes.byref(program))
    else:
        done = LIBC.prctl(PR_SET_SECCOMP, 2, ctypes.byref(program))
    print(how, done, flush=True)
    after()
    pid = os.fork()
    if pid == 0:
        after()
        os._exit(3)
    print(os.waitpid(pid, 0)[1] >> 8, flush=True)
    script = "print(sum(i & 3 for i in range(1000000)))"
    print(subprocess.run([sys.executable, "-c", script], stdout=-1).stdout, flush=True)
    print(os.system("exit 5") >> 8, flush=True)
    # last: a fork beside threads makes newer Pythons warn, with their pid
    threads = [threading.Thread(target=after) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main(sys.argv[1])
