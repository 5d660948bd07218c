"""Mappings (--memory): what a program maps, grows, moves and gives back itself, in many threads at once."""

import pytest
from support import capture
from support.heap import Memory
from support.languages import build_c
from support.run import capture_of
from test_heap import left_by_call
from test_same_behaviour import same, script

LITTLE = 600000  # bytes that the import of ctypes, or mmap, takes
HOW = ["-p", "5"], ["--exact"]  # of the former some thousand blocks: a busy machine loses none of them
SCRIPT = """
import ctypes, sys, time

library = ctypes.CDLL(sys.argv[1])
for call in sys.argv[2:]:
    name, *rest = call.split(",")
    print(getattr(library, name)(*map(int, rest)))
end = time.monotonic() + 0.1
while time.monotonic() < end:  # blocks of before are written, so the last knows what other threads did
    bytes(700)
last = bytearray(50000017)
"""


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    return build_c(tmp_path_factory.mktemp("maps") / "maps.so", ["heap/maps.c"], "-O1", "-w")


def recorded(python, folder, library, how, *calls):
    args = [script(folder, SCRIPT), library, *calls]
    it = capture.read(capture_of(same(python, args, folder, options=["-q", "--memory", *how])))
    assert it.complete
    return Memory(it), it


def live(memory):
    """The recorded blocks that the program did not give back."""
    return [a for a in memory.allocs if a.block not in memory.frees or memory.frees[a.block].ending]


def mapped_at_end(memory):
    """By the call in line 7, and by threads without Python; the import of ctypes has some, too."""
    return sorted(a.bytes for a in live(memory) if a.kind == "mapped" and memory.line(a) in (0, 7))


@pytest.mark.parametrize("how", HOW, ids=["some", "every"])
def test_storm(program, some_python, library, how, tmp_path):
    """Held afterwards: what is left on purpose, to the byte; and every mapping's end is its own."""
    memory, it = recorded(some_python, tmp_path, library, how, "storm,4000", "leave,5,3000017")
    assert memory.states[-1].lost == 0
    assert abs(left_by_call(memory) - 5 * 3000017) < LITTLE
    assert mapped_at_end(memory) == [3000017] * 5
    frees = [f.block for f in it.frees]
    assert len(frees) == len(set(frees))


def test_more_than_are_kept(program, system_python, library, tmp_path):
    """Those of which no note could be kept are counted as lost, and not as held."""
    memory, _ = recorded(system_python, tmp_path, library, [], "many,70000")
    lost = memory.states[-1].lost
    assert 70000 - 65536 <= lost <= 70000 - 65536 + 100
    assert abs(left_by_call(memory) - 65536 * 4096) < 100 * 4096 + LITTLE


def test_forks_in_a_storm(program, some_python, library, tmp_path):
    """Children that are made while other threads map: their memory is all there, and what they map is counted."""
    args = [script(tmp_path, SCRIPT), library, "forks,60"]
    result = same(some_python, args, tmp_path, options=["-q", "--memory", "--precision=10"])
    assert result.out == "60\n"
    it = capture.read(capture_of(result))
    children = [Memory(it, process) for process in {h.process for h in it.heaps} - {1}]
    assert children
    for child in children:
        asked = {a.bytes for a in child.allocs if a.kind == "mapped"}
        # where a thread was at the list of mappings, what came before is not known any more, and that is said
        assert asked == {300 * 4096, 100003} or (asked == {100003} and child.states[-1].lost), (asked, child.states[-1])


RESIZES = """
import mmap

m = mmap.mmap(-1, 5000003, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
m.resize(20000003)
m.resize(9000011)
m[9000010] = 7
last = bytearray(50000017)
"""


@pytest.mark.parametrize("how", HOW, ids=["some", "every"])
def test_resize(program, some_python, how, tmp_path):
    """Python's own way to mremap: each size a block of its line, of which the last stays."""
    result = same(some_python, [script(tmp_path, RESIZES)], tmp_path, options=["-q", "--memory", *how])
    assert result.status == 0, result
    memory = Memory(capture.read(capture_of(result)))
    left = {(memory.line(a), a.bytes) for a in live(memory) if a.kind == "mapped"}
    assert {(memory.line(a), a.bytes) for a in memory.allocs} >= {(4, 5000003), (5, 20000003), (6, 9000011)}
    assert left == {(6, 9000011)}
    assert abs(left_by_call(memory) - 9000011) < LITTLE
