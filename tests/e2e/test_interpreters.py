"""Several interpreters in one thread: samples must name the one that runs."""

import json

from support import capture
from support.run import TARGETS, capture_of, profile

TOLERANCE = 2.0  # points


def shares_of(it, names):
    """Percent of the CPU of these functions' samples, and how many samples have none of them."""
    cpu, other = dict.fromkeys(names, 0), 0
    for _thread, _time, spent, _flags, node in it.samples:
        found = [f.name for f, _line in it.path(node) if f.name in cpu]
        assert len(found) < 2, found
        if found:
            cpu[found[0]] += spent
        else:
            other += spent
    return cpu, other


def test_interpreters(program, build, tmp_path):
    result = profile(build, [str(TARGETS / "inside.py"), "0.2"], tmp_path, hz=2000)
    assert result.status == 0, result
    truth = json.loads(result.out.splitlines()[0])
    assert len(truth) == 8
    it = capture.read(capture_of(result))
    cpu, _ = shares_of(it, truth)
    total = sum(truth.values())
    wrong = [
        "%s: %.1f %%, its own clock says %.1f %%"
        % (name, cpu[name] / 1e7 / total, 100 * truth[name] / total)
        for name in truth
        if abs(cpu[name] / 1e7 / total - 100 * truth[name] / total) > TOLERANCE
    ]
    assert not wrong, "%s\n%r %r" % ("\n".join(wrong), it.drops, it.agent_drops)
