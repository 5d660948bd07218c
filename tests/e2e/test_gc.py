"""The garbage collector's time, against a program that times its own collections."""

import json
import re

from support import capture
from support.run import TARGETS, capture_of, profile

TOLERANCE = 2.0  # points
IN_GC = 64
COLLECTOR = "<garbage collector>"


def test_collections(program, python, tmp_path):
    result = profile(python, [str(TARGETS / "collecting.py"), "0.4"], tmp_path, hz=2000)
    assert result.status == 0, result
    truth = json.loads(result.out.splitlines()[0])
    it = capture.read(capture_of(result))
    total = sum(spent for _thread, _time, spent, _flags, _node in it.samples) / 1e9
    shown = {"collecting": 0.0, "finalising": 0.0, "working": 0.0}
    callers = set()
    wrongly = 0.0
    for _thread, _time, spent, flags, node in it.samples:
        frames = it.path(node)
        path = [f.name for f, _line in frames]
        assert (flags & IN_GC != 0) == (COLLECTOR in path), (flags, path)
        if flags & IN_GC:
            # below the innermost Python frame, with only native code inside it
            at = path.index(COLLECTOR)
            assert frames[at + 1][0].kind == 0, path
            assert all(f.kind == 1 for f, _line in frames[:at]), path
            shown["collecting"] += spent / 1e9
            if {"finalise", "work"} & set(path):
                wrongly += spent / 1e9
            else:
                callers.update(path)
        elif "finalise" in path:
            shown["finalising"] += spent / 1e9
        elif "work" in path:
            shown["working"] += spent / 1e9
    wrong = [
        "%s: %.1f %%, its own clock says %.1f %%"
        % (name, 100 * shown[name] / total, 100 * truth[name] / total)
        for name in truth
        if abs(shown[name] - truth[name]) / total > TOLERANCE / 100
    ]
    assert not wrong, "\n".join(wrong)
    assert {"explicit", "allocating", "finalisers"} <= callers
    # What a person reads: a row of its own, of the time that its callers have. Wall time, so roughly.
    text = (result.folder / "profile_summary.txt").read_text(encoding="utf-8")
    row = re.search(r"^    <garbage collector> +([\d.]+)% \((.*)\)$", text, re.M)
    assert row, text
    assert 0.5 < float(row.group(1)) / (100 * shown["collecting"] / total) < 2, (shown, text)
    assert row.group(2).split()[-1] in ("explicit", "allocating", "finalisers"), text
    table = (result.folder / "profile_results.txt").read_text(encoding="utf-8")
    assert re.search(r"explicit \(line \d+\): .*; \d+% of it collecting garbage", table), table
    # Where the evaluation loop stands on the C stack is known from 3.11 on; before, a word that an
    # earlier collection has left there may be taken for one of this.
    assert wrongly / total < (0.02 if python.version < (3, 11) else 1e-9), wrongly / total
