#!/usr/bin/env python3
"""Runs one check of src/cpython on every Python of tools/pythons:
run.py truth|storm|step|caught|lines|offsets LIBRARY LINES_CHECK

truth: our walk against the interpreter's own answer. storm: walks at 5 kHz, 2 s (300 s
with FAH_FULL set). step: a walk after
each instruction. caught: the same with checks left out, which must be seen. lines: line tables.
offsets: tools/gen-offsets --check. A Python that can't be entered is said and skipped.
"""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
TREE = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
STORM_SECONDS = "300" if os.environ.get("FAH_FULL") else "2"  # the long form: a million walks a Python


def pythons():
    listed = subprocess.run([os.path.join(TREE, "tools", "pythons")], check=True, stdout=subprocess.PIPE,
                            universal_newlines=True).stdout
    for line in listed.splitlines():
        name, version, root, path = line.split("\t")
        yield name, tuple(int(part) for part in version.split(".")), root, path


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
    for name, version, root, path in pythons():
        want = 0
        if what == "truth":
            words = command(root, path, "walk_truth.py", library)
        elif what == "storm":
            words = command(root, path, "walk_storm.py", library, STORM_SECONDS)
        elif what == "step":
            words = command(root, path, "walk_storm.py", library, "step")
        elif what == "caught":
            # Where the interpreter has states that only these checks see.
            if version[:2] != (3, 12):
                continue
            words, want = command(root, path, "walk_storm.py", library, "step", "16"), 3
        elif what == "lines":
            words = command(root, path, "lines_dump.py", "60")
        else:
            sys.exit(__doc__)
        if words is None:
            print("SKIPPED: %s: only root may enter %s" % (name, root))
            continue
        done = lines(words, checker) if what == "lines" else run(words)
        ran += 1
        text = done.stdout.strip().splitlines()
        if done.returncode != want:
            failed += 1
            print("FAILED: %s: status %d, not %d" % (name, done.returncode, want))
            print("\n".join("    " + line for line in text[-25:]))
        else:
            print("%s: %s" % (name, text[-1] if text else "ok"))
        sys.stdout.flush()
    print("%d Pythons, %d failed" % (ran, failed))
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
