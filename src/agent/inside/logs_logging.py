# logs_logging.py - what is edited in logging; see logs.py.

SUPPRESSED, RECORD = 0, 1  # as in agent/log_hook.c


def edits():
    found = [(("Logger", "_log"), handled), (("Logger", "log"), suppressed)]
    found.append((("LoggerAdapter", "log"), suppressed))
    for number, function in enumerate(("debug", "info", "warning", "error", "critical"), 1):
        if number * 10 >= level:
            found.append((("Logger", function), suppressed))
    return found


def suppressed(lines, first, last):
    """A level that is not enabled: whoever is asked next says no, too."""
    start = "if self.isEnabledFor("
    for i in range(first, last):
        line = lines[i]
        if line.lstrip().startswith(start) and line.endswith("):"):
            asked = line[line.index(start) + len(start) : -2]
            lines[i] = "%s or %r @ (%d, self, %s, msg, args, kwargs):" % (line[:-1], MARK, SUPPRESSED, asked)
            return True
    return False


def handled(lines, first, last):
    """Also when it raises. As `try: ` takes 5 columns, all is 5 less deep: see less_deep."""
    found = "        self.handle(record)"
    if lines[last - 1] != found or lines[last]:
        return False
    lines[last - 1] = found[5:8] + "try: " + found[8:]
    lines[last] = "%sfinally: %r @ (%d, level, record)" % (found[5:8], MARK, RECORD)
    return True


def prepared(lines):
    return [less_deep(line) if line else line for line in lines]


def finished(edit, code, last):
    return same_line(code, last) if edit is handled else code


def less_deep(line):
    """The same columns, another depth: a form feed begins the counting of depth anew."""
    n = len(line) - len(line.lstrip(" "))
    if n < 4:
        return line
    return " " * (4 if n > 4 else 2) + "\f" + line[5 if n > 4 else 3 :]


def same_line(code, line):
    """What stands in the line behind this one stands in this one: it was not there before."""
    table = getattr(code, "co_linetable", None)
    if table is None:  # up to 3.9
        return code.replace(co_lnotab=in_pairs(code.co_lnotab, code.co_firstlineno, line))
    moved = in_entries if hasattr(code, "co_positions") else in_pairs  # since 3.11
    return code.replace(co_linetable=moved(table, code.co_firstlineno, line))


def in_pairs(table, now, line):
    """Bytes of code, lines further; -128, since 3.10: none."""
    made = list(table)
    for i in range(1, len(made), 2):
        further = made[i] - 256 if made[i] > 127 else made[i]
        if further != -128:
            made[i] = (further - (now + further > line) + (now > line)) % 256
            now += further
    return bytes(made)


def in_entries(table, now, line):
    """A first byte, the only one with its highest bit, has the kind; see CPython's locations.md."""
    made, i = [], 0
    while i < len(table):
        start, kind, i = i, table[i] >> 3 & 15, i + 1
        further, shift = kind - 10 if 10 <= kind <= 12 else 0, 0
        if kind in (13, 14):  # 6 bits each, lowest first; the lowest of all is the sign
            while table[i] & 64:
                further, shift, i = further | (table[i] & 63) << shift, shift + 6, i + 1
            further, i = further | table[i] << shift, i + 1
            further = -(further >> 1) if further & 1 else further >> 1
        moved = further - (now + further > line) + (now > line)
        now += further
        first = table[start]
        if 10 <= kind <= 12:
            first += (moved - further) * 8
        made.append(first)
        if kind in (13, 14):
            rest = moved << 1 if moved >= 0 else -moved << 1 | 1
            while rest > 63:
                made.append(rest & 63 | 64)
                rest >>= 6
            made.append(rest)
        while i < len(table) and table[i] < 128:
            made.append(table[i])
            i += 1
    return bytes(made)
