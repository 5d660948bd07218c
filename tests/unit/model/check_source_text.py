"""Compare model/source_text.c with Python's own reading of sources.

usage: check_source_text.py SOURCE_TEXT_TOOL

Every name of every encoding: all characters that one or two bytes can be, behind a cookie.
"""
import encodings.aliases
import pathlib
import subprocess
import sys
import tempfile
import warnings

# Made from a larger set: so many punctuation marks look otherwise (charset_table.py).
DIFFERENT = {"gb2312": 2, "big5": 11, "shift_jis": 6}
# Shown byte by byte: encodings with shifts, of wide units, of no text, or rare and large.
WITHOUT = {"big5hkscs", "euc_jis_2004", "euc_jisx0213", "hz", "iso2022_jp", "iso2022_jp_1", "iso2022_jp_2",
           "iso2022_jp_2004", "iso2022_jp_3", "iso2022_jp_ext", "iso2022_kr", "johab", "shift_jis_2004",
           "shift_jisx0213", "unicode_escape", "raw_unicode_escape"}


def characters(encoding):
    """All that are one character and at home in a source line, with a space behind each."""
    found = []
    for first in range(0x80, 0x100):
        for data in [bytes([first])] + [bytes([first, second]) for second in range(0x30, 0x100)]:
            try:
                text = data.decode(encoding)
            except UnicodeError:
                continue
            if len(text) == 1 and text not in "\x85\u2028\u2029":
                found.append(data)
    return b" ".join(found)


def is_ascii_based(encoding):
    plain = bytes(range(0x20, 0x7f))
    try:
        return plain.decode(encoding) == plain.decode("ascii")
    except UnicodeError:
        return False


def cases():
    names = {}
    for alias, encoding in encodings.aliases.aliases.items():
        names.setdefault(encoding, {encoding}).add(alias)
    for encoding, words in sorted(names.items()):
        try:
            if encoding in WITHOUT or not is_ascii_based(encoding):
                continue
        except LookupError:  # of another system, or of no text
            continue
        body = characters(encoding)
        for word in sorted(words | {word.replace("_", "-").upper() for word in words}):
            try:
                b"".decode(word)
            except LookupError:
                continue
            yield encoding, b"# -*- coding: %s -*-\n# %s\n" % (word.encode(), body)


def main():
    warnings.simplefilter("ignore")
    wrong = 0
    asked = list(cases())
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder, f"{i}.py") for i in range(len(asked))]
        for path, (_, data) in zip(paths, asked):
            path.write_bytes(data)
        answer = subprocess.run([sys.argv[1]], input="".join(f"{path}\n" for path in paths).encode(),
                                stdout=subprocess.PIPE, check=True).stdout
    texts = answer.decode("utf-8", "replace").split("\0")[:-1]
    assert len(texts) == len(asked), (len(texts), len(asked))
    for (encoding, data), text in zip(asked, texts):
        truth = data.decode(encoding)
        off = sum(a != b for a, b in zip(truth, text)) + abs(len(truth) - len(text))
        if off > DIFFERENT.get(encoding, 0):
            wrong += 1
            print(f"{data.splitlines()[0].decode()}: {off} of {len(truth)} characters differ")
    print(f"{len(asked)} names of encodings, {wrong} wrong")
    return 1 if wrong or len(asked) < 200 else 0


sys.exit(main())
