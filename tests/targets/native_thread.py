"""native_thread.py LIBRARY SECONDS: a thread of C, which Python knows nothing of, spends so much CPU; prints how much."""

import ctypes
import sys

run = ctypes.CDLL(sys.argv[1]).run_native_thread
run.restype = ctypes.c_double
run.argtypes = [ctypes.c_double]
print(run(float(sys.argv[2])))
