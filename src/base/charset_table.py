"""Makes charset_table.h: what the bytes of Python's encodings mean, from Python's own codecs.

usage: charset_table.py OUTPUT

All encodings of one byte a character that leave ASCII alone, and those of one or two bytes below. Others
(with shifts, with three bytes throughout) have no table.
"""
import encodings
import encodings.aliases
import pkgutil
import sys

# By what is decoded: the larger sets hold the smaller ones, but for a handful of punctuation marks.
TWO_BYTES = {
    "gb18030": ["gbk", "gb2312"],
    "cp950": ["big5"],
    "cp932": ["shift_jis"],
    "euc_jp": [],
    "cp949": ["euc_kr"],
}
NO_CHARSETS = {"charmap", "raw_unicode_escape", "unicode_escape"}
HIGH = range(0x80, 0x100)


def one(data, encoding):
    """The only character of these bytes, 0: they are no such."""
    try:
        text = data.decode(encoding)
    except (UnicodeError, LookupError):
        return 0
    return ord(text) if len(text) == 1 and ord(text) < 0x10000 else 0


def of_one_byte(encoding):
    """Its 128 characters outside ASCII; None: it is another kind of encoding."""
    ascii_bytes = bytes(range(0x80))
    try:
        if ascii_bytes.decode(encoding) != ascii_bytes.decode("ascii"):
            return None
        if len(bytes(HIGH).decode(encoding, "replace")) != len(HIGH):
            return None
    except (UnicodeError, LookupError):
        return None
    table = [one(bytes([byte]), encoding) for byte in HIGH]
    return table if any(table) else None


def of_two_bytes(encoding):
    """The pairs, as rows from the first lead byte to the last, and those bounds."""
    pairs = {(a, b): one(bytes([a, b]), encoding) for a in HIGH for b in range(0x30, 0x100)}
    leads, trails = zip(*[pair for pair, char in pairs.items() if char])
    bounds = min(leads), max(leads), min(trails), max(trails)
    rows = [pairs[a, b] for a in range(bounds[0], bounds[1] + 1)
            for b in range(bounds[2], bounds[3] + 1)]
    return rows, bounds


def words(encoding):
    """All that a cookie may call it, as charset.c writes a name."""
    aliases = encodings.aliases.aliases
    names = [encoding] + [name for name, target in aliases.items() if target == encoding]
    return sorted({name.lower().replace(".", "_") for name in names})


def write_array(out, name, values):
    out.write(f"static const uint16_t {name}[] = {{\n")
    for i in range(0, len(values), 16):
        out.write("\t" + " ".join(f"0x{value:x}," for value in values[i:i + 16]) + "\n")
    out.write("};\n")


def main():
    names, sets = [], []
    modules = {module.name for module in pkgutil.iter_modules(encodings.__path__)} - NO_CHARSETS
    with open(sys.argv[1], "w", encoding="ascii") as out:
        out.write("/* Made by charset_table.py: do not edit. */\n")
        for encoding in sorted(modules):
            table = of_one_byte(encoding)
            if table:
                write_array(out, f"high_{encoding}", table)
                names += [(word, len(sets)) for word in words(encoding)]
                sets.append(f"{{.high = high_{encoding}}}")
        for encoding, smaller in TWO_BYTES.items():
            rows, bounds = of_two_bytes(encoding)
            write_array(out, f"high_{encoding}", [one(bytes([byte]), encoding) for byte in HIGH])
            write_array(out, f"pairs_{encoding}", rows)
            names += [(word, len(sets)) for name in [encoding] + smaller for word in words(name)]
            sets.append("{high_%s, pairs_%s, 0x%x, 0x%x, 0x%x, 0x%x}"
                        % (encoding, encoding, *bounds))
        out.write("static const struct fah_charset charsets[] = {\n\t%s,\n};\n" % ",\n\t".join(sets))
        out.write("static const struct charset_name names[] = {\n")
        for word, index in sorted(names):
            out.write(f'\t{{"{word}", {index}}},\n')
        out.write("};\n")


main()
