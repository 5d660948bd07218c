"""`calls`, run on a target, and Python's stats files as what tests compare."""

import os
import pstats

from support import run
from support.run import BINARY

TARGETS = run.TARGETS / "exact"


def calls(python, folder, args, options=(), name="calls", **rest):
    command = [str(BINARY), name] + list(options) + ["--python", python.path]
    return run.run(command + [str(arg) for arg in args], folder, python, **rest)


def stats_of(path):
    """{(file's name, line, name): (calls, primitive, self, total, {caller: (calls, primitive)})}"""
    found = {}
    for (file, line, name), (primitive, n, self, total, callers) in pstats.Stats(str(path)).stats.items():
        by = {(os.path.basename(k[0]), k[1], k[2]): v[:2] for k, v in callers.items()}
        found[(os.path.basename(file), line, name)] = (n, primitive, self, total, by)
    return found


def told(python, folder, name, *args, options=(), status=0):
    path = folder / "our.prof"
    result = calls(python, folder, [TARGETS / name] + list(args), ["-o", str(path)] + list(options))
    assert result.status == status, result
    return stats_of(path), result


def by_name(found, file):
    return {key[2]: value for key, value in found.items() if key[0] == file}
