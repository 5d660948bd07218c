"""Every block (--exact), of every kind: equal to the byte and to the line; C's own threads; glibc's own state."""

import json
import os
import shutil
import subprocess
from collections import Counter, defaultdict

import pytest
from support import capture, pythons
from support.heap import Memory
from support.languages import build_c
from support.run import TARGETS, capture_of, plain, profile
from test_heap import left_by_call, line_of, summary
from test_same_behaviour import script

KINDS = TARGETS / "heap" / "kinds.py"
EXACT = ["-q", "--memory", "--exact"]


@pytest.fixture(scope="session")
def libraries(tmp_path_factory):
    """Of C, and of C++ where there is a compiler for it."""
    folder = tmp_path_factory.mktemp("kinds")
    made = [build_c(folder / "blocks.so", ["heap/blocks.c"], "-O0", "-fno-builtin")]
    if shutil.which("g++"):
        made.append(str(folder / "new.so"))
        source = str(TARGETS / "heap" / "new.cpp")
        subprocess.check_call(["g++", "-O1", "-std=c++17", "-shared", "-fPIC", "-o", made[-1], source])
    return made


def numpy_for(python):
    """Other releases' roots have their own; the system's Python takes the one of these tests."""
    if python != pythons.system():
        return {}
    import numpy

    return {"PYTHONPATH": os.path.dirname(os.path.dirname(numpy.__file__))}


def of_script(it, node):
    """The line of the script in which a block was asked for, or that called what asked for it; 0: there is none."""
    return next((line for function, line in it.path(node) if function.file.endswith("/" + KINDS.name)), 0)


def most_held(memory, lines):
    """The most that each line held at once, by walking through all events; `lines`: those of the blocks."""
    sizes = {a.block: a.bytes for a in memory.allocs}
    held, most = defaultdict(int), defaultdict(int)
    for event in sorted([*memory.allocs, *memory.frees.values()], key=lambda e: (e.time, e.order)):
        if event.block in lines:  # else of before the program
            line = lines[event.block]
            held[line] += sizes[event.block] * (1 if hasattr(event, "kind") else -1)
            most[line] = max(most[line], held[line])
    return most


def test_kinds(program, python, libraries, tmp_path):
    """What the program asked for is what was recorded: how many of which size, at which line, whose they are and which
    of them are left; and reports say the sums of that."""
    # the C++ library needs a runtime as new as the compiler's
    usable = libraries if python.name.split("-")[0] != "bullseye" else libraries[:1]
    result = profile(python, [str(KINDS), *usable], tmp_path, EXACT, env=numpy_for(python))
    assert result.status == 0, result
    told = json.loads(result.out)
    assert len(told) >= 21 and ("new" in [one[0] for one in told]) == (len(usable) == 2)
    if python == pythons.system():
        assert "numpy" in [one[0] for one in told]
    it = capture.read(capture_of(result))
    memory = Memory(it)
    assert it.complete and memory.interval == 0 and memory.states[-1].lost == 0
    lines = {a.block: of_script(it, a.node) for a in memory.allocs}
    free = {block for block, end in memory.frees.items() if not end.ending}
    asked, left, anywhere = Counter(), Counter(), Counter()
    for a in memory.allocs:
        key = lines[a.block], a.bytes, a.kind
        asked[key] += 1
        left[key] += a.block not in free
        anywhere[a.bytes] += 1
    wrong = []
    for comment, size, count, rest, kind in told:
        key = line_of(KINDS, comment), size, kind
        if (asked[key], left[key]) != (count, rest):
            wrong.append("%s: %d bytes: %d asked for and %d left, of %d and %d" % (comment, size, asked[key], left[key], count, rest))
        if size > 10000 and anywhere[size] != count:
            wrong.append("%s: %d blocks of %d bytes elsewhere, too" % (comment, anywhere[size] - count, size))
    assert not wrong, "\n".join(wrong)

    heap = summary(program, capture_of(result), KINDS.name)
    most, of_line = most_held(memory, lines), defaultdict(list)
    for a in memory.allocs:
        of_line[lines[a.block]].append(a)
    for comment in {one[0] for one in told}:
        number = line_of(KINDS, comment)
        line = heap["lines"][number]
        assert line["recorded_blocks"] == len(of_line[number]), comment
        assert line["allocated_bytes"] == sum(a.bytes for a in of_line[number]), comment
        assert line["live_bytes"] == sum(a.bytes for a in of_line[number] if a.block not in free), comment
        if comment != "thread":  # between threads the order is known to 50 us only
            assert line["peak_bytes"] == most[number], comment


