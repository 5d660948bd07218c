"""Readers of exports, written from the formats' own descriptions and not from the tool's code.

Each gives the same: for each thread (or None) a list of (stack, seconds, samples); a stack is a list
of names from the root on.
"""

import gzip
import json
import re
from collections import defaultdict

LABEL = re.compile(r"^(.*?)(?: \(([^()]*?)(?::(\d+))?\))?$", re.S)
ESCAPE = re.compile(r"\\(x[0-9a-f]{2}|u[0-9a-f]{4}|.)", re.S)


def unescape(text):
    plain = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}

    def one(match):
        what = match.group(1)
        return chr(int(what[1:], 16)) if len(what) > 1 else plain[what]

    return ESCAPE.sub(one, text)


def folded(data):
    rows = []
    for line in data.decode("utf-8").splitlines():
        stack, _, weight = line.rpartition(" ")
        names = [LABEL.match(unescape(frame)).group(1) for frame in stack.split(";")]
        rows.append((names, int(weight) / 1e6, None))
    return {None: rows}


def speedscope(data):
    file = json.loads(data)
    names = [frame["name"] for frame in file["shared"]["frames"]]
    threads = {}
    for profile in file["profiles"]:
        assert profile["type"] == "sampled" and profile["unit"] == "nanoseconds"
        assert len(profile["samples"]) == len(profile["weights"])
        assert sum(profile["weights"]) == profile["endValue"] - profile["startValue"]
        tid = re.search(r"thread (\d+)", profile["name"])
        threads[int(tid.group(1)) if tid else 0] = [
            ([names[i] for i in stack], weight / 1e9, None)
            for stack, weight in zip(profile["samples"], profile["weights"])
        ]
    return threads


def jsonl(data):
    known = defaultdict(dict)
    threads = defaultdict(list)
    for line in data.decode("utf-8").splitlines():
        it = json.loads(line)
        if "id" in it:
            known[it["type"]][it["id"]] = it
        if it["type"] not in ("sample", "wait"):
            continue
        names, stack = [], it["stack"]
        while stack:
            entry = known["stack"][stack]
            names.insert(0, known["frame"][entry["frame"]]["name"])
            stack = entry["parent"]
        tid = known["thread"][it["thread"]]["tid"]
        threads[tid].append((names, it["own_s"], int(it["type"] == "sample")))
    return dict(threads)


class Message:
    """A protocol buffer: its fields, each a list of numbers and of bytes."""

    def __init__(self, data):
        self.fields = defaultdict(list)
        at = 0
        while at < len(data):
            key, at = self.varint(data, at)
            value, at = self.varint(data, at)
            if key & 7 == 2:
                assert at + value <= len(data)
                value, at = data[at : at + value], at + value
            else:
                assert key & 7 == 0, "wire type %d" % (key & 7)
            self.fields[key >> 3].append(value)

    @staticmethod
    def varint(data, at):
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            shift += 7
            at += 1
            if data[at - 1] < 128:
                return value, at

    def one(self, field, default=0):
        return self.fields[field][-1] if self.fields[field] else default

    def messages(self, field):
        return [Message(data) for data in self.fields[field]]

    def packed(self, field):
        values = []
        for data in self.fields[field]:
            at = 0
            while at < len(data):
                value, at = self.varint(data, at)
                values.append(value)
        return values


def pprof_head(data):
    """The message, its texts, and what its values are: (type, unit) of each."""
    profile = Message(gzip.decompress(data))
    texts = [data.decode("utf-8") for data in profile.fields[6]]
    assert texts[0] == ""
    return profile, texts, [(texts[t.one(1)], texts[t.one(2)]) for t in profile.messages(1)]


def pprof(data):
    profile, texts, types = pprof_head(data)
    assert types[:2] == [("samples", "count"), ("cpu", "nanoseconds")]
    functions = {f.one(1): texts[f.one(2)] for f in profile.messages(5)}
    mappings = {m.one(1): texts[m.one(5)] for m in profile.messages(3)}
    locations = {}
    for location in profile.messages(4):
        lines = location.messages(4)
        assert len(lines) == 1 and location.one(2) in mappings
        locations[location.one(1)] = functions[lines[0].one(1)]
    threads = defaultdict(list)
    for sample in profile.messages(2):
        labels = {texts[l.one(1)]: l.one(3) or texts[l.one(2)] for l in sample.messages(3)}
        values = sample.packed(2)
        assert len(values) == len(types) and labels["pid"]
        names = [locations[i] for i in sample.packed(1)][::-1]
        threads[labels["tid"]].append((names, values[-1] / 1e9, values[0]))
    return dict(threads)


def gecko(data):
    profile = json.loads(data)
    shared = profile["shared"]
    text, paths = shared["stringArray"], shared["stackTable"]
    names = [text[shared["funcTable"]["name"][f]] for f in shared["frameTable"]["func"]]
    for table in [shared[key] for key in shared if key != "stringArray"] + [
        thread[key] for thread in profile["threads"] for key in ("samples", "markers")
    ]:
        lengths = {len(column) for column in table.values() if isinstance(column, list)}
        assert lengths == {table["length"]} or not lengths, table
    threads = defaultdict(list)
    for thread in profile["threads"]:
        samples = thread["samples"]
        assert samples["weightType"] == "tracing-ms" and samples["time"] == sorted(samples["time"])
        for stack, weight in zip(samples["stack"], samples["weight"]):
            frames = []
            while stack is not None:
                assert paths["prefix"][stack] is None or paths["prefix"][stack] < stack
                frames.insert(0, names[paths["frame"][stack]])
                stack = paths["prefix"][stack]
            threads[thread["tid"]].append((frames, weight / 1e3, None))
    return dict(threads)


READERS = {
    "folded": folded,
    "gecko": gecko,
    "jsonl": jsonl,
    "pprof": pprof,
    "speedscope": speedscope,
}


def total(threads):
    return sum(seconds for rows in threads.values() for _, seconds, _ in rows)


def stacks(threads):
    return [names for rows in threads.values() for names, _, _ in rows]
