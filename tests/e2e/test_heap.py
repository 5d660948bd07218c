"""Memory (--memory): what is counted is what the program asked for, and what is recorded stands for it."""

import json
import os
import shutil
import subprocess

import pytest
from support import capture, pythons, stacks
from support.heap import Memory, room
from support.languages import build_c
from support.run import FULL, TARGETS, capture_of, plain, profile
from test_same_behaviour import same, script

MEMORY = ["-q", "--memory"]
KNOWN = TARGETS / "heap" / "known.py"


def line_of(path, comment):
    for number, text in enumerate(path.read_text().splitlines(), 1):
        if text.endswith("# " + comment):
            return number
    raise AssertionError("no line %r" % comment)


def recorded(python, args, cwd, options=(), **rest):
    cwd.mkdir(parents=True, exist_ok=True)
    result = same(python, args, cwd, options=MEMORY + list(options), **rest)
    it = capture.read(capture_of(result))
    assert it.complete and it.heaps
    return Memory(it), it


# by comment: (kind, size, count)
BLOCKS = {
    "bytes": ("python", 1034, 20000),
    "floats": ("python", 24, 400000),
    "array": ("python", 30000002, 1),
    "native": ("native", 5000011, 8),
    "mapped": ("mapped", 25000000, 1),
    "thread": ("python", 50054, 200),
}


def test_known_blocks(program, python, tmp_path):
    memory, it = recorded(python, [str(KNOWN)], tmp_path)
    lists = 20000 * 8 + 400000 * 8 * 1.06 + 200 * 8
    truth = sum(size * count for _kind, size, count in BLOCKS.values()) + lists
    assert memory.states[-1].lost == 0
    assert abs(memory.most - memory.before - truth) < 0.01 * truth, (memory.most, memory.before, truth)
    held = memory.at_peak()
    kinds = {memory.line(a): a.kind for a in memory.allocs}
    for comment, (kind, size, count) in BLOCKS.items():
        line = line_of(KNOWN, comment)
        bytes_held = held[line]
        slack = 400000 * 8 * 1.13 if comment == "floats" else 20000 * 9 if comment == "bytes" else 2000
        off = bytes_held - size * count
        spread = room(size, count, memory.interval) + room(slack, 1, memory.interval)
        assert -spread - 1 <= off <= spread + slack, (comment, bytes_held, size * count, spread)
        assert kinds[line] == kind, comment
    assert line_of(KNOWN, "temporary") not in held
    # one recorded block stands for an interval: a small object that stays, as ctypes keeps of a call, may be picked
    left = {line for line, bytes_left in memory.at_end().items() if bytes_left > 1.5 * memory.interval}
    assert line_of(KNOWN, "bytes") in left
    assert not {line_of(KNOWN, comment) for comment in ("array", "native", "mapped", "thread")} & left


def test_finer(program, system_python, tmp_path):
    """A smaller interval: more blocks, the same sums."""
    coarse, _ = recorded(system_python, [str(KNOWN)], tmp_path / "a", ["--precision=0"])
    fine, _ = recorded(system_python, [str(KNOWN)], tmp_path / "b", ["-p", "10"])
    assert coarse.interval == 10000000 and fine.interval == 9765
    assert len(fine.allocs) > 20 * len(coarse.allocs)
    asked = sum(fine.asked().values())
    truth = sum(size * count for _kind, size, count in BLOCKS.values()) + 30 * 2000004
    assert abs(asked - truth) < 0.25 * truth  # and what lists took on their way
    assert abs(fine.most - coarse.most) < 20000


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    return build_c(tmp_path_factory.mktemp("heap") / "blocks.so", ["heap/blocks.c"], "-O0", "-fno-builtin")


# what each leaves, in bytes
CALLS = {
    "by_malloc": 10 * 1000003,
    "by_calloc": 3 * 7 * 500009,
    "by_realloc": 4000037,
    "by_alignment": 5 * 2000003,
    "by_pages": 2000003,
    "by_mmap": 9000000 - 2 * 4096,
    "by_remap": 12000000 + 1000003 + 3000000 + 2000000,
    "temporary": 0,
}
CALL = """
import ctypes, sys

library = ctypes.CDLL(sys.argv[1])
call = getattr(library, sys.argv[2])
call()
last = bytearray(50000017)
"""


