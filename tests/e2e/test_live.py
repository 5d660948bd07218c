"""`profile --live`: the summary so far, in its file and on a terminal, while the program goes on as it is."""

import json
import os
import re
import signal
import time
from pathlib import Path

import pytest
from support import report
from support import run as tool
from support.run import BINARY, profile_command, wait_until
from support.terminal import Terminal

# Goes on to the next part when the test makes the file; asking for it neither reads nor writes.
STEPS = """
import os, sys, time

late = time.monotonic() + 300  # where the test has failed, nobody makes the files

def first():
    return sum(range(20000))

def second():
    return sum(range(20000))

print("begun", flush=True)
while not os.path.exists("go") and time.monotonic() < late:
    first()
print("going on", file=sys.stderr, flush=True)
while not os.path.exists("end") and time.monotonic() < late:
    second()
print("done", flush=True)
"""
SO_FAR = re.compile(r"So far: the run goes on, since 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC\.\n\n")


def summary(folder):
    """The file as it is, whole or not there at all."""
    found = list(folder.glob("performance/**/profile_summary.txt"))
    text = found[-1].read_text() if found else ""
    assert not text or text.endswith("\n"), text
    return text


def shows(folder, function):
    """The summary so far, when it lists the function."""

    def listed():
        text = summary(folder)
        return text if function in report.top(text) else None

    return wait_until(listed, what="%s in the summary so far" % function)


def check_result(folder, *functions):
    text = summary(folder)
    assert "Finished in" in text and "So far" not in text and "has no end" not in text, text
    assert set(functions) <= set(report.top(text)), text
    left = [path.name for path in folder.glob("performance/**/.*") if path.name != ".gitignore"]
    assert not left, left


@pytest.fixture
def steps(tmp_path):
    (tmp_path / "steps.py").write_text(STEPS)
    return tmp_path


def test_the_file_is_kept_current(program, some_python, steps):
    command = profile_command(some_python, ["steps.py"], ["--live", "1"])
    process = tool.start(command, steps, some_python)
    text = shows(steps, "first")
    assert SO_FAR.match(text), text
    assert "second" not in report.top(text) and "Finished" not in text, text
    assert re.search(r"^Running for [\d.]+ seconds using [\d.]+ MB of RAM$", text, re.M), text
    assert "Clock: " in text and "cut" not in text and "has no end" not in text, text
    (steps / "go").touch()
    assert SO_FAR.match(shows(steps, "second"))
    (steps / "end").touch()
    result = tool.finish(process)
    # without a terminal nothing of ours comes before the end, and on stderr nothing at all
    assert (result.status, result.err) == (0, "going on\n"), result
    assert result.out.startswith("begun\ndone\n") and "Finished in" in result.out, result
    assert "So far" not in result.out, result
    check_result(steps, "first", "second")


def test_as_often_as_is_asked(program, system_python, steps):
    """Every three seconds, by the times of the file."""
    process = tool.start(profile_command(system_python, ["steps.py"], ["--live", "3"]), steps)
    times, begun = set(), time.monotonic()
    while time.monotonic() < begun + 8.5:
        for path in steps.glob("performance/**/profile_summary.txt"):
            times.add(path.stat().st_mtime_ns)
        time.sleep(0.02)
    (steps / "go").touch()
    (steps / "end").touch()
    assert tool.finish(process).status == 0
    times = sorted(times)
    # beside other tests the first may be late, and with it the last
    assert 2 <= len(times) <= 3, times
    assert all(2e9 < after - before < 5e9 for before, after in zip(times, times[1:])), times


def test_on_a_terminal(program, system_python, steps):
    """Drawn on stderr, again in its place, or below what the program wrote; ^C is the program's, and then
    the report comes."""
    command = profile_command(system_python, ["steps.py"], ["--live", "1"])
    at = Terminal(command, steps, stdout=steps / "stdout")
    at.until_match(rb"steps\.py:6(?s:.*)\r\x1b\[\d+A\x1b\[J")
    again = re.search(rb"steps\.py:6(?s:.*?)(\r\x1b\[(\d+)A\x1b\[J)", at.text)
    block = at.text[at.text.rindex(b"So far: the run goes on", 0, again.start(1)) : again.start(1)]
    assert int(again[2]) == block.count(b"\n") <= 23, at.text
    assert re.search(rb"\.\.\.\r\nAll of it: \S*/profile_summary.txt\r\n$", block), block
    (steps / "go").touch()
    at.until_match(rb"going on\r\n(?s:.*)So far")
    between = re.search(rb"going on\r\n((?s:.*?))So far", at.text)[1]
    assert between == b"\r\n", at.text
    os.write(at.master, b"\x03")
    assert os.WEXITSTATUS(at.end()) == 130, at.text
    assert b"KeyboardInterrupt" in at.text
    out = (steps / "stdout").read_bytes()
    assert out.startswith(b"begun\n\x1b") or out.startswith(b"begun\nfixingahole profile"), out
    assert b"So far" not in out and b"Finished in" in out, out
    check_result(steps, "first", "second")


