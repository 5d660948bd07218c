"""Before the program begins: one number that the interpreter (3.13+) says of itself becomes wrong.

FAH_TEST_WORD: its index in words from the start of _PyRuntime, and what is added to it.
"""
import os

if "FAH_TEST_WORD" in os.environ:
    import ctypes

    index, more = map(int, os.environ["FAH_TEST_WORD"].split())
    word = ctypes.c_uint64.in_dll(ctypes.pythonapi, "_PyRuntime")
    words = (ctypes.c_uint64 * 128).from_address(ctypes.addressof(word))
    words[index] += more
