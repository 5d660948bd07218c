"""kill -9 of target or profiler: at most a second is lost, and the target is not harmed."""

import os
import random
import re
import signal

import pytest
from support import capture, run as tool
from support.run import FULL, TARGETS, inspect, profile_command, wait_until

TICKER = str(TARGETS / "ticker.py")
MOMENTS = 100 if FULL else 4


def begin(python, cwd, phases, seconds, hz=1000):
    """hz None: the product's own clock, with perf's events where the kernel has them."""
    command = profile_command(python, [TICKER, str(phases), str(seconds)], ["-q"])
    return tool.start(command, cwd, python, env={"FIXINGAHOLE_TEST_HZ": str(hz)} if hz else {})


def child_of(pid):
    """The first child: the target. Where another root is entered, what does that has children before."""

    def look():
        try:
            if os.path.basename(os.readlink("/proc/%d/exe" % pid)) != tool.BINARY.name:
                return None
            return open("/proc/%d/task/%d/children" % (pid, pid)).read().split()
        except OSError:
            return None

    return int(wait_until(look, what="the target's start")[0])


def capture_in(cwd):
    """What is left: the whole file, or the partial one."""
    folder = tool.run_folder(cwd / "performance")
    assert folder is not None, "no run folder"
    return folder / "profile.fah"


NO_END = "the end of the run: the profiler was stopped before it, or the file is cut"


def missing(said):
    """The lines of inspect's last part; [] where nothing is missing."""
    part = re.search(r"(?m)^Missing\n((?:  .+\n)+)\Z", said.out)
    return [line.strip() for line in part[1].splitlines()] if part else []


def as_said(size):
    """A number of bytes, as inspect prints it."""
    return "%d byte%s" % (size, "" if size == 1 else "s") if size < 1000 else "%.3f kB" % (size / 1e3)


def phases_of(path):
    """What `inspect` finds, leftover segments included; and the phases that its records name."""
    said = inspect(path, "--records")
    assert said.status == 0, said
    return {k for k in range(100) if "phase_%d" % k in said.out}


def test_the_target_kills_itself(program, python, tmp_path):
    result = tool.run(
        profile_command(python, [TICKER, "3", "0.1", "die"], ["-q"]),
        tmp_path,
        python,
        env={"FIXINGAHOLE_TEST_HZ": "1000"},
    )
    assert result.status == 137 and result.stderr == b"" and b"all done" in result.stdout, result
    it = capture.read(capture_in(tmp_path))
    assert it.complete and it.wait_status == signal.SIGKILL
    assert {"phase_0", "phase_1", "phase_2"} <= it.names()
    last = max(time for _, time, _, _, _ in it.samples)
    assert last > 0.25e9


@pytest.mark.parametrize("moment", range(MOMENTS))
def test_the_target_is_killed_at_any_moment(program, some_python, moment, tmp_path):
    """From before its first instruction to its last: the report is written, the capture opens."""
    hz = None if moment % 2 else 1000
    process = begin(some_python, tmp_path, 8, 0.05, hz)
    target = child_of(process.pid)
    wait = random.Random("%s %d" % (some_python.name, moment)).uniform(0, 0.5)
    try:
        process.wait(wait)
    except tool.subprocess.TimeoutExpired:
        pass
    try:
        os.kill(target, signal.SIGKILL)
    except ProcessLookupError:
        pass
    result = tool.finish(process)
    assert result.status in (137, 9), "killed after %.3f s\n%s" % (wait, result)
    assert result.stderr == b"", result
    done = result.out.count(" done\n")
    it = capture.read(capture_in(tmp_path))
    assert it.complete and it.cut == 0
    # what was said to be done is recorded: nothing of it may be lost. (By the default clock a phase has a dozen
    # samples, but the kernel may give the first of them to whoever comes next.)
    sure = min(done, 8) - (hz is None)
    missing = {k for k in range(sure) if "phase_%d" % k not in it.names()}
    assert not missing, "killed after %.3f s, phases %s are lost" % (wait, missing)
    assert inspect(capture_in(tmp_path)).status == 0


