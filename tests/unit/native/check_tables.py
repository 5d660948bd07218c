"""Our unwind tables against readelf, row by row.  usage: check_tables.py TABLE_TOOL [FILE...]

Without files: the C library, this Python, its libpython and what it has loaded of numpy, where there is any.
readelf runs the same programs by other code: for every row that it prints, our rule at that pc must be the
same. What it calls an expression (exp) ours may have as a rule of its own or not at all. Between functions ours
must have none (in big gaps those that the code itself gives). The lengths of instructions are compared with
objdump's. Symbols are compared with readelf's too.
"""
import bisect
import os
import re
import subprocess
import sys

FDE = re.compile(r"^[0-9a-f]+ [0-9a-f]+ [0-9a-f]+ FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)")
MAX_ROWS = 100_000  # of one file: readelf takes long for big ones


def own_rows(tool, path):
    pcs, rules = [], []
    with subprocess.Popen([tool, "rows", path], stdout=subprocess.PIPE, text=True) as ran:
        for line in ran.stdout:
            pc, cfa, rest = line.rstrip("\n").split(" ", 2)
            pcs.append(int(pc, 16))
            rules.append((cfa, rest.split()[0]))
    if ran.returncode:
        sys.exit(f"{tool} rows {path}: status {ran.returncode}")
    return pcs, rules


def readelf_rows(path):
    """(start, end, [(pc, cfa, rbp, ra)]) of every function."""
    with subprocess.Popen(["readelf", "--debug-dump=frames-interp", "-W", path], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True) as ran:
        function, columns = None, []
        for line in ran.stdout:
            found = FDE.match(line)
            words = line.split()
            if found:
                if function:
                    yield function
                function = (int(found[1], 16), int(found[2], 16), [])
            elif "CIE" in words[:4] or line.startswith("Contents"):
                if function:
                    yield function
                function = None
            elif words[:2] == ["LOC", "CFA"]:
                columns = words
            elif function and len(words) == len(columns) and words[1] != "ZERO":
                row = dict(zip(columns, words))
                function[2].append((int(words[0], 16), row["CFA"], row.get("rbp", "u"), row.get("ra", "?")))
        if function:
            yield function


def expected(cfa, rbp, ra):
    """What ours must be; None: anything."""
    if ra == "u":
        return ("end", None)
    if ra != "c-8":
        return ("none", None) if ra not in ("exp", "vexp") else (None, None)
    if cfa in ("exp", "vexp"):
        return (None, None)
    return (cfa, None if rbp in ("exp", "vexp") or rbp.startswith(("v", "r")) else rbp)


def check(tool, path):
    pcs, rules = own_rows(tool, path)
    compared = different = functions = expressions = 0
    ends = []

    def rule_at(pc):
        i = bisect.bisect_right(pcs, pc)
        return rules[i - 1] if i else ("none", "u")

    for start, end, rows in readelf_rows(path):
        if compared >= MAX_ROWS:
            break
        functions += 1
        ends.append((start, end))
        for i, (pc, cfa, rbp, ra) in enumerate(rows):
            if pc >= end or (i + 1 < len(rows) and rows[i + 1][0] == pc):
                continue  # of several rows of one pc the last holds
            want = expected(cfa, rbp, ra)
            have = rule_at(pc)
            compared += 1
            expressions += want == (None, None)
            if have[0] == "none" and any(row[1].startswith("rcx") for row in rows):
                continue  # eh_return.h: what it has saved of its caller is overwritten from some point on
            if any(w is not None and w != h for w, h in zip(want, have)):
                different += 1
                if different <= 10:
                    print(f"{path}: {pc:x}: readelf {cfa} {rbp} {ra}, ours {' '.join(have)}")
    ends.sort()
    gaps = 0
    for (_, end), (start, _) in zip(ends, ends[1:]):
        if end < start and compared < MAX_ROWS:
            gaps += 1
            if start - end < 64 and (rule_at(end)[0] != "none" or rule_at(start - 1)[0] != "none"):
                different += 1
                print(f"{path}: {end:x}: a gap has the rule {rule_at(end)}")
    print(f"{path}: {functions} functions, {compared} rows compared ({expressions} expressions), {gaps} gaps, "
          f"{different} different")
    return different == 0 and compared > 0


def check_symbols(tool, path):
    """Each name of ours is one that readelf has for that address, and none of its addresses is missing."""
    theirs = {}
    out = subprocess.run(["readelf", "-W", "--syms", path], capture_output=True, text=True, check=False).stdout
    for line in out.splitlines():
        words = line.split()
        if len(words) >= 8 and words[3] in ("FUNC", "IFUNC") and words[6] != "UND":
            theirs.setdefault(int(words[1], 16), set()).add(words[7].split("@")[0])
    wrong = 0
    ours = {}
    for line in subprocess.run([tool, "symbols", path], capture_output=True, text=True,
                               check=True).stdout.splitlines():
        start, _, name = line.split(" ", 2)
        ours[int(start, 16)] = name
    for start, names in theirs.items():
        if ours.get(start, "").split("@")[0] not in names:
            wrong += 1
            if wrong <= 5:
                print(f"{path}: {start:x}: readelf {sorted(names)[:3]}, ours {ours.get(start)}")
    print(f"{path}: {len(theirs)} symbols, {wrong} different")
    return wrong == 0


def check_lengths(tool, path):
    """The length of every instruction is objdump's; at most 1 in 500 is refused (data among the code)."""
    with subprocess.Popen(["objdump", "-d", "-w", path], stdout=subprocess.PIPE, text=True) as dump, \
            subprocess.Popen([tool, "lengths"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as ours:
        for line in dump.stdout:
            parts = line.rstrip("\n").split("\t")
            if len(parts) >= 3 and "(bad)" not in line and not parts[2].startswith((".byte", "rex")):
                ours.stdin.write(parts[1] + "\n")
        ours.stdin.close()
        *wrong, last = ours.stdout.read().splitlines()
    for line in wrong[:10]:
        print(f"{path}: we say {line}")
    count, refused, _ = map(int, last.split())
    print(f"{path}: {count} instructions, {refused} refused, {len(wrong)} wrong")
    return not wrong and count > 1000 and refused * 500 <= count


def loaded():
    """Files with code that this Python has, with numpy if there is one."""
    try:
        import numpy  # noqa: F401
    except ImportError:
        pass
    with open("/proc/self/maps", encoding="utf-8") as maps:
        paths = {line.split(None, 5)[5].rstrip("\n") for line in maps if line.split()[1][2] == "x" and "/" in line}
    return sorted(path for path in paths if os.path.exists(path))


def main():
    tool, files = sys.argv[1], sys.argv[2:] or loaded()
    good = True
    good &= check_lengths(tool, next((path for path in files if "/libc" in path), files[0]))
    for path in files:
        good &= check(tool, path)
        good &= check_symbols(tool, path)
    sys.exit(0 if good else 1)


main()
