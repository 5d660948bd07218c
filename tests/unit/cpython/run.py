#!/usr/bin/env python3
"""Runs one check of src/cpython on every Python of tools/pythons:
run.py truth|storm|step|caught|lines|offsets LIBRARY LINES_CHECK

truth: our walk against the interpreter's own answer. storm: walks at 5 kHz, 2 s (with FAH_FULL set a
million of them). step: a walk after each instruction. caught: each of them with
a fault, which it must see: on every Python a frame that is stale and one that is missing, and checks
left out where the interpreter has states that only they see. lines: line tables. offsets:
tools/gen-offsets --check. A Python that can't be entered is said and skipped. What takes longest has two at a time,
and without FAH_FULL one build of each version. Where CPython's own JIT is built in, truth, storm and, with
FAH_FULL, step run once more with it (PYTHON_JIT=1).
"""

import concurrent.futures
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
TREE = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, os.path.join(TREE, "tests", "e2e"))
from support import pythons  # noqa: E402  (the path above comes first)

FULL = bool(os.environ.get("FAH_FULL"))
STORM = "600:1000000" if FULL else "2"  # at most 600 s; 110 s of CPU time for most
JIT = ("truth", "storm", "step") if FULL else ("truth", "storm")
CAUGHT = 3  # the status of a test that has seen the fault it was given
STALE, MISSING = str(1 << 16), str(1 << 17)  # as in probe.py
# Minor version: bits of enum fah_py_test_skip.
SKIPS = {(3, 12): "16"}


def command(root, path, script, *args):
    words = [path, os.path.join(HERE, script)] + list(args)
    if root == "/":
        return words
    if os.geteuid() != 0:
        return None
    binds = ["--bind", TREE]
    for arg in args:
        folder = os.path.dirname(os.path.realpath(arg)) if os.path.isabs(arg) else None
        if folder and not folder.startswith(TREE + "/"):
            binds += ["--bind", folder]
    return [os.path.join(TREE, "tools", "in-root")] + binds + [root] + words


def run(words, **kwargs):
    return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True, timeout=1200, **kwargs)


def lines(words, checker):
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as dump:
        done = subprocess.run([checker], stdin=dump.stdout, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              universal_newlines=True)
        dump.stdout.close()
        if dump.wait() != 0:
            done.returncode = done.returncode or 1
    return done


def main():
    what, library, checker = sys.argv[1], os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3])
    if what == "offsets":
        return subprocess.run([os.path.join(TREE, "tools", "gen-offsets"), "--check"]).returncode
    failed = ran = 0
    # each version once, where that takes long: with FAH_FULL every build
    chosen = pythons.available() if what in ("truth", "lines") else pythons.versions()
    with concurrent.futures.ThreadPoolExecutor(2 if what == "step" or (what == "storm" and FULL) else 1) as pool:
        for tests in pool.map(lambda python: check(what, library, checker, python), chosen):
            for ok, text in tests:
                ran += ok is not None
                failed += ok is False
                print(text, flush=True)
    print("%d runs, %d failed" % (ran, failed))
    return 1 if failed or not ran else 0


def check(what, library, checker, python):
    """[(passed, None: skipped; the text to print)] of one Python."""
    runs = {
        "truth": [("walk_truth.py", library)],
        "storm": [("walk_storm.py", library, STORM)],
        "step": [("walk_storm.py", library, "step")],
        "caught": [("walk_truth.py", library, MISSING), ("walk_storm.py", library, "1", MISSING),
                   ("walk_storm.py", library, "1", STALE)],
        "lines": [("lines_dump.py", "60")],
    }.get(what)
    if not runs:
        sys.exit(__doc__)
    if what == "caught" and python.version[:2] in SKIPS:
        runs.append(("walk_storm.py", library, "step", SKIPS[python.version[:2]]))
    want = CAUGHT if what == "caught" else 0
    results = []
    runs = [(None, script) for script in runs]
    if what in JIT and python in pythons.with_jit():
        runs += [({**os.environ, "PYTHON_JIT": "1"}, script) for _, script in runs]
    for env, script in runs:
        words = command(python.root, python.path, *script)
        if words is None:
            return [(None, "SKIPPED: %s: only root may enter %s" % (python.name, python.root))]
        done = lines(words, checker) if what == "lines" else run(words, env=env)
        text = done.stdout.strip().splitlines()
        name = python.name + (" with its JIT" if env else "")
        if done.returncode != want:
            shown = "\n".join("    " + line for line in text[-25:])
            results.append((False, "FAILED: %s: status %d, not %d\n%s" % (name, done.returncode, want, shown)))
        else:
            results.append((True, "%s: %s" % (name, text[-1] if text else "ok")))
    return results


if __name__ == "__main__":
    sys.exit(main())