def left_by_call(memory):
    """What was held when the last block came, but for that and what there was before the program."""
    # with a byte more at its end, and from 3.15 on the head of a bytes object
    (last,) = [a for a in memory.allocs if 50000017 <= a.bytes < 50000100]
    return last.held - last.bytes - memory.before


@pytest.mark.parametrize("call", CALLS)
def test_ways_to_ask(program, some_python, call, library, tmp_path):
    """To the byte, but for the little that ctypes itself asks for, which a run that calls nothing has too."""
    path = script(tmp_path, CALL)
    nothing, _ = recorded(some_python, [path, library, "give_back"], tmp_path / "nothing")
    memory, _ = recorded(some_python, [path, library, call], tmp_path / "call")
    assert abs(left_by_call(memory) - left_by_call(nothing) - CALLS[call]) < 9000


PRELOADED = [
    "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2",
    "/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4",
    "/usr/lib/x86_64-linux-gnu/libmimalloc.so.2",
]


@pytest.mark.parametrize("allocator", [""] + PRELOADED)
def test_other_allocators(program, system_python, allocator, library, tmp_path):
    if allocator and not os.path.exists(allocator):
        pytest.skip("SKIP: no %s here" % allocator)
    env = {"LD_PRELOAD": allocator} if allocator else {}
    path = script(tmp_path, CALL)
    for call in ("by_malloc", "by_realloc", "by_alignment", "temporary"):
        nothing, _ = recorded(system_python, [path, library, "give_back"], tmp_path / call / "0", env=env)
        memory, _ = recorded(system_python, [path, library, call], tmp_path / call / "1", env=env)
        assert abs(left_by_call(memory) - left_by_call(nothing) - CALLS[call]) < 9000, call


@pytest.mark.parametrize("allocator", [""] + PRELOADED)
def test_operators_of_cxx(program, system_python, allocator, tmp_path):
    if allocator and not os.path.exists(allocator):
        pytest.skip("SKIP: no %s here" % allocator)
    if not shutil.which("g++"):
        pytest.skip("SKIP: no g++ here")
    library = str(tmp_path / "new.so")
    source = str(TARGETS / "heap" / "new.cpp")
    subprocess.check_call(["g++", "-O1", "-std=c++17", "-shared", "-fPIC", "-o", library, source])
    env = {"LD_PRELOAD": allocator} if allocator else {}
    path = script(tmp_path, CALL)
    # mimalloc ends the program where there is no memory for new
    for call in ("by_new",) if "mimalloc" in allocator else ("by_new", "by_new_after_none"):
        memory, _ = recorded(system_python, [path, library, call], tmp_path / call, env=env)
        left = left_by_call(memory)
        assert 6 * 1000033 <= left < 6 * 1000033 + 400000, (call, left)


@pytest.mark.parametrize("how", ["malloc", "debug"] + (["malloc_debug", "pymalloc_debug"] if FULL else []))
def test_allocators_of_python(program, python, how, tmp_path):
    memory, _ = recorded(python, [str(KNOWN)], tmp_path, env={"PYTHONMALLOC": how})
    truth = sum(size * count for _kind, size, count in BLOCKS.values())
    assert abs(memory.most - memory.before - truth) < 0.04 * truth


THREADS = """
import threading

def work(n):
    kept = []
    for i in range(3000):
        kept.append(bytes(1000 + n))
        if len(kept) > 100:
            del kept[::2]

threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
last = bytearray(50000017)
print("done")
"""


def test_threads(program, python, tmp_path):
    """What all of them gave back is not held any more."""
    memory, it = recorded(python, [script(tmp_path, THREADS)], tmp_path)
    assert abs(left_by_call(memory)) < 400000
    assert sum(memory.asked().values()) > 20e6
    assert {f.block for f in it.frees} <= {a.block for a in it.allocs}


FORKS = """
import os

held = [bytes(100003) for _ in range(300)]
pid = os.fork()
if not pid:
    del held[:]
    more = [bytes(200003) for _ in range(100)]
    os._exit(0)
os.waitpid(pid, 0)
print(len(held))
"""


def test_forks(program, python, tmp_path):
    """A child begins with what its parent held, gives that back, and has its own."""
    memory, it = recorded(python, [script(tmp_path, FORKS)], tmp_path)
    child = Memory(it, 2)
    assert 30e6 < child.before < 45e6
    end = child.states[-1]
    assert 20e6 < end.python + end.native < 35e6
    assert 30e6 < memory.most < 45e6
    assert [line for line, n in child.asked().items() if n > 5e6] == [8]


