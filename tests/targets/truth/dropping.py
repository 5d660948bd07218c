"""Native code that lets the GIL go: hashes and compression of big buffers, beside a Python loop."""

import hashlib
import zlib

import clocks

BIG = bytes(range(256)) * 8000
TEXT = b"".join(b"%d;" % (i * i % 9973) for i in range(12000))


def hashes():
    return [hashlib.sha512(BIG).digest() for _ in range(3)]


def old_hash():
    return hashlib.md5(BIG).digest()


def compress():
    return zlib.compress(TEXT, 6)


def checksum():
    return [zlib.adler32(BIG) for _ in range(4)]


def loop():
    total = 0
    for i in range(40000):
        total ^= i
    return total


def turn():
    clocks.timed(hashes)
    clocks.timed(old_hash)
    clocks.timed(compress)
    clocks.timed(checksum)
    clocks.timed(loop)


clocks.rounds(turn)
clocks.say(native=["hashes", "old_hash", "compress", "checksum"], python=["loop"])
