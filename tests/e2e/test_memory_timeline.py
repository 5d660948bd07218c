"""Memory as the kernel counts it, beside the heap, on one axis of time: programs that move one and not the other."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from support import capture
from support.run import BINARY, capture_of, environment, profile, profile_command, run
from test_same_behaviour import script

MEMORY = ["-q", "--memory"]
MB = 1000000
GROUPS = Path("/sys/fs/cgroup/memory")  # version 1
GROUPS_2 = Path("/sys/fs/cgroup")  # version 2

# Each prints when it did what, by the clock that the run's start is known by.
CLOCK = """
import mmap, os, time


def now():
    return time.clock_gettime(time.CLOCK_MONOTONIC)
"""


def record(python, tmp_path, text, status=0):
    result = profile(python, [script(tmp_path, CLOCK + text)], tmp_path, MEMORY)
    assert result.status == status, result
    return result, capture.read(capture_of(result))


def timeline_of(folder):
    result = run([str(BINARY), "summarize", str(folder), "--json"], folder)
    assert result.status == 0, result
    return json.loads(result.out)["memory_timeline"]


def summary_of(folder, extra=None):
    result = run([str(BINARY), "summarize", str(folder)], folder, env=environment(extra))
    assert result.status == 0, result
    return result.out


def row_of(summary, label):
    """Its bars and words."""
    (line,) = [line for line in summary.splitlines() if line.startswith("  %-15s " % label)]
    return line[18:]


def part_of(summary):
    lines = summary.splitlines()
    begin = [n for n, line in enumerate(lines) if line.startswith("Memory over")]
    end = [n for n, line in enumerate(lines) if line.startswith("Heap: ")]
    return lines[begin[0] : end[0]]


def said(result):
    """Numbers that the program printed, by name."""
    return {name: float(value) for name, value in (line.split() for line in result.out.splitlines())}


def times(recorded, names):
    start = int(recorded.meta["start_mono_ns"]) / 1e9
    return {name: value - start for name, value in names.items()}


def mine(recorded, process=1):
    return [seen for seen in recorded.seen if seen.process == process]


def during(points, begin, end):
    return [seen for seen in points if begin <= seen.time / 1e9 <= end]


TOUCHED_LATE = """
block = mmap.mmap(-1, 200_000_000)
print("asked", now())
time.sleep(0.7)
print("touches", now())
for at in range(0, len(block), 4096):
    block[at] = 1
print("touched", now())
time.sleep(1.2)  # where a look takes long, the next is 2,000 times as far
print("ends", now())
"""


def test_touched_late(program, python, tmp_path):
    """RSS grows, the heap does not: the block was asked for long before."""
    result, recorded = record(python, tmp_path, TOUCHED_LATE)
    at = times(recorded, said(result))
    asked = during(mine(recorded), at["asked"] + 0.05, at["touches"])
    after = during(mine(recorded), at["touched"] + 0.05, at["ends"])
    assert len(asked) >= 3 and after
    assert max(seen.resident for seen in asked) < 60 * MB
    assert min(seen.resident for seen in after) > 200 * MB
    assert all(seen.high >= seen.resident for seen in after if seen.high is not None)
    line = timeline_of(result.folder)
    assert at["touches"] < line["rss"]["at_s"] < at["ends"] + 1
    assert 200 * MB < line["heap"]["max_bytes"] < 220 * MB
    assert 200 * MB < line["rss"]["max_bytes"] < 260 * MB
    assert line["high_water"]["max_bytes"] >= line["rss"]["max_bytes"]
    # the same moment is the same bar in both
    bar = int(60 * (at["asked"] + at["touches"]) / 2 / line["to_s"])
    assert line["heap"]["timeline"][bar] > 200 * MB > 60 * MB > line["rss"]["timeline"][bar] > 0
    assert len(line["rss"]["timeline"]) == len(line["heap"]["timeline"]) == 60


NEVER_TOUCHED = """
block = mmap.mmap(-1, 400_000_000)
end = now() + 0.5
while now() < end:
    pass