def test_every_block_of_forks(program, python, tmp_path):
    """The same with all of them: what is the parent's is none of the child's blocks, to the byte."""
    _, it = recorded(python, [script(tmp_path, FORKS)], tmp_path, ["--exact"])
    child = Memory(it, 2)
    mine = [a for a in child.allocs if places(it, a.node)[:1] == [["script.py", 8]]]
    assert [a.bytes for a in mine].count(200036) == 100
    parents = {a.block for a in Memory(it).allocs if a.bytes == 100036}
    assert len(parents) == 300
    assert not [f for f in it.frees if f.process == 1 and f.block in parents]
    assert not [a for a in child.allocs if a.bytes == 100036]
    assert child.states[-1].lost == 0


COPIES = """
def large():
    data = bytes(20000003)
    for _ in range(30):
        bytearray(data)

def small():
    data = bytes(5003)
    for _ in range(40000):
        bytearray(data)

large()
small()
"""


def test_copies(program, python, tmp_path):
    """All of them counted; by line as exact as chance lets them."""
    memory, it = recorded(python, [script(tmp_path, COPIES)], tmp_path)
    large, small = 30 * 20000003, 40000 * 5003
    assert abs(memory.states[-1].copied - large - small) < 0.02 * (large + small)
    lines = memory.copied()
    assert abs(lines[5] - large) < room(20000003, 30, 4194304)
    assert abs(lines[10] - small) < room(5003, 40000, 4194304)


EVERY = """
kept = [bytes(10007 + i) for i in range(300)]
for i in range(200):
    bytes(20011)
last = bytearray(50000017)
"""


def kept_by(memory, line):
    """The sizes that stand behind `kept` in that line."""
    return sorted(a.bytes for a in memory.allocs if memory.line(a) == line and 10040 <= a.bytes < 10340)


def test_every_block(program, python, tmp_path):
    """To the byte and to the line: 33 more, the head of each."""
    memory, _ = recorded(python, [script(tmp_path, EVERY)], tmp_path, ["--exact"])
    assert memory.interval == 0 and memory.states[-1].lost == 0
    assert kept_by(memory, 2) == [10040 + i for i in range(300)]
    assert [a.bytes for a in memory.allocs if memory.line(a) == 4].count(20044) == 200
    assert memory.at_peak()[2] >= sum(10040 + i for i in range(300))


LARGE_ONES = """
small = [object() for _ in range(400000)]
kept = [bytes(10007 + i) for i in range(300)]
grown = []
for i in range(30000):
    grown.append(bytearray(i % 700))
    grown[-1] += bytes(i % 900)
    del grown[-1][i % 300:]
del small, grown
last = bytearray(50000017)
"""


def test_every_block_of_malloc(program, python, tmp_path):
    """To the byte and to the line; small objects are the arenas that they need."""
    memory, _ = recorded(python, [script(tmp_path, LARGE_ONES)], tmp_path, ["--exact=malloc"])
    assert memory.interval == 1 and memory.states[-1].lost == 0
    assert kept_by(memory, 3) == [10040 + i for i in range(300)]
    small = [a for a in memory.allocs if memory.line(a) == 2]
    assert {a.kind for a in small if a.bytes <= 512} == set()
    arenas = sum(a.bytes for a in small if a.kind == "mapped")
    assert 0.9 * 400000 * 16 < arenas < 1.5 * 400000 * 16 + 2e6, arenas
    truth = sum(10040 + i for i in range(300)) + 50000017
    assert truth - 2e6 < memory.most - memory.before < truth + 4e6 + arenas, (memory.most, memory.before, arenas)


@pytest.mark.parametrize("how", ["--exact", "--exact=malloc"])
def test_every_block_without_pools(program, some_python, how, tmp_path):
    """Then all is malloc's, and Python's all the same."""
    memory, _ = recorded(some_python, [script(tmp_path, EVERY + "some = [object() for _ in range(1000)]\n")], tmp_path,
                         [how], env={"PYTHONMALLOC": "malloc"})
    assert [a.kind for a in memory.allocs if memory.line(a) == 6 and a.bytes == 16].count("python") == 1000
    assert [a.bytes for a in memory.allocs if memory.line(a) == 4].count(20044) == 200