RACE = """
import ctypes, sys, threading

library = ctypes.CDLL(sys.argv[1])
library.race.restype = ctypes.c_long
asked = []
racing = threading.Thread(target=lambda: asked.append(library.race(int(sys.argv[2]))))
racing.start()
turns = 0
while not asked:
    bytes(50021)
    turns += 1
racing.join()
last = bytearray(50000017)
print(*asked, turns)
"""


def built(folder, name):
    return build_c(folder / (name + ".so"), ["heap/%s.c" % name], "-O1", "-fno-builtin")


@pytest.fixture(scope="session")
def racing(tmp_path_factory):
    return built(tmp_path_factory.mktemp("race"), "race")


@pytest.fixture(scope="session")
def stating(tmp_path_factory):
    return built(tmp_path_factory.mktemp("state"), "state")


@pytest.mark.parametrize("how", [["--exact"], ["--exact=malloc"], ["-p", "10"]], ids=["every", "malloc", "some"])
def test_race_of_threads_of_c(program, some_python, racing, how, tmp_path):
    """Six threads without Python, which give back each other's blocks, beside one with it: none is lost, none ends
    twice, and what is left is what they left, to the byte."""
    args = [script(tmp_path, RACE), racing, "20000"]
    result = profile(some_python, args, tmp_path, ["-q", "--memory", *how])
    assert result.status == 0, result
    asked, turns = map(int, result.out.split())
    it = capture.read(capture_of(result))
    memory = Memory(it)
    assert it.complete and memory.states[-1].lost == 0
    frees = [f.block for f in it.frees]
    assert len(frees) == len(set(frees)) and set(frees) <= {a.block for a in it.allocs}
    python_runs = {a.thread for a in memory.allocs if memory.line(a)}
    of_c = [a for a in memory.allocs if a.thread not in python_runs]
    left = Counter(a.bytes for a in of_c if a.block not in memory.frees or memory.frees[a.block].ending)
    true = Counter({90001 + number: 5 for number in range(6)})
    if how[0] == "-p":
        # a Python thread may have had no block picked but small ones without a line
        left = Counter({size: count for size, count in left.items() if size > 9000})
        assert left <= true and sum(left.values()) > 20  # of blocks that large one in 10,000 is passed over
    else:
        assert left == true
        assert len(of_c) == asked
        assert [a.bytes for a in memory.allocs if memory.line(a) == 11].count(50054) == turns
    # of more than a gigabyte that came and went; the rest is what the interpreter loaded for this
    assert abs(left_by_call(memory) - sum(size * count for size, count in true.items())) < 2000000


STATE = """
import ctypes, sys

library = ctypes.CDLL(sys.argv[1])
library.state.restype = ctypes.c_char_p

def say():
    print(library.state().decode())

library.begin()
say()
blocks = [bytearray(size) for size in range(100000, 9000000, 300003)]
say()
del blocks  # from here on glibc takes larger ones from the heap
say()
small, middle = [object() for _ in range(300000)], [b"x" * size for size in range(600, 9000)]
say()
del small, middle[::2]
say()
"""


@pytest.mark.parametrize("how", [[], ["--memory"], ["--memory", "--exact"]], ids=["time", "some", "every"])
def test_state_of_glibc(program, python, stating, how, tmp_path):
    """Where malloc takes which sizes from, and how many mappings it has, is what it is without us, at every moment;
    the heap differs by what the loader needs for one library more. An agent that frees a table of its own by it makes
    the threshold of mappings move, and with it the program's speed."""
    args = [script(tmp_path, STATE), stating]
    how = ["-l", "OFF", *how]  # code that hears warnings and logs is Python's, and takes some kB of its heap
    said = [[line.split() for line in plain(python, args, tmp_path).out.splitlines()]]
    result = profile(python, args, tmp_path, ["-q", *how])
    said.append([line.split() for line in result.out.splitlines()])
    assert len(said[0]) == len(said[1]) == 5 and result.status == 0, result
    for without, with_us in zip(*said):
        assert without[:3] == with_us[:3], said
        assert abs(int(without[3]) - int(with_us[3])) <= 140000 and abs(int(without[4]) - int(with_us[4])) < 20000, said
    # the program does what moves the threshold
    assert said[0][0][0].count("m") > said[0][2][0].count("m") > 0
