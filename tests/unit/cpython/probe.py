"""The probe library, for the tests that run inside a Python: python PROGRAM LIBRARY ..."""

import ctypes
import os
import sys

NOT_STARTED = 0xFFFFFFFF
TRUNCATED, LEAF_CALL, RECOVERED = 1, 2, 4
SKIP_TILING, SKIP_CODE, SKIP_CFRAMES, SKIP_GENS, SKIP_END = 1, 2, 4, 8, 16
FAULT_STALE, FAULT_MISSING = 1 << 16, 1 << 17
DOUBTS = ("none", "fault", "frame", "code", "loop", "moved")


class Frame(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint64), ("instr", ctypes.c_uint32), ("entry", ctypes.c_uint32),
                ("ident", ctypes.c_uint64)]


class Stack(ctypes.Structure):
    _fields_ = [("hash", ctypes.c_uint64), ("n", ctypes.c_uint32), ("whole", ctypes.c_uint32),
                ("recovered", ctypes.c_uint32), ("leaf_call", ctypes.c_uint32),
                ("count", ctypes.c_uint32), ("frames", Frame * 48)]


class Stats(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in
                ("samples", "accepted", "recovered", "empty", "not_stored")]
    _fields_ += [("doubts", ctypes.c_uint64 * 6)]
    _fields_ += [(name, ctypes.c_uint64) for name in ("ns", "max_ns", "frames", "jit")]


def load(path, types=True):
    """The library, ready. types=False: as if the addresses of the types were not known."""
    # PyDLL: the walk must not find the GIL given up on the way to it.
    lib = ctypes.PyDLL(os.path.abspath(path))
    u32, u64, i64 = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int64
    lib.probe_init.argtypes = [u32, u64, ctypes.POINTER(u64)]
    lib.probe_tstate.argtypes, lib.probe_tstate.restype = [u64], i64
    lib.probe_walk.argtypes = [u64]
    lib.probe_frame.restype = ctypes.POINTER(Frame)
    lib.probe_string.argtypes = [u64, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t]
    lib.probe_str.argtypes = [u64, ctypes.c_char_p, ctypes.c_size_t]
    lib.probe_code.argtypes = [u64, ctypes.POINTER(ctypes.c_int32), ctypes.POINTER(u32)]
    lib.probe_line.argtypes = [u64, u32]
    lib.probe_gil_holder.restype = i64
    lib.probe_time.restype = u64
    lib.probe_start.argtypes = [u64, u32]
    lib.probe_step_start.argtypes = [u32]
    lib.probe_doubt_pc.argtypes, lib.probe_doubt_pc.restype = [u32, ctypes.POINTER(u64)], u64
    lib.probe_step_stop.restype = ctypes.POINTER(Stats)
    lib.probe_fault.argtypes = [u32]
    lib.probe_stats.restype = ctypes.POINTER(Stats)
    lib.probe_stop.restype = ctypes.POINTER(Stats)
    lib.probe_stack.restype = ctypes.POINTER(Stack)
    symbol = lambda name: ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, name))
    names = ("PyCode_Type", "PyFrame_Type", "PyGen_Type", "PyCoro_Type", "PyAsyncGen_Type")
    addresses = (u64 * 5)(*[symbol(name) if types else 0 for name in names])
    err = lib.probe_init(sys.hexversion, symbol("_PyRuntime"), addresses)
    assert err == 0, "probe_init: %d" % err
    return lib


def stacks(lib):
    for i in range(4096):
        stack = lib.probe_stack(i).contents
        if stack.count:
            yield stack
