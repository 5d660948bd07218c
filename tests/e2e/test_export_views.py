"""callgrind, chrome and gecko: what tools of other people say of them, and their times."""

import json
import os
import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
from support import exports
from support.node import node, package
from support.pythons import REPO
from support.run import BINARY, profile, run

GOLDEN = REPO / "tests" / "golden"
PROGRAM = """\
import threading
import time


def burn(seconds):
    end, n = time.thread_time() + seconds, 0
    while time.thread_time() < end:
        n += sum(range(100))
    return n


def recurse(depth):
    return burn(0.2) if depth == 0 else recurse(depth - 1)


def work():
    a = lambda: burn(0.1); b = lambda: burn(0.1)
    return a() + b()


def other():
    burn(0.2)


thread = threading.Thread(target=other, name="other")
thread.start()
recurse(20)
work()
thread.join()
time.sleep(0.4)
"""


def export(capture, form, *options):
    result = run([str(BINARY), "export", str(capture), "-f", form, *options], Path(capture).parent)
    assert result.status == 0, result
    return result


@pytest.fixture(scope="module")
def captured(program, system_python, tmp_path_factory):
    folder = tmp_path_factory.mktemp("views")
    (folder / "program.py").write_text(PROGRAM)
    result = profile(system_python, ["program.py"], folder)
    assert result.status == 0, result
    return result.folder


