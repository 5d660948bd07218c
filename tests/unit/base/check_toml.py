#!/usr/bin/env python3
"""Our TOML reader against Python's.  usage: check_toml.py TOML_TOOL [HOW_MANY]

Documents by hand, generated ones, and generated ones with damage: both must take or refuse each, and make
the same of it. Known differences, by the standard's leave: integers beyond 64 bits, the 60th second, the year
0, and what is nested too deeply, are judged apart.
"""
import datetime
import json
import math
import random
import re
import subprocess
import sys

try:
    import tomllib
except ImportError:
    print("SKIP: this Python has no tomllib")
    sys.exit(77)
if sys.version_info >= (3, 15):
    print("SKIP: this Python's tomllib reads TOML 1.1")
    sys.exit(77)

VALID = [
    b"",
    b"\n\r\n \t\n# only a comment",
    b'a = 1 # one\n"b c" = 2\n\'d.e\' = 3\n"" = 4\n1234 = 5\n-_- = 6',
    b"a.b.c = 1\na.b.d = 2\na . e = 3\n'q'.\"r\".s = 4",
    b"3.14159 = 'pi'",
    b"i = [0, +0, -0, 17, +99, -17, 1_000, 5_349_221, 0xDEADBEEF, 0xdead_beef, 0o755, 0b1101_0110]",
    b"i = [9223372036854775807, -9223372036854775808, 0x7fffffffffffffff]",
    b"f = [1.0, +1.5, -0.01, 5e+22, 1e06, -2E-2, 6.626e-34, 224_617.445_991_228, 0.0, -0.0, 0e0, 1e999]",
    b"f = [inf, +inf, -inf, nan, +nan, -nan]",
    b"b = [true, false]",
    b"d = [1979-05-27T07:32:00Z, 1979-05-27T00:32:00-07:00, 1979-05-27t00:32:00.999999z, 1979-05-27 07:32:00Z]",
    b"d = [1979-05-27T07:32:00, 1979-05-27 00:32:00.123456789, 1979-05-27, 07:32:00, 00:32:00.9, 2000-02-29]",
    b"d = 1979-05-27 # a day\ne = 1979-05-27 07:32:00+23:59 # a moment",
    rb's = "I\u0027m \U0001F600 \b\t\n\f\r\"\\ end"',
    b's = \'C:\\Users\\nodejs\'\nt = \'\'\nu = ""',
    b's = """\nRoses\r\n\\\r\n  \\\n  Violets\\   \n\n   are "" \\""" blue\\n"""',
    b's = """"a"""""\nt = \'\'\'\'b\'\'\'\'\'\nu = """\\\n  """\nv = \'\'\'\n\n\'\'\'',
    b"s = '''I [dw]on't need \\d{2} apples\n\t'''",
    "ключ = 1".encode().replace("ключ".encode(), b'"\xd0\xba"') + "\ns = 'ʎǝʞ 日本'".encode(),
    b"a = [ [1, 2], ['a', {b = [1]}], # comment\n\n  [], # more\n]",
    b"a = [\n  1, 2 # c\n , 3\n]",
    b"p = { x = 1, y.z = 2, y.w = 3, 'q' = { } }\nq = {}",
    b"[a]\nb = 1\n[c]\n[a.d]\ne = 1\n[ x . y . 'z' ]",
    b"[a.b.c]\nz = 9\n[a]\nb.x = 1",
    b"[x.y.z.w]\n[x]\n",
    b"[[a]]\nb = 1\n[[a]]\n[a.c]\nd = 1\n[[a]]\n[a.c]\n[[a.e]]\n[[a.e]]\nf.g = 1\n",
    b"[fruit]\napple.color = 'red'\napple.taste.sweet = true\n[fruit.apple.texture]\nsmooth = true",
    b"a = 1\r\nb = 2\r\n",
    b"a = 'x' # \xc3\xa9\ttab",
    b"a\t=\t1\t",
    b"[a]#c\n[[b]] #c",
    b"t = '\t'",
    b"a = " + b"[" * 90 + b"]" * 90,
    b"x = { a = [\n1,\n2\n] }",
    b"a.b = 1\n[a.c]\n",
]
INVALID = [
    b"a",
    b"a =",
    b"= 1",
    b"a = 1 b = 2",
    b"a = 1\na = 2",
    b"a.b = 1\na = 2",
    b"a = 1\na.b = 2",
    b"a.b = 1\na.b.c = 2",
    b"[a]\n[a]",
    b"[a]\nb = 1\n[a.b]",
    b"a.b = 1\n[a]",
    b"[fruit]\napple.color = 1\n[fruit.apple]",
    b"[a.b.c]\nz = 9\n[a]\nb.c.t = 1",
    b"[a.b.c.d]\nz = 9\n[a]\nb.c.d.k.t = 1",
    b"[a]\nb.c = 1\n[x]\n[a.b]",
    b"[a.b]\n[a]\nb.c = 1\n[c]\n[a]",
    b"a = { b = 1 }\na.c = 2",
    b"a = { b = 1 }\n[a.c]",
    b"a = { b = { c = 1 }, b.d = 2 }",
    b"a = { b.c = 1, b = 2 }",
    b"a = { b = 1, b = 2 }",
    b"a = { b = 1, }",
    b"a = { b = 1\n}",
    b"a = {\nb = 1}",
    b"a = { , }",
    b"a = { b = 1 c = 2 }",
    b"a = { b = 1",
    b"a = []\n[[a]]",
    b"a = [{}]\n[a.b]",
    b"a = [{}]\n[[a]]",
    b"[[a]]\n[a]",
    b"[a]\n[[a]]",
    b"[a.b]\n[[a]]",
    b"[[a.b]]\n[a]\nb.c = 1",
    b"[[a]]\nb = 1\n[[a.b]]",
    b"a = [1 2]",
    b"a = [1,,2]",
    b"a = [,]",
    b"a = [1",
    b"a = [1, # ]",
    b"[a",
    b"[a]]",
    b"[[a]",
    b"[[a] ]",
    b"[ [a]]",
    b"[]",
    b"[a.]",
    b"[.a]",
    b"[a..b]",
    b"a..b = 1",
    b".a = 1",
    b"a. = 1",
    b"[a] b = 1",
    b"a b = 1",
    b'"""a""" = 1',
    b"'''a''' = 1",
    b"'a\n' = 1",
    b"a = 01",
    b"a = +0x1",
    b"a = 0X1",
    b"a = 0x",
    b"a = 0x_1",
    b"a = 0xg",
    b"a = 0o8",
    b"a = 0b2",
    b"a = 1__0",
    b"a = _1",
    b"a = 1_",
    b"a = 1.",
    b"a = .1",
    b"a = 1.e1",
    b"a = 1._1",
    b"a = 1_.1",
    b"a = 1e",
    b"a = 1e_1",
    b"a = 1e1.0",
    b"a = 03.14",
    b"a = ++1",
    b"a = - 1",
    b"a = Inf",
    b"a = infinity",
    b"a = True",
    b"a = truer",
    b"a = yes",
    b"a = 1979-5-27",
    b"a = 1979-13-01",
    b"a = 1979-00-01",
    b"a = 1979-02-29",
    b"a = 1900-02-29",
    b"a = 1979-05-00",
    b"a = 1979-05-27T",
    b"a = 1979-05-27T07:32",
    b"a = 1979-05-27T7:32:00",
    b"a = 1979-05-27T24:00:00",
    b"a = 1979-05-27T07:60:00",
    b"a = 1979-05-27T07:32:61",
    b"a = 1979-05-27T07:32:00.",
    b"a = 1979-05-27T07:32:00+24:00",
    b"a = 1979-05-27T07:32:00+07:60",
    b"a = 1979-05-27T07:32:00+0700",
    b"a = 1979-05-27  07:32:00",
    b"a = 07:32:00Z",
    b"a = 07:32",
    b"a = 1979-05-27x",
    b'a = "b',
    b"a = 'b",
    b'a = "b\nc"',
    b"a = 'b\nc'",
    b'a = """b',
    b"a = '''b''",
    b'a = """b""""""',
    b"a = '''b''''''",
    b'a = "\\x41"',
    b'a = "\\e"',
    b'a = "\\u12"',
    b'a = "\\uD800"',
    b'a = "\\U00110000"',
    b'a = "\\ "',
    b'a = """\\ x"""',
    b'a = "\x00"',
    b'a = "\x1f"',
    b"a = '\x7f'",
    b'a = """\x0b"""',
    b'a = """\r"""',
    b"# \x01",
    b"# \x7f",
    b"a = 1 # \r b",
    b"a = 1\rb = 2",
    b"\ra = 1",
    b"a = 1\r",
    b"a = 1\x00",
    b"\x00",
    b"a = [\x001]",
    b"a = '\xff'",
    b"# \xc0\x80",
    b"a = '\xed\xa0\x80'",
    b"\xef\xbb\xbfa = 1",
    b"\xd0\xba = 1",
    b"a = \xe2\x80\x9cb\xe2\x80\x9d",
    b"a = @",
    b"a = b = 1",
    b"a = 1, 2",
    b"a \n= 1",
    b"a =\n1",
]
# (document, line, column, a word of the error)
PLACES = [
    (b"a = 1\nb = yes\n", 2, 5, "quotes"),
    (b"a = 1\r\n\r\na = 2", 3, 1, "line 1"),
    ("'é' = 'é' x".encode(), 1, 11, "end"),
    (b"a = [\n 1,\n 2\nb = 1", 4, 1, "]"),
    (b'a = 1\nb = "c', 2, 5, "does not end"),
    (b"[a]\nb.c = 1\n\n[a.b]", 4, 4, "line 2"),
    (b"a = 9223372036854775808", 1, 5, "64 bits"),
    (b"a = " + b"[" * 101, 1, 105, "100"),
    (b"a." * 100 + b"a = 1", 1, 201, "100"),
    (b"x = 1\n\xff", 2, 1, "UTF-8"),
]