"""


def test_never_touched(program, python, tmp_path):
    """The heap grows, RSS does not; and the line that explains it says so."""
    result, recorded = record(python, tmp_path, NEVER_TOUCHED)
    line = timeline_of(result.folder)
    assert line["heap"]["max_bytes"] > 400 * MB
    assert line["rss"]["max_bytes"] < 80 * MB and line["high_water"]["max_bytes"] < 80 * MB
    summary = " ".join(summary_of(result.folder).split())
    assert "Heap and RSS: the process held 40" in summary
    assert " less: part of what it asked for was never written to" in summary
    swapped = any(seen.swapped for seen in mine(recorded))
    assert ("was swapped out" in summary) == swapped


# Every other block is given back, so that no page of theirs is empty.
FRAGMENTED = """
kept = [bytearray(b"x" * 1000) for _ in range(120_000)]
time.sleep(0.3)
print("frees", now())
del kept[::2]
print("freed", now())
time.sleep(0.4)
print("ends", now())
"""


def test_fragmented(program, python, tmp_path):
    """The heap falls, RSS stays."""
    result, recorded = record(python, tmp_path, FRAGMENTED)
    at = times(recorded, said(result))
    line = timeline_of(result.folder)
    highest = line["heap"]["max_bytes"]
    assert 120 * MB < highest < 170 * MB
    bar = int(60 * (at["freed"] + at["ends"]) / 2 / line["to_s"])
    assert line["heap"]["timeline"][bar] < highest - 50 * MB
    after = during(mine(recorded), at["freed"] + 0.02, at["ends"])
    assert after and min(seen.resident for seen in after) > highest - 20 * MB
    assert line["rss"]["timeline"][bar] > highest - 20 * MB


CHILDREN = """
block = bytearray(b"x") * 50_000_000
children = []
for n in (1, 2):
    pid = os.fork()
    if not pid:
        own = bytearray(b"y") * (n * 60_000_000)
        time.sleep(0.8)
        os._exit(0) if n == 1 else exit()  # one that tells of its end, and one that does not
    children.append(pid)
for pid in children:
    os.waitpid(pid, 0)
print("alone", now())
time.sleep(0.5)
print("ends", now())
"""


def test_children(program, python, tmp_path):
    """Each process has a series of its own, with what it has from its parent; the row adds them up."""
    result, recorded = record(python, tmp_path, CHILDREN)
    assert len(recorded.processes) == 4
    most = sorted(max(seen.resident for seen in mine(recorded, n)) for n in (1, 2, 3))
    assert 50 * MB < most[0] < 100 * MB and 110 * MB < most[1] < 160 * MB and 170 * MB < most[2] < 220 * MB
    line = timeline_of(result.folder)
    assert len(line["processes"]) == 3
    assert 330 * MB < line["rss"]["max_bytes"] <= sum(most) + MB
    assert line["high_water"]["max_bytes"] < 230 * MB  # of one process
    # they are gone again, and their parts with them
    at = times(recorded, said(result))
    bar = int(60 * (at["alone"] + at["ends"]) / 2 / line["to_s"])
    assert 50 * MB < line["rss"]["timeline"][bar] < 100 * MB
    assert "of all processes together" in " ".join(summary_of(result.folder).split())


KILLED = """
block = bytearray(b"x") * 150_000_000
time.sleep(0.4)
os.kill(os.getpid(), 9)
"""


def test_killed(program, python, tmp_path):
    """The last state is there; and nobody claims that memory was short."""
    result, recorded = record(python, tmp_path, KILLED, status=128 + 9)
    assert mine(recorded)[-1].resident > 150 * MB
    line = timeline_of(result.folder)
    assert line["rss"]["last_bytes"] > 150 * MB and line["rss"]["max_bytes"] > 150 * MB
    assert not line["killed_for_memory"]
    assert "for want of memory" not in summary_of(result.folder)
    # RSS of who was killed before it could tell
    heap = json.loads(run([str(BINARY), "summarize", str(result.folder), "--json"], tmp_path).out)["heap"]
    assert heap["processes"][0]["max_rss_bytes"] > 150 * MB


def test_machine(program, system_python, tmp_path):
    """What the machine's own files say."""
    _result, recorded = record(system_python, tmp_path, "time.sleep(0.3)\n")
    points = [seen for seen in recorded.seen if not seen.process]
    assert len(points) >= 3
    info = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    total = int(info["MemTotal"].split()[0]) * 1024
    assert all(seen.total == total for seen in points)
    assert all(0 < seen.available < total for seen in points)


def test_shown(program, system_python, tmp_path):
    result, _recorded = record(system_python, tmp_path, TOUCHED_LATE)
    summary = summary_of(result.folder, {"COLUMNS": "120"})
    for label in ("heap", "RSS", "high-water mark", "swap", "control group", "MemAvailable"):
        assert row_of(summary, label)
    assert "█" in row_of(summary, "RSS") and "at most 2" in row_of(summary, "RSS")
    assert max(map(len, part_of(summary))) <= 120
    plain = summary_of(result.folder, {"COLUMNS": "70", "LC_ALL": "C", "NO_COLOR": "1"})
    assert plain.isascii() and "#" in row_of(plain, "RSS")
    assert max(map(len, part_of(plain))) <= 70 and len(part_of(plain)) > len(part_of(summary))
    narrow = summary_of(result.folder, {"COLUMNS": "20", "FORCE_COLOR": "1"})
    assert max(map(len, part_of(narrow))) <= 20


