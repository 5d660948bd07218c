"""Our files in speedscope itself, in a real Chromium: what its importers make of them and where it draws what, held to
the same samples in JSON lines. ./check puts speedscope where this looks (tests/package.json).
"""

import base64
import json
import re
import time
from contextlib import contextmanager

import pytest
from support import exports, languages
from support.browser import Page
from support.node import package
from support.run import BINARY, run

WIDTH = 1500
WIDE = 60  # pixels: of narrower boxes two may be as wide, and labels say little
ROW, LEFT, TOP = 20, 5, 35  # where speedscope writes in a box: 5 to the right, rows of 20 below a scale

BEFORE = "def first(): work()\ndef last(): work()\ndef work():\n"
BEFORE += "    import time\n    end = time.process_time() + 0.25\n    while time.process_time() < end: sum(range(999))\n"

# The profile is a script (speedscope's own program makes it so): what the page writes on its canvas is kept.
KEEP = """
var drawn = [], write = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
	drawn.push([text, x, y]);
	return write.apply(this, arguments);
};
speedscope.loadFileFromBase64("%s", "%s");
"""
CLICK = """
drawn.length = 0;
Array.from(document.querySelectorAll("div")).filter(d => d.children.length == 1 && d.textContent.endsWith("%s")).pop().click();
"""


def export(capture, form, *options):
    result = run([str(BINARY), "export", str(capture), "-f", form, *options], capture.parent)
    assert result.status == 0, result
    return result.stdout


@pytest.fixture(scope="module")
def capture(program, system_python, cxx, rust, tmp_path_factory):
    folder = tmp_path_factory.mktemp("speedscope")
    text = languages.script(cxx["none"], rust, 1)
    (folder / "script.py").write_text("%sfirst()\n%s\nlast()\n" % (BEFORE, text))
    result = run([str(BINARY), "record", "-o", "run.fah", "--", system_python.path, "script.py"], folder)
    assert result.status == 0, result
    return folder / "run.fah"


def stays(data):
    """Of JSON lines, by thread: [stack, nanoseconds], in the order of time; a stay is what follows each other with the same
    stack, which is a tuple of (name, file, line)."""
    known, found = {}, {}
    for it in map(json.loads, data.decode("utf-8").splitlines()):
        if "id" in it:
            known[it["type"], it["id"]] = it
        if it["type"] in ("sample", "wait"):
            found.setdefault(known["thread", it["thread"]]["tid"], []).append(it)
    threads = {}
    for tid, rows in found.items():
        threads[tid] = merged = []
        for it in sorted(rows, key=lambda it: it["time_s"]):
            stack, at = [], it["stack"]
            while at:
                frame = known["frame", known["stack", at]["frame"]]
                stack.insert(0, (frame["name"], frame.get("file"), frame.get("line")))
                at = known["stack", at]["parent"]
            if merged and merged[-1][0] == tuple(stack):
                merged[-1][1] += it["own_s"] * 1e9
            else:
                merged.append([tuple(stack), it["own_s"] * 1e9])
    return threads


@pytest.mark.parametrize("view", [[], ["-n"], ["-n", "-i"]])
def test_samples_stand_in_the_order_of_time(capture, view):
    """With the weights that they have in JSON lines: so they add up to the run."""
    data = export(capture, "speedscope", *view)
    frames = [(f["name"], f.get("file"), f.get("line")) for f in json.loads(data)["shared"]["frames"]]
    wanted = stays(export(capture, "jsonl", *view))
    profiles = json.loads(data)["profiles"]
    assert len(profiles) == len(wanted)
    for profile in profiles:
        rows = wanted[int(re.search(r"thread (\d+)", profile["name"]).group(1))]
        assert [tuple(frames[i] for i in stack) for stack in profile["samples"]] == [stack for stack, _ in rows]
        assert profile["weights"] == pytest.approx([ns for _, ns in rows], rel=1e-6, abs=10)
        assert sum(profile["weights"]) == profile["endValue"] == pytest.approx(sum(ns for _, ns in rows), rel=1e-6)


