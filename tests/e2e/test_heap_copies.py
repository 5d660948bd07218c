"""Copies (--memory): each function that copies does what libc's does, and what it copies is counted."""

import pytest
from support import capture
from support.heap import Memory
from support.languages import build_c
from support.run import capture_of
from test_same_behaviour import same, script

SCRIPT = """
import ctypes, sys

library = ctypes.CDLL(sys.argv[1])
library.volume.restype = library.between.restype = ctypes.c_size_t
print(getattr(library, sys.argv[2])(*map(int, sys.argv[3:])))
"""


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    options = "-O1", "-fno-builtin", "-U_FORTIFY_SOURCE", "-w"
    return build_c(tmp_path_factory.mktemp("copies") / "copies.so", ["heap/copies.c"], *options)


def called(python, folder, library, *args, **rest):
    """As without us. What it said, and what was recorded."""
    options = ["-q", "--memory"]
    return same(python, [script(folder, SCRIPT), library, *args], folder, options=options, **rest)


def copied(result):
    it = capture.read(capture_of(result))
    assert it.complete
    return Memory(it).states[-1].copied


def test_right(program, python, library, tmp_path):
    """What they return, where they end, what they pad with, one place over the other."""
    assert called(python, tmp_path, library, "right").out == "0\n"


def test_volume(program, python, library, tmp_path):
    """By eighteen ways, each a good 5 % of it all."""
    result = called(python, tmp_path, library, "volume")
    truth = int(result.out)
    assert truth > 18 * 20e6
    assert abs(copied(result) - truth) < 0.02 * truth, (copied(result), truth)


@pytest.mark.parametrize("by_string", ["0", "1"])
def test_no_room(program, some_python, library, by_string, tmp_path):
    """libc ends the program as it does without us."""
    result = called(some_python, tmp_path, library, "overflow", by_string)
    assert result.status == 128 + 6 and "buffer overflow detected" in result.err, result


def test_copies_of_an_allocator(program, system_python, library, tmp_path):
    """They are not counted, and what the program copied between them is."""
    result = called(system_python, tmp_path, library, "between", env={"LD_PRELOAD": library})
    truth = int(result.out)
    assert abs(copied(result) - truth) < 0.02 * truth + 1e6, (copied(result), truth)
