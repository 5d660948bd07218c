"""What we take a CPython's memory for: the words that are read of _PyRuntime (3.13+), and the table of the
agent's library (3.8 to 3.12). Read from the sources, so that a test tries each number that is used."""

import re
import struct
from typing import Dict, List, Tuple

from support.pythons import REPO

SOURCES = REPO / "src" / "cpython"
SIZES = {"uint8_t": 1, "uint32_t": 4, "uint64_t": 8}


def words(minor: int) -> Dict[str, int]:
    """By name, the index of each word of the debug offsets of 3.minor."""
    text = (SOURCES / "debug_offsets.c").read_text()
    part = re.search(r"\.minor = %d,(.*?)\n\t\}," % minor, text, re.S)
    return {name: int(number) for name, number in re.findall(r"\.(\w+) = (\d+)", part[1])}


def _fields() -> List[Tuple[str, int, int]]:
    """(name, offset, size) of struct fah_py_layout, as C lays it out."""
    text = (SOURCES / "layout.h").read_text()
    body = re.search(r"struct fah_py_layout \{(.*?)\n\};", text, re.S)[1]
    fields, at = [], 0
    for kind, names in re.findall(r"(uint\d+_t)\s+([^;]+);", re.sub(r"/\*.*?\*/", "", body, flags=re.S)):
        for name in names.split(","):
            size = SIZES[kind]
            at = (at + size - 1) // size * size
            count = int((re.findall(r"\[(\d+)\]", name) or ["1"])[0])
            fields.append((name.split("[")[0].strip(), at, size * count))
            at += size * count
    return fields


def table(minor: int) -> Tuple[bytes, Dict[str, int]]:
    """The bytes of the layout of 3.minor in the agent's library, and by name where the numbers stand."""
    text = (SOURCES / "offsets.c").read_text()
    part = re.search(r"\.minor = %d,\s*\.layout = \{(.*?)\n\t\t\}," % minor, text, re.S)
    values = {n: int(v, 0) for n, v in re.findall(r"\.(\w+) = (\w+)", part[1])}
    fields = _fields()
    data = bytearray(fields[-1][1])  # without the bitmap of opcodes, which comes last
    for name, at, size in fields[:-1]:
        struct.pack_into("<I" if size == 4 else "<Q", data, at, values.get(name, 0))
    places = {name: at for name, at, size in fields[:-1] if name in values}
    assert len(places) == len(values), "a number of the table is not in the structure"
    return bytes(data), places