def test_no_such_blocks(program, system_python, tmp_path):
    result = profile(system_python, [script(tmp_path, "print(1)")], tmp_path, ["-q", "-m", "--exact=some"])
    assert result.status == 2 and "--exact=some: there are all" in result.err and result.folder is None


STACKS = TARGETS / "heap" / "stacks.py"


def places(it, node):
    """File and line of each Python frame, innermost first."""
    return [[function.file.rsplit("/", 1)[-1], line] for function, line in it.path(node) if not function.kind]


@pytest.mark.parametrize("how", [["--exact"], ["-p", "10"]], ids=["every", "some"])
def test_every_stack(program, python, how, tmp_path):
    """Each of a thousand blocks has the stack that the program itself saw: of generators, through C, from the same
    place by another caller, in code that was made where other code had been; in several threads."""
    result = profile(python, [str(STACKS)], tmp_path, MEMORY + how)
    assert result.status == 0, result
    said = {int(size): lines for size, lines in json.loads(result.out).items()}
    expected = {size + 33: lines for size, lines in said.items() if size > 0}
    native = {-size: lines for size, lines in said.items() if size < 0}
    it = capture.read(capture_of(result))
    seen_native = {a.bytes: places(it, a.node) for a in it.allocs if a.bytes in native and a.kind == "native"}
    assert it.complete and it.heaps[-1].lost == 0
    seen = {a.bytes: places(it, a.node) for a in it.allocs if a.bytes in expected and a.kind == "python"}
    # raises() has sizes that it does not ask for
    asked = {size: lines for size, lines in expected.items() if lines != [["stacks.py", line_of(STACKS, "not asked for")]] + lines[1:]}
    assert len(asked) > 1000
    if how == ["-p", "10"]:
        asked = {size: lines for size, lines in asked.items() if size in seen}
        assert len(asked) > 300 and len(seen_native) >= len(native) / 2
        native = {size: lines for size, lines in native.items() if size in seen_native}
    wrong = {size: (lines, seen.get(size)) for size, lines in asked.items() if seen.get(size) != lines}
    assert not wrong, list(wrong.items())[:3]
    assert native == seen_native


MANY = """
def make(n):
    return [(i,) for i in range(n)]

for _ in range(5):
    kept = make(1000000)
"""


def summary(program, path, name="script.py"):
    """What the tool says of a capture's memory; its lines by their number, of the script alone."""
    heap = json.loads(subprocess.check_output([str(program), "summarize", "--json", str(path)]))["heap"]
    heap["lines"] = {line["line"]: line for line in heap["lines"] if line["file"].endswith("/" + name)}
    return heap


def test_many_small_objects(program, some_python, tmp_path):
    """Each of 5 million and more is there, in at most 8 bytes of file, and what a line held is right to the byte."""
    result = same(some_python, [script(tmp_path, MANY)], tmp_path, options=MEMORY + ["--exact"])
    path = capture_of(result)
    heap = summary(program, path)
    line = heap["lines"][3]
    assert heap["lost_blocks"] == 0
    # tuples but for 2000 that the interpreter may have kept, numbers above 256, and what the list took
    assert 5 * (2000000 - 257 - 2000) <= line["recorded_blocks"] <= 5 * 2000000 + 500
    assert path.stat().st_size <= 8 * heap["recorded_blocks"], path.stat().st_size / heap["recorded_blocks"]
    # a tuple of one with its head for the garbage collector, a number; the last list and the one before
    assert 2 * 1000000 * (40 + 24) < line["peak_bytes"] < 2 * 1000000 * (64 + 32 + 9.2)
    more_than_fit(program, path, heap)


def more_than_fit(program, path, heap):
    """Where a machine has no room for all blocks there is a report without them, and it is said."""
    command = ["prlimit", "--as=250000000", str(program)]
    less = json.loads(subprocess.check_output([*command, "summarize", "--json", str(path)]))["heap"]
    assert less["blocks_left_out"] and not heap["blocks_left_out"]
    assert less["lines"] == [] and abs(less["max_bytes"] - heap["max_bytes"]) < 0.02 * heap["max_bytes"]
    text = subprocess.check_output([*command, "summarize", str(path)], text=True)
    assert "more were recorded than half" in " ".join(text.split()), text
    assert subprocess.run([*command, "tree", str(path)], stdout=subprocess.DEVNULL).returncode == 0
    done = subprocess.run([*command, "tree", "--memory", str(path)], capture_output=True, text=True)
    assert done.returncode == 2 and "has more blocks of memory than" in done.stderr, done