def annotated(data, folder):
    """What callgrind_annotate makes of it: the whole, and by function what it took with all below."""
    if not shutil.which("callgrind_annotate"):
        pytest.skip("SKIP: no callgrind_annotate here")
    (folder / "out.callgrind").write_bytes(data)
    done = subprocess.run(
        ["callgrind_annotate", "--auto=no", "--inclusive=yes", "--threshold=100", "out.callgrind"],
        cwd=str(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    text = done.stdout.decode("utf-8")
    assert done.returncode == 0 and done.stderr == b"", done
    found = defaultdict(int)
    for number, name in re.findall(r"^ *([\d,]+) \([\d. ]+%\)  (\S.*)$", text, re.M):
        found[name.rsplit("/", 1)[-1]] = int(number.replace(",", ""))
    return found


def test_callgrind_annotate_agrees(captured, tmp_path):
    for options in ([], ["-i"], ["-n", "-i"], ["-F"], ["-t"]):
        whole = exports.total(exports.folded(export(captured, "folded", *options).stdout))
        found = annotated(export(captured, "callgrind", *options).stdout, tmp_path)
        assert found["PROGRAM TOTALS"] / 1e9 == pytest.approx(whole, abs=1e-4), options
        # Recursion is never more than all there is, but for the rounding of each line.
        assert max(found.values()) <= found["PROGRAM TOTALS"] + 1000, found
    found = annotated(export(captured, "callgrind").stdout, tmp_path)
    rows = exports.folded(export(captured, "folded").stdout)[None]
    for name in ("recurse", "burn", "other", "work"):
        seconds = sum(weight for names, weight, _ in rows if name in names)
        assert found["program.py:" + name] / 1e9 == pytest.approx(seconds, abs=1e-4), name
    # Two functions of one name and one line are one; nothing is lost.
    assert sum(1 for name in found if "lambda" in name) == 1, found


def events_of(data):
    trace = json.loads(data)
    assert trace["displayTimeUnit"] == "ms"
    return trace["traceEvents"]


def walked(events):
    """By thread: (stack, begin, end) of all events with their nesting checked; states by their id."""
    open_at, last = defaultdict(list), defaultdict(float)
    spans, states, names = defaultdict(list), defaultdict(list), {}
    for event in events:
        key = (event["pid"], event["tid"])
        if event["ph"] == "M":
            names[key, event["name"]] = event["args"]["name"]
        elif event["ph"] in "BE":
            assert event["ts"] >= last[key], "events of a thread go back in time"
            last[key] = event["ts"]
            if event["ph"] == "B":
                open_at[key].append((event["name"], event["ts"]))
            else:
                stack = [name for name, _ in open_at[key]]
                name, begin = open_at[key].pop()
                assert name == event["name"]
                spans[key].append((stack, begin / 1e6, event["ts"] / 1e6))
        else:
            assert event["ph"] in "be" and event["cat"] == "state"
            states[key].append((event["ph"], event["name"], event["ts"] / 1e6))
    assert not any(open_at.values()), "events that never end"
    for track in states.values():  # as readers put them in order: by time, else as they stand
        inside = []
        for phase, name, _ in sorted(track, key=lambda event: event[2]):
            assert phase == "b" or inside.pop() == name, "a state ends that is not the innermost"
            inside += [name] if phase == "b" else []
            assert not inside or inside[0].startswith("states of "), "a state outside of its track"
        assert not inside
    return spans, states, names


def lengths(states):
    found, begin = defaultdict(float), {}
    for phase, name, at in states:
        if phase == "b":
            begin[name] = at
        else:
            assert at >= begin[name]
            found[name] += at - begin.pop(name)
    assert not begin
    return found


def test_the_times_of_a_trace(program, python, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    folder = profile(python, ["program.py"], tmp_path).folder
    spans, states, names = walked(events_of(export(folder, "chrome", "-i", "-F").stdout))
    wall = json.loads(export(folder, "jsonl").out.splitlines()[0])["wall_s"]
    main = next(key for key in spans if any("recurse" in name for s in spans[key] for name in s[0]))
    assert main[0] == main[1] and names[main, "process_name"].endswith("program.py")
    assert len(spans) == len(states) == 2, spans.keys()
    chains = [[name.split(" (")[0] for name in stack] for stack, _, _ in spans[main]]
    assert ["<module>"] + ["recurse"] * 21 + ["burn"] in chains, chains
    # What was asleep at the end is there at that time, and as a state of its own.
    sleep = [s for s in spans[main] if s[0][-1] == "waiting (sleep)"]
    assert sum(end - begin for _, begin, end in sleep) > 0.3, sleep
    assert max(end for _, _, end in sleep) > wall - 0.3 and max(s[2] for s in spans[main]) <= wall
    for key in states:
        found = lengths(states[key])
        assert found["running"] > 0.1 and max(found.values()) <= wall + 0.001, found
    assert lengths(states[main])["waiting (sleep)"] > 0.3
    # Without -i the stacks of waits are gone, the states stay.
    bare, kept, _ = walked(events_of(export(folder, "chrome").stdout))
    assert not any("waiting" in s[0][-1] for key in bare for s in bare[key])
    assert lengths(kept[main])["waiting (sleep)"] > 0.3


@pytest.mark.parametrize("form", ["callgrind", "chrome", "gecko", "svg"])
def test_captures_cut_anywhere(program, form, tmp_path):
    data = (GOLDEN / "v2.fah").read_bytes()
    for size in (1, 16, 300, 600, len(data) - 40, len(data)):
        (tmp_path / "cut.fah").write_bytes(data[:size])
        out = export(tmp_path / "cut.fah", form, "-i", "-n", "-t").stdout
        if form == "callgrind":
            assert out.startswith(b"# callgrind format\n") and b"\nsummary: " in out
        elif form == "chrome":
            walked(events_of(out))
        elif form == "gecko":
            exports.gecko(out)
        else:
            assert out.endswith(b"</svg>\n")


def test_the_firefox_profiler_reads_it(captured, tmp_path):
    """Its own importer, as its makers publish it for terminals."""
    cli = package("@firefox-devtools/profiler-cli")
    cli = cli / json.loads((cli / "package.json").read_text())["bin"]["profiler-cli"]
    (tmp_path / "x.json").write_bytes(export(captured, "gecko", "-i").stdout)

    def said(*args):
        env = dict(os.environ, HOME=str(tmp_path), PROFILER_CLI_SESSION_DIR=str(tmp_path))
        done = subprocess.run(
            [node(), str(cli), *args], cwd=str(tmp_path), env=env, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=120,
        )
        return done.stdout.decode("utf-8")

    said("load", "x.json")
    try:
        for _ in range(20):  # it starts a server, and may say that it needs longer
            functions = said("thread", "functions", "--include-idle", "--json")
            if functions.lstrip().startswith("{"):
                break
        found = {f["name"]: f for f in json.loads(functions)["functions"]}
        markers = said("thread", "markers")
    finally:
        said("stop", "--all")
    threads = exports.gecko((tmp_path / "x.json").read_bytes())
    rows = next(rows for rows in threads.values() if any("recurse" in s for s, _, _ in rows))
    for name in ("recurse", "burn", "waiting (sleep)"):  # there may be several <module>
        seconds = sum(weight for names, weight, _ in rows if name in names)
        assert found[name]["totalSamples"] / 1e3 == pytest.approx(seconds, abs=1e-3), found[name]
    assert "waiting (sleep)" in markers and "running" in markers, markers
