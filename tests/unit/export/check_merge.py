"""Captures with more samples than viewers open: exports of them are small, add up, and say what was merged.

usage: check_merge.py FIXINGAHOLE MAKE_CAPTURE
"""

import collections
import json
import pathlib
import subprocess
import sys
import tempfile

PROGRAM, MAKE = sys.argv[1:]
LIMIT = 1_000_000


def export(capture, form, *options):
    """What it wrote and what it said."""
    done = subprocess.run([PROGRAM, "export", capture, "-f", form, *options], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=True)
    return done.stdout.decode(), done.stderr.decode()


def name_of(label):
    return label.split(" (")[0]


def by_stack(capture):
    """Seconds by stack, of a format that merges nothing but equal stacks."""
    out, said = export(capture, "folded", "-t", "-F")
    assert not said, said
    found = {}
    for line in out.splitlines():
        stack, weight = line.rsplit(" ", 1)
        found[tuple(map(name_of, stack.split(";")[1:]))] = int(weight) / 1e6
    return found


def check_said(said, form):
    assert said.count("\n") == 1 and f" {form}: more than 1,000,000 " in said and "-f jsonl" in said, said


def same(found, wanted):
    assert found.keys() == wanted.keys(), (len(found), len(wanted))
    for stack, seconds in wanted.items():
        assert abs(found[stack] - seconds) < 1e-5 + 1e-6 * seconds, (stack, found[stack], seconds)


def check_gecko(capture):
    out, said = export(capture, "gecko", "-F")
    check_said(said, "gecko")
    profile = json.loads(out)
    shared, (thread,) = profile["shared"], profile["threads"]
    samples, stacks, frames = thread["samples"], shared["stackTable"], shared["frameTable"]
    assert samples["length"] <= LIMIT and samples["time"] == sorted(samples["time"])
    assert thread["markers"]["length"] <= LIMIT
    names = [shared["stringArray"][shared["funcTable"]["name"][f]] for f in frames["func"]]
    found = collections.Counter()
    for stack, weight in zip(samples["stack"], samples["weight"]):
        found[stack] += weight / 1e3

    def chain(stack):
        above = chain(stacks["prefix"][stack]) if stacks["prefix"][stack] is not None else ()
        return (*above, names[stacks["frame"][stack]])

    same({chain(stack): seconds for stack, seconds in found.items()}, by_stack(capture))
    assert abs(sum(samples["threadCPUDelta"]) / 1e6 - sum(found.values())) < 0.01 * sum(found.values())


def check_chrome(capture):
    out, said = export(capture, "chrome", "-F")
    check_said(said, "chrome")
    stack, last, begun, found = [], 0, 0, collections.Counter()
    for event in json.loads(out)["traceEvents"]:
        if event["ph"] not in "BE":
            continue
        assert event["ts"] >= last, event
        if stack and event["ts"] > last:
            found[tuple(stack)] += event["ts"] - last
        last = event["ts"]
        if event["ph"] == "B":
            stack.append(name_of(event["name"]))
            begun += 1
        else:
            assert stack.pop() == name_of(event["name"])
    assert not stack and begun <= LIMIT, begun
    # Where a thread did not block, a sample stands for all time since the last: so the sum is not the CPU's.
    wanted = by_stack(capture)
    assert found.keys() == wanted.keys(), (len(found), len(wanted))
    rows = [json.loads(line) for line in export(capture, "jsonl", "-F")[0].splitlines()]
    ends = [row["time_s"] for row in rows if row["type"] == "sample"]
    assert 0.5 * ends[-1] < sum(found.values()) / 1e6 <= ends[-1], (sum(found.values()), ends[-1])


with tempfile.TemporaryDirectory() as folder:
    capture = pathlib.Path(folder) / "big.fah"
    subprocess.run([MAKE, "samples", capture, "1100000", "300", "5", "1"], check=True)
    check_gecko(capture)
    subprocess.run([MAKE, "samples", capture, "100000", "6", "20", "1"], check=True)
    check_chrome(capture)