def test_quiet_and_a_prompt(program, system_python, steps):
    """What waits to be typed at is left alone, and with -q there is nothing at all."""
    (steps / "ask.py").write_text("print('hello ' + input('name? '))\n")
    for options in (["--live", "1"], ["--live", "1", "-q"]):
        folder = steps / ("options%d" % len(options))
        folder.mkdir()
        at = Terminal(profile_command(system_python, ["../ask.py"], options), folder)
        at.until(b"name? ")
        was = wait_until(lambda: summary(folder), what="a first summary")
        wait_until(lambda: summary(folder) != was, what="another one")
        at.read_what_is_there()
        assert at.text.endswith(b"name? "), at.text
        os.write(at.master, b"you\n")
        assert at.end() == 0
        assert b"name? you\r\nhello you\r\n" in at.text, at.text
        assert ("-q" in options) == (at.text == b"name? you\r\nhello you\r\n"), at.text
        check_result(folder)


def test_each_run_of_a_series(program, system_python, steps):
    (steps / "go").touch()
    process = tool.start(profile_command(system_python, ["steps.py"], ["--live", "1", "-r", "2"]), steps)
    assert SO_FAR.match(shows(steps, "second"))
    (only,) = steps.glob("performance/steps/*/run_*/profile_summary.txt")
    assert only.parent.name == "run_1"
    (steps / "end").touch()
    result = tool.finish(process)
    assert (result.status, result.err) == (0, "going on\n" * 2), result
    assert len(list(steps.glob("performance/steps/*/run_*/profile_summary.txt"))) == 2
    check_result(steps)


def test_a_notebook(program, system_python, tmp_path):
    source = STEPS.split("print", 1)[0] + "while not os.path.exists('end') and time.monotonic() < late:\n    first()\n"
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": source}
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}
    (tmp_path / "it.ipynb").write_text(json.dumps(notebook))
    process = tool.start(profile_command(system_python, ["it.ipynb"], ["--live", "1", "-q"]), tmp_path)
    wait_until(lambda: "(cell 1, line 6)" in summary(tmp_path), what="a summary with cells")
    assert SO_FAR.match(summary(tmp_path))
    (tmp_path / "end").touch()
    result = tool.finish(process)
    assert (result.status, result.out, result.err) == (0, "", ""), result
    check_result(tmp_path)


def of_group(group):
    """Processes of ours in it, by pid."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            ours = os.readlink(str(path / "exe")) == str(BINARY.resolve())
            if ours and os.getpgid(int(path.name)) == group:
                found.append(int(path.name))
        except OSError:
            pass  # it has ended
    return found


def test_nothing_outlives_a_profiler_that_is_killed(program, system_python, steps):
    process = tool.start(profile_command(system_python, ["steps.py"], ["--live", "1"]), steps)
    shows(steps, "first")
    assert len(of_group(process.pid)) == 2
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    wait_until(lambda: not of_group(process.pid), what="the end of the process that reports")
    (steps / "go").touch()
    (steps / "end").touch()
    tool.finish(process)
    assert SO_FAR.match(summary(steps))


@pytest.mark.parametrize("value", ["0", "-1", "0.5", "soon", "", "nan", "inf", "5m", "1e9"])
def test_refused(program, system_python, steps, value):
    result = tool.run(profile_command(system_python, ["steps.py"], ["--live", value]), steps)
    assert (result.status, result.out) == (2, ""), result
    said = "fixingahole: profile: --live %s: seconds between summaries are needed, like 5 (at least 1)\n"
    assert result.err == said % value, result
    assert [path.name for path in steps.iterdir()] == ["steps.py"]
