"""Line tables of the standard library's code objects, with what Python itself says of each instruction:
python lines_dump.py COUNT > dump

For tests/unit/cpython/lines_check.c. Each code object: kind, first line, length of the table,
number of instructions, the table, then for each instruction line, end line, column, end column.
"""

import dis
import glob
import os
import struct
import sys
import types

KIND = 3 if sys.version_info >= (3, 11) else 2 if sys.version_info >= (3, 10) else 1
out = sys.stdout.buffer

STRANGE = '''
def no_line():
    try:
        pass
    finally:
        x = 1
    return x
def far(a):
    return (a,
%s
        a)
def wide():
    return [%s0]
lambda: (yield)
async def g():
    async with a as b, c as d:
        return [x async for x in b if x]
match_like = {**{}, "k": lambda q, *r, s=1: (q, r, s)}
''' % ("\n" * 5000, "1, " * 400)


def positions(code):
    n = len(code.co_code) // 2
    if KIND == 3:
        for line, end_line, column, end_column in code.co_positions():
            yield (line or 0, end_line or 0, -1 if column is None else column,
                   -1 if end_column is None else end_column)
        return
    lines = [0] * n
    if KIND == 2:
        for start, end, line in code.co_lines():
            for i in range(start // 2, end // 2):
                lines[i] = line or 0
    else:
        starts = dict(dis.findlinestarts(code))
        line = code.co_firstlineno
        for i in range(n):
            line = starts.get(i * 2, line)
            lines[i] = line
    for line in lines:
        yield (line, line, -1, -1)


def dump(code):
    table = code.co_linetable if KIND > 1 else code.co_lnotab
    rows = list(positions(code))
    out.write(struct.pack("<IiII", KIND, code.co_firstlineno, len(table), len(rows)))
    out.write(table)
    out.write(b"".join(struct.pack("<iiii", *row) for row in rows))
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            dump(const)


count = int(sys.argv[1])
folder = os.path.dirname(os.__file__)
files = sorted(glob.glob(folder + "/*.py") + glob.glob(folder + "/*/*.py"))
files = files[::max(1, len(files) // count)] + [dis.__file__]
dump(compile(STRANGE, "strange", "exec"))
for name in files:
    try:
        with open(name, encoding="utf-8") as file:
            text = file.read()
        if len(text) < 200000:
            dump(compile(text, name, "exec"))
    except (SyntaxError, UnicodeDecodeError, ValueError):
        pass