def test_without(program, system_python, tmp_path):
    """Who did not ask for it has no such record."""
    result = profile(system_python, [script(tmp_path, CLOCK)], tmp_path, ["-q"])
    assert not capture.read(capture_of(result)).seen
    assert "memory_timeline" not in run([str(BINARY), "summarize", str(result.folder), "--json"], tmp_path).out


class Group:
    """A control group with a limit, in either version; skips where there is none to be had."""

    def __init__(self, limit):
        if os.getuid() != 0:
            pytest.skip("SKIP: no group to limit memory in")
        self.old = GROUPS.is_dir()
        self.path = (GROUPS if self.old else GROUPS_2) / ("fixingahole-timeline-%d" % os.getpid())
        try:
            self.path.mkdir()
            if not self.old and not (self.path / "memory.max").exists():
                self.path.rmdir()
                pytest.skip("SKIP: no controller of memory")
            (self.path / ("memory.limit_in_bytes" if self.old else "memory.max")).write_text(str(limit))
        except OSError as error:
            pytest.skip("SKIP: no group to limit memory in: %s" % error)

    def run(self, command, cwd):
        words = ["sh", "-c", 'echo $$ > %s/cgroup.procs; exec "$@"' % self.path, "sh", *map(str, command)]
        return subprocess.run(words, cwd=str(cwd), timeout=120, env=environment())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.path.rmdir()


def run_in_group(python, tmp_path, text, limit):
    with Group(limit) as group:
        done = group.run(profile_command(python, [script(tmp_path, CLOCK + text)], MEMORY), tmp_path)
    (path,) = tmp_path.glob("performance/*/*/profile.fah")
    return done.returncode, path, capture.read(path)


NEAR = """
block = bytearray(b"x") * 180_000_000
time.sleep(0.4)
"""


def test_near_the_limit(program, system_python, tmp_path):
    limit = 250 * 1024 * 1024 // 4096 * 4096
    status, path, recorded = run_in_group(system_python, tmp_path, NEAR, limit)
    assert status == 0
    machine = [seen for seen in recorded.seen if not seen.process]
    assert {seen.limit for seen in machine} == {limit}
    assert max(seen.used for seen in machine) > 180 * MB
    line = timeline_of(path.parent)
    assert line["group_limit_bytes"] == limit and not line["killed_for_memory"] and not line["group_kills"]
    assert 180 * MB < line["group"]["max_bytes"] <= limit
    assert 0 < line["group_left"] < (limit - 180 * MB) / limit
    summary = " ".join(summary_of(path.parent).split())
    assert "of the control group's limit of 262.144 MB at " in summary
    assert "Came within %.0f%%" % (100 * line["group_left"]) in summary


GROWS = """
kept = []
while True:
    kept.append(bytearray(b"x") * 1000003)
    time.sleep(0.003)
"""


def test_killed_for_want_of_memory(program, system_python, tmp_path):
    """It says why it ended, by the group's own count; its last state is near the limit."""
    status, path, recorded = run_in_group(system_python, tmp_path, GROWS, 150 * MB)
    assert status == 128 + signal.SIGKILL
    machine = [seen for seen in recorded.seen if not seen.process]
    assert machine[-1].kills == machine[0].kills + 1
    assert 60 * MB < mine(recorded)[-1].resident < 180 * MB  # with files that others share
    line = timeline_of(path.parent)
    assert line["killed_for_memory"] and line["group_kills"] == 1
    summary = " ".join(summary_of(path.parent).split())
    assert "The program was killed by the kernel for want of memory" in summary
    assert "the group's limit is 149.99" in summary or "the group's limit is 150.0" in summary


CHILD_KILLED = """
pid = os.fork()
if not pid:
    kept = []
    while True:
        kept.append(bytearray(b"x") * 1000003)
        time.sleep(0.003)
print(os.waitpid(pid, 0)[1])
"""


def test_child_killed_for_want_of_memory(program, system_python, tmp_path):
    status, path, _recorded = run_in_group(system_python, tmp_path, CHILD_KILLED, 150 * MB)
    assert status == 0
    line = timeline_of(path.parent)
    assert not line["killed_for_memory"] and line["group_kills"] == 1
    summary = " ".join(summary_of(path.parent).split())
    assert "The kernel killed 1 process of the program's control group for want of memory" in summary


def test_bounded(program, system_python, tmp_path):
    """Points become rarer: at most 256 while the run becomes 2.7 times as long, plus new extremes."""
    text = "blocks = []\nwhile len(blocks) < 300:\n    blocks.append(bytearray(b'x') * 300_000)\n    time.sleep(0.01)\n"
    result, recorded = record(system_python, tmp_path, text)
    wall = recorded.wall_ns / 1e9
    assert wall > 3
    for process in (0, 1):
        points = mine(recorded, process)
        assert 30 < len(points) < 260 + 256 * 1.5 + 300
    # what is written about it is little beside the rest
    assert len(recorded.seen) * 45 < 0.5 * capture_of(result).stat().st_size