def in_time(rows):
    """Where each box of the stays begins and ends, in nanoseconds: [begin, end, names from the root on]."""
    boxes, open_at, now = [], [], 0
    for stack, ns in rows:
        shared = 0
        while shared < min(len(stack), len(open_at)) and stack[shared] == open_at[shared][0]:
            shared += 1
        del open_at[shared:]
        for depth in range(shared, len(stack)):
            boxes.append([now, now, [name for name, _, _ in stack[: depth + 1]]])
            open_at.append((stack[depth], boxes[-1]))
        now += ns
        for _, box in open_at:
            box[1] = now
    return boxes


def left_heavy(rows):
    """The same with what is of one stack together, and the dearest first."""
    tree = [0, {}]
    for stack, ns in rows:
        at = tree
        for frame in stack:
            at[0] += ns
            at = at[1].setdefault(frame, [0, {}])
        at[0] += ns
    sorted_rows = []

    def walk(node, stack):
        below = sorted(node[1].items(), key=lambda item: -item[1][0])
        for frame, child in below:
            walk(child, (*stack, frame))
        own = node[0] - sum(child[0] for _, child in below)
        sorted_rows.append((stack, own))

    walk(tree, ())
    return in_time(sorted_rows)


def labels(page, boxes, whole):
    """Of the boxes that are wide: their names, where speedscope writes its label there; and those where it does not."""
    scale = WIDTH / whole
    wide = [(begin * scale, names) for begin, end, names in boxes if (end - begin) * scale > WIDE]
    end = time.monotonic() + 30
    while True:
        drawn = page.value("drawn")
        here, missing = [], []
        for x, names in wide:
            at = TOP + ROW * (len(names) - 1)
            texts = [text for text, left, y in drawn if y == at and abs(left - x - LEFT) < 1]
            cut = [text.split("…") for text in texts]
            fits = any(names[-1].startswith(t[0]) and names[-1].endswith(t[-1]) for t in cut)
            (here if fits else missing).append(names)
        if not missing or time.monotonic() > end:
            return here, missing
        time.sleep(0.2)


@contextmanager
def speedscope(data, name, folder):
    """Its page with that file in it."""
    page = package("speedscope") / "dist" / "release" / "index.html"
    (folder / "file.js").write_text(KEEP % (name, base64.b64encode(data).decode()))
    with Page("%s#localProfilePath=%s" % (page.as_uri(), folder / "file.js"), folder, WIDTH) as page:
        page.until("typeof drawn != 'undefined' && drawn.length")
        yield page


KNOWN = {tuple(languages.IN_RUST), tuple(languages.IN_CXX)}


def test_in_speedscope_itself(capture, tmp_path):
    """Time order, and "left heavy" with the known chain from Python through Rust to C++, each wide box in its place."""
    data = export(capture, "speedscope", "-n")
    (rows,) = stays(export(capture, "jsonl", "-n")).values()
    whole = exports.total(exports.speedscope(data)) * 1e9
    assert whole == pytest.approx(sum(ns for _, ns in rows), rel=1e-6)
    with speedscope(data, "X.prof", tmp_path) as page:
        here, missing = labels(page, in_time(rows), whole)
        assert not missing, missing
        assert [names for names in here if len(names) == 2 and names[1] in ("first", "last")], here
        page.value(CLICK % "Left Heavy")
        here, missing = labels(page, left_heavy(rows), whole)
        assert not missing, missing
    assert languages.in_native_code(here) == KNOWN, here


def test_folded_stacks(capture, tmp_path):
    """Its importer for the collapsed stacks of flame graphs has the frames and the widths that we wrote."""
    data = export(capture, "folded", "-n", "-F")
    lines = [line.rsplit(" ", 1) for line in data.decode("utf-8").splitlines()]
    rows = [[[(frame, None, None) for frame in stack.split(";")], int(weight)] for stack, weight in lines]
    with speedscope(data, "x.folded", tmp_path) as page:
        page.value(CLICK % "Left Heavy")
        here, missing = labels(page, left_heavy(rows), sum(us for _, us in rows))
        assert not missing, missing
    assert languages.in_native_code([frame.split(" (")[0] for frame in names] for names in here) == KNOWN, here