SHARED = """
import threading

def work(n):
    for i in range(6000):
        data.append(bytes(1007 + n))
        if i % 2:
            data.pop(0)

def drain():
    while data:
        data.pop()

data = []
for work_round in range(2):
    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
drain()
"""


def test_every_block_of_threads(program, python, tmp_path):
    """Blocks that one thread asks for and another gives back: all of them, once."""
    result = same(python, [script(tmp_path, SHARED)], tmp_path, options=MEMORY + ["--exact"])
    it = capture.read(capture_of(result))
    memory = Memory(it)
    assert memory.states[-1].lost == 0
    sizes = {a.block: a.bytes for a in memory.allocs if memory.line(a) == 6 and 1040 <= a.bytes < 1046}
    assert len(sizes) == 2 * 6 * 6000
    assert sum(sizes.values()) == 2 * 6000 * sum(1040 + i for i in range(6))
    given = [f.block for f in it.frees if f.block in sizes]
    assert len(given) == len(set(given)) == len(sizes)
    mine = [a for a in memory.allocs if places(it, a.node)[:1] == [["script.py", 6]]]
    line = summary(program, capture_of(result))["lines"][6]
    assert line["recorded_blocks"] == len(mine)
    assert line["allocated_bytes"] == sum(a.bytes for a in mine)
    assert line["live_bytes"] == sum(a.bytes for a in mine if a.block not in memory.frees)


def test_two_precisions(program, system_python, tmp_path):
    """Every block, and it is said."""
    args = ["-q", "-m", "--exact", "--precision=3"]
    result = profile(system_python, [script(tmp_path, "print(1)")], tmp_path, args)
    assert result.out == "1\n" and "--exact records every block" in result.err and result.status == 0


def test_precision_without_memory(program, system_python, tmp_path):
    """It is said, and the program runs."""
    result = profile(system_python, [script(tmp_path, "print(1)")], tmp_path, ["-q", "--precision=3"])
    assert result.out == "1\n" and "without --memory" in result.err and result.status == 0


@pytest.mark.parametrize("value", ["11", "-11", "x", "1.5"])
def test_no_precision(program, system_python, value, tmp_path):
    result = profile(system_python, [script(tmp_path, "print(1)")], tmp_path, ["-q", "-m", "-p", value])
    assert result.status == 2 and "from -10" in result.err and result.folder is None


VICTIMS = ["reenter", "throw", "generators", "recursion", "threads", "gcstorm", "signals", "forks", "execs",
           "newcode", "interpreters", "deep"]
if FULL:
    VICTIMS += ["coroutines", "overflow", "unload", "hardexit", "hooks"]


HOW = ["-p", "10"], ["--exact"]


@pytest.mark.parametrize("victim", VICTIMS)
def test_victims(program, python, victim, tmp_path):
    """Those that attack a sampler, while every 10 kB one block is recorded, or each: in turns, with FAH_FULL both. To
    read what was recorded takes ten times as long, and a GB a second: each victim on one Python, with FAH_FULL on each
    fourth. (Victims of 10 s with their memory recorded, sampled, are the stage `harm` of ./check.)"""
    path = str(TARGETS / (victim + ".py"))
    expected = plain(python, [path, "0"], tmp_path, timeout=120)
    turn = VICTIMS.index(victim) + pythons.available().index(python)
    every = pythons.versions()
    read = (VICTIMS.index(victim) + every.index(python)) % (4 if FULL else len(every)) == 0
    for how in HOW if FULL else [HOW[turn % 2]]:
        folder = tmp_path / how[0]
        folder.mkdir()
        result = profile(python, [path, "2" if FULL else "0.5"], folder, MEMORY + how, hz=1000, timeout=180)
        assert (result.status, result.out, result.err) == (expected.status, expected.out, expected.err)
        if not read:
            continue
        it = capture.read(capture_of(result))
        assert it.complete and it.cut == 0 and it.reasons == [] and it.heaps
        found = stacks.impossible(it)
        assert not found, found[:10]
