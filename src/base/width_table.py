#!/usr/bin/env python3
"""Makes width_table.h: which characters take no column of a terminal, and which take two.

usage: width_table.py > width_table.h      (needs a Python of a recent Unicode version)
"""
import sys
import unicodedata

HANGUL_MEDIAL_AND_FINAL = range(0x1160, 0x1200)  # drawn into the syllable before them


def width(code):
    char = chr(code)
    category = unicodedata.category(char)
    if code == 0xAD:  # soft hyphen: terminals draw it
        return 1
    if category in ("Mn", "Me", "Cf", "Zl", "Zp") or code in HANGUL_MEDIAL_AND_FINAL:
        return 0
    # Not yet assigned, but of blocks that Unicode reserves for wide ideographs.
    if unicodedata.east_asian_width(char) in "WF" or code in range(0x20000, 0x2FFFE) \
            or code in range(0x30000, 0x3FFFE):
        return 2
    return 1


def ranges(wanted):
    start = None
    for code in range(0x80, 0x110001):
        match = code <= 0x10FFFF and width(code) == wanted
        if match and start is None:
            start = code
        elif not match and start is not None:
            yield start, code - 1
            start = None


def table(name, wanted):
    print(f"static const struct range {name}[] = {{")
    line = "\t"
    for first, last in ranges(wanted):
        item = f"{{0x{first:x}, 0x{last:x}}}, "
        if len(line) + len(item) > 92:
            print(line.rstrip())
            line = "\t"
        line += item
    print(line.rstrip())
    print("};")


def main():
    version = unicodedata.unidata_version
    print(f"/* Made by width_table.py from Unicode {version}: do not edit. */")
    print("/* clang-format off */")
    table("zero_width", 0)
    print()
    table("double_width", 2)


if __name__ == "__main__":
    sys.exit(main())