def ask(tool, documents):
    data = b"".join(b"%d\n%s" % (len(d), d) for d in documents)
    out = subprocess.run([tool], input=data, stdout=subprocess.PIPE, check=True).stdout
    answers = [json.loads(part) for part in out.split(b"\0")[:-1]]
    assert len(answers) == len(documents), (len(answers), len(documents))
    return answers


def plain(value):
    """What the tool printed as Python's reader would have it."""
    kind, v = value["type"], value["value"]
    if kind == "table":
        assert len({key for key, _ in v}) == len(v), "a key twice"
        return {key: plain(item) for key, item in v}
    if kind == "array":
        return [plain(item) for item in v]
    if kind == "float":
        return float.fromhex(v)
    if "-" not in kind and kind != "datetime":
        return v
    year, month, day, hour, minute, second, nanos, offset = map(int, v.split())
    clock = (hour, minute, second, nanos // 1000)
    if kind == "time-local":
        return datetime.time(*clock)
    if kind == "date-local":
        return datetime.date(year, month, day)
    zone = datetime.timezone(datetime.timedelta(minutes=offset)) if kind == "datetime" else None
    return datetime.datetime(year, month, day, *clock, tzinfo=zone)


def same(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float):
        return math.isnan(a) and math.isnan(b) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    if isinstance(a, datetime.datetime):
        return a == b and a.utcoffset() == b.utcoffset()
    return a == b


def too_large(value):
    if isinstance(value, dict):
        return any(map(too_large, value.values()))
    if isinstance(value, list):
        return any(map(too_large, value))
    return isinstance(value, int) and not -(2**63) <= value < 2**63


def referee(document):
    try:
        value = tomllib.loads(document.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        return None
    return None if too_large(value) else value


APART = re.compile(rb"\b0000-|:60\b")  # the year 0, the 60th second


def judge(document, answer):
    expected = referee(document)
    if "error" in answer:
        lines = document.count(b"\n") + 1
        assert 1 <= answer["line"] <= lines and answer["column"] >= 1 and answer["error"], (document, answer)
        assert expected is None, "refused: %r\n%s\nPython: %r" % (document, answer, expected)
    else:
        assert expected is not None or APART.search(document), "taken: %r" % document
        if expected is not None:
            got = plain(answer["doc"])
            assert same(got, expected), "%r\nours   %r\nPython %r" % (document, got, expected)
    return expected is not None


class Maker:
    """Documents that use everything, mostly valid; names are few, so that they often meet."""

    def __init__(self, seed):
        self.r = random.Random(seed)

    def key(self):
        r = self.r
        part = lambda: r.choice(["a", "b", "c", "d-1", "_", "7", '"a"', "'b'", '"x.y"', '"\\u0061"', "''"])
        return r.choice([".", " . ", "."]).join(part() for _ in range(r.choice([1, 1, 1, 2, 2, 3])))

    def scalar(self):
        r = self.r
        n = r.randrange(10)
        if n == 0:
            return r.choice(["", "+", "-"]) + str(r.randrange(10 ** r.randrange(1, 21)))
        if n == 1:
            return r.choice(["0x%x", "0o%o", "0x%X"]) % r.getrandbits(r.randrange(1, 66))
        if n == 2:
            return repr(r.uniform(-1, 1) * 10 ** r.randrange(-300, 300))
        if n == 3:
            return "%d_%03d.%d_%d%s" % (r.randrange(1, 999), r.randrange(1000), r.randrange(99), r.randrange(99),
                                        r.choice(["", "e5", "E-0_7", "e+3"]))
        if n == 4:
            return r.choice(["true", "false", "inf", "-inf", "nan", "0.0", "-0.0"])
        if n == 5:
            return "%04d-%02d-%02d" % (r.randrange(1, 10000), r.randrange(1, 13), r.randrange(1, 32)) + r.choice(
                ["", "T", " ", "t"]) + r.choice(["", self.clock(), self.clock() + r.choice(["Z", "z", "+01:30", "-23:59"])])
        if n == 6:
            return self.clock()
        return self.string()

    def clock(self):
        r = self.r
        return "%02d:%02d:%02d" % (r.randrange(25), r.randrange(60), r.randrange(60)) + r.choice(
            ["", ".%d" % r.randrange(10 ** 9), ".000001", ".1234567891"])

    def string(self):
        r = self.r
        quote = r.choice(['"', "'", '"""', "'''"])
        pieces = ["a", " ", "é", "日", "😀", "#", "[", "=", "\t", "'", '"', "''", '""']
        if quote[0] == '"':
            pieces += ["\\n", "\\\\", '\\"', "\\u00e9", "\\U0001F600", "\\t", "\\b", "\\f", "\\r"]
        if len(quote) == 3:
            pieces += ["\n", "\r\n", "\n\n"] + (["\\\n  ", "\\  \n\t"] if quote[0] == '"' else [])
        return quote + "".join(r.choice(pieces) for _ in range(r.randrange(9))) + quote

    def value(self, depth=0):
        r = self.r
        n = r.randrange(6 if depth < 4 else 3)
        if n == 4:
            space = lambda: r.choice(["", "", " ", "\n", " # c\n", "\r\n\t"])
            items = [space() + self.value(depth + 1) + space() for _ in range(r.randrange(4))]
            return "[" + ",".join(items) + (r.choice(["", ","]) if items else "") + space() + "]"
        if n == 5:
            items = ["%s = %s" % (self.key(), self.value(depth + 1)) for _ in range(r.randrange(4))]
            return "{ " + ", ".join(items) + " }"
        return self.scalar()

    def document(self):
        r = self.r
        lines = []
        for _ in range(r.randrange(12)):
            n = r.randrange(10)
            line = ("[%s]" % self.key() if n == 0 else "[[%s]]" % self.key() if n == 1 else "# c\té" if n == 2
                    else "" if n == 3 else "%s = %s" % (self.key(), self.value()))
            lines.append(r.choice(["", "", " ", "\t"]) + line + r.choice(["", "", " ", " # c"]))
        return r.choice(["\n", "\n", "\r\n"]).join(lines).encode()

    def damaged(self, document):
        r = self.r
        data = bytearray(document)
        for _ in range(r.randrange(1, 4)):
            at = r.randrange(len(data) + 1)
            n = r.randrange(3)
            if n == 0:
                data[at:at] = r.choice([b"\n", b"\r", b'"', b"'", b"\\", b"[", b"]", b"{", b"}", b"=", b".", b",", b"#",
                                        b"\0", b"\xff", b"_", b"0", b" ", b"e", b"-", b":", b"\xc3"])
            elif n == 1:
                del data[at:at + r.randrange(1, 4)]
            elif data:
                data[at % len(data)] = r.randrange(256)
        return bytes(data)


def main():
    tool, many = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 6000
    for document, answer in zip(VALID, ask(tool, VALID)):
        assert judge(document, answer), "not valid by Python: %r" % document
    for document, answer in zip(INVALID, ask(tool, INVALID)):
        assert not judge(document, answer), "valid by Python: %r" % document
    for (document, line, column, word), answer in zip(PLACES, ask(tool, [p[0] for p in PLACES])):
        assert (answer.get("line"), answer.get("column")) == (line, column), (document, answer)
        assert word in answer["error"], (document, answer)
    apart = ask(tool, [b"a = 0000-01-01", b"a = 23:59:60", b"a = 18446744073709551616"])
    assert ["error" in answer for answer in apart] == [False, False, True], apart
    maker = Maker(20261115)
    documents = []
    for _ in range(many // 2):
        documents.append(maker.document())
        documents.append(maker.damaged(documents[-1]))
    valid = sum(judge(d, a) for d, a in zip(documents, ask(tool, documents)))
    assert many // 10 < valid < many * 9 // 10, "%d of %d were valid: no good mixture" % (valid, many)
    print("%d documents by hand, %d generated, %d of them valid" % (len(VALID) + len(INVALID), many, valid))


main()
