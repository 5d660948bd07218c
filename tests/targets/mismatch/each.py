"""Runs stacks.py once for each "INDEX MORE" that is given, with that number wrong, and says how it went."""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

for word in sys.argv[1:]:
    run = subprocess.run(
        [sys.executable, os.path.join(HERE, "stacks.py"), word],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=dict(os.environ, PYTHONPATH=HERE, FAH_TEST_WORD=word),
        universal_newlines=True,
    )
    print("%s: %d %r" % (word, run.returncode, run.stdout))
