"""The gzip streams of exports, with zlib and without, read by Python's.  usage: check_gzip.py TOOL..."""

import gzip
import random
import subprocess
import sys

random.seed(5)
CASES = [b"", b"x", b"abc" * 50000, bytes(random.randrange(256) for _ in range(200001))]
CASES += [CASES[-1][:n] for n in (65534, 65535, 65536, 131070)]
for tool in sys.argv[1:]:
    for data in CASES:
        for piece in (1 if len(data) < 1000 else 997, 65535, 1000000):
            done = subprocess.run([tool, str(piece)], input=data, stdout=subprocess.PIPE, check=True)
            assert gzip.decompress(done.stdout) == data, (tool, len(data), piece)