@pytest.mark.parametrize("moment", range(MOMENTS))
def test_the_profiler_is_killed_at_any_moment(program, some_python, moment, tmp_path):
    """The target runs on and ends as if nothing were, also with the events in force that the profiler opened for it;
    what was recorded can be read."""
    process = begin(some_python, tmp_path, 8, 0.05, None if moment % 2 else 1000)
    child_of(process.pid)
    wait = random.Random("p %s %d" % (some_python.name, moment)).uniform(0, 0.5)
    try:
        process.wait(wait)
    except tool.subprocess.TimeoutExpired:
        pass
    if process.poll() is None:
        os.kill(process.pid, signal.SIGKILL)
    result = tool.finish(process)  # its pipes close when the target ends
    expected = "".join("phase %d done\n" % k for k in range(8)) + "all done\n"
    assert (result.out, result.err) == (expected, ""), "killed after %.3f s\n%s" % (wait, result)
    said = inspect(capture_in(tmp_path))
    assert said.status == 0, said


def test_a_killed_profiler_loses_at_most_a_second(program, python, tmp_path):
    process = begin(python, tmp_path, 10, 0.2)
    seen = []
    while "phase 6 done\n" not in seen:
        line = process.stdout.readline().decode()
        assert line, "ended early: %s" % seen
        seen.append(line)
    os.kill(process.pid, signal.SIGKILL)
    result = tool.finish(process)
    assert result.err == "" and result.out.endswith("phase 9 done\nall done\n"), result
    # 7 phases of 0.2 s were over: all but the last second must be there
    path = capture_in(tmp_path)
    found = phases_of(path)
    assert {0, 1, 2} <= found, "only phases %s were found\n%s" % (sorted(found), inspect(path))
    said = inspect(path)
    assert said.status == 0 and NO_END in missing(said), said
    assert not path.exists(), "nothing half-written may stand under the final name"


def test_a_capture_cut_anywhere_opens(program, system_python, tmp_path):
    result = tool.profile(system_python, [TICKER, "3", "0.05"], tmp_path, hz=1000)
    data = tool.capture_of(result).read_bytes()
    whole = capture.parse(data)
    assert whole.complete
    cut = tmp_path / "cut.fah"
    step = 1 if FULL else max(1, len(data) // 60)
    for size in list(range(step, len(data), step)) + [1, 15, 16, 17, len(data) - 1]:
        cut.write_bytes(data[:size])
        mine = capture.parse(data[:size]) if size >= 16 else capture.Capture()
        lost = mine.cut if size >= 16 else size
        said = inspect(cut)
        what = "cut at %d of %d, %d samples\n%s" % (size, len(data), len(mine.samples), said)
        assert said.status == 0 and said.stderr == b"", what
        assert not mine.complete, what
        samples = re.search(r"(?m)^Samples +([\d,]+) samples?\b", said.out)
        assert samples and int(samples[1].replace(",", "")) == len(mine.samples), what
        wanted = [NO_END]
        if lost:
            wanted.append(
                "the last %s, from byte %d on: cut in the middle of a record"
                % (as_said(lost), size - lost)
            )
        assert missing(said)[: len(wanted)] == wanted, what
        assert lost or "from byte" not in said.out, what


def test_inspect_records_agrees_with_the_document(program, python, tmp_path):
    """The tool's reader and one written from doc/format.md see the same."""
    result = tool.profile(python, [TICKER, "2", "0.1"], tmp_path, hz=1000)
    it = capture.read(tool.capture_of(result))
    said = inspect(tool.capture_of(result), "--records")
    assert said.status == 0 and said.stderr == b"", said
    for name in ("phase_0", "phase_1", "burn", "main", "<module>"):
        assert name in said.out and name in it.names()
    assert abs(sum(cpu for _, _, cpu, _, _ in it.samples) / 1e9 - 0.2) < 0.15
    assert it.meta and any("ticker.py" in value for value in it.meta.values()), it.meta
