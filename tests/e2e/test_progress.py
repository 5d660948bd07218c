"""The line that says how a recording goes: on a terminal only, and never in the program's way."""

import fcntl
import os
import re
import struct
import termios
import time

import pytest
from support import run as tool
from support.run import BINARY, profile_command
from support.screen import shown
from support.terminal import Terminal

# Some samples a second, and the cores for other tests.
SPIN = """import sys, time
def spin(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(100000))
        time.sleep(0.02)
"""
LINE = re.compile(rb"\d+ s, [\d,]+ samples \(\d+/s\), [\d,]+ dropped, RSS \d+ MB")
REPORT = re.compile(r"fixingahole profile|Wrote |Samples|\d+ samples")


def commands(python):
    return (profile_command(python, ["it.py"], []), [BINARY, "record", "--", python.path, "it.py"])


def on_terminal(command, cwd, columns=100):
    at = Terminal(command, cwd)
    # COLUMNS is 100 as well; 0 columns: a terminal that does not say
    fcntl.ioctl(at.master, termios.TIOCSWINSZ, struct.pack("HHHH", 30 if columns else 0, columns, 0, 0))
    return at


def rows_of_program(at, columns=100):
    """What is on the screen at the end, above our report, without our line."""
    rows = shown(at.text, columns or 100)
    end = next(i for i, row in enumerate(rows) if REPORT.search(row) and not LINE.fullmatch(row.encode()))
    return [row for row in rows[:end] if row and not LINE.fullmatch(row.encode())]


@pytest.mark.parametrize("columns", [100, 0])
@pytest.mark.parametrize("which", [0, 1], ids=["profile", "record"])
def test_it_comes_and_goes(program, system_python, tmp_path, which, columns):
    """A program that says nothing: the line is rewritten in its place, and gone before the report."""
    (tmp_path / "it.py").write_text(SPIN + "spin(6)\n")
    at = on_terminal(commands(system_python)[which], tmp_path, columns)
    assert at.end() == 0
    assert len(LINE.findall(at.text)) > 1, at.text
    assert not any(LINE.fullmatch(row.encode()) for row in shown(at.text, 100)), at.text
    assert rows_of_program(at, columns) == [], at.text


@pytest.mark.parametrize("columns", [100, 0])
@pytest.mark.parametrize("which", [0, 1], ids=["profile", "record"])
def test_nothing_of_the_programs_is_touched(program, system_python, tmp_path, which, columns):
    """Rows, the beginning of one, and what comes with the end: all of it stays, in order, unmixed."""
    said = "for end in '\\n', '', '\\n', '':\n    print('said', end=end, flush=True)\n    spin(4)\nprint('last words')\n"
    (tmp_path / "it.py").write_text(SPIN + said)
    at = on_terminal(commands(system_python)[which], tmp_path, columns)
    assert at.end() == 0
    assert LINE.search(at.text), at.text
    words = " ".join(rows_of_program(at, columns)).replace("saidsaid", "said said")
    assert words.replace("saidlast", "said last") == "said said said said last words", at.text
    for row in shown(at.text, 100):
        assert "samples (" not in row or LINE.fullmatch(row.encode()), row


def test_a_program_that_writes_all_the_time_has_none(program, system_python, tmp_path):
    (tmp_path / "it.py").write_text(SPIN + "for _ in range(20):\n    print('x')\n    spin(0.25)\n")
    at = on_terminal(commands(system_python)[0], tmp_path)
    assert at.end() == 0
    assert not LINE.search(at.text) and at.text.startswith(b"x\r\n" * 20), at.text


def test_a_prompt_is_left_alone(program, system_python, tmp_path):
    (tmp_path / "it.py").write_text("print('hello ' + input('name? '))\n")
    at = on_terminal(commands(system_python)[0], tmp_path)
    at.until(b"name? ")
    time.sleep(5)  # as long as a line would need
    at.read_what_is_there()
    assert at.text == b"name? ", at.text
    os.write(at.master, b"you\n")
    assert at.end() == 0 and at.text.startswith(b"name? you\r\nhello you\r\n"), at.text


def test_interrupted(program, system_python, tmp_path):
    (tmp_path / "it.py").write_text(SPIN + "spin(100)\n")
    at = on_terminal(commands(system_python)[0], tmp_path)
    at.until_match(LINE)
    os.write(at.master, b"\x03")
    assert os.WEXITSTATUS(at.end()) == 130, at.text
    assert b"KeyboardInterrupt" in at.text and b"Finished in" in at.text


@pytest.mark.parametrize("options", [["-q"], ["--live", "1"]])
def test_one_at_most(program, system_python, tmp_path, options):
    (tmp_path / "it.py").write_text(SPIN + "spin(5)\n")
    at = on_terminal(profile_command(system_python, ["it.py"], options), tmp_path)
    assert at.end() == 0
    assert not LINE.search(at.text) and (at.text == b"") == (options == ["-q"]), at.text


def test_none_off_a_terminal(program, system_python, tmp_path):
    (tmp_path / "it.py").write_text(SPIN + "spin(4)\n")
    result = tool.profile(system_python, ["it.py"], tmp_path, options=())
    assert result.status == 0 and result.err == "" and not LINE.search(result.stdout), result
