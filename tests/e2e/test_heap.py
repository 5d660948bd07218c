"""Memory (--memory): what is counted is what the program asked for, and what is recorded stands for it."""

import os
import shutil
import subprocess

import pytest
from support import capture
from support.heap import Memory, error
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
        spread = error(size, count, memory.interval) + error(slack, 1, memory.interval)
        assert -4.5 * spread - 1 <= off <= 4.5 * spread + slack, (comment, bytes_held, size * count, spread)
        assert kinds[line] == kind, comment
    assert line_of(KNOWN, "temporary") not in held
    left = memory.at_end()
    assert line_of(KNOWN, "bytes") in left
    assert not {line_of(KNOWN, comment) for comment in ("array", "native", "mapped", "thread")} & set(left)


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
    path = tmp_path_factory.mktemp("heap") / "blocks.so"
    source = str(TARGETS / "heap" / "blocks.c")
    subprocess.check_call(["cc", "-O0", "-fno-builtin", "-shared", "-fPIC", "-o", str(path), source])
    return str(path)


# what each leaves, in bytes
CALLS = {
    "by_malloc": 10 * 1000003,
    "by_calloc": 3 * 7 * 500009,
    "by_realloc": 4000037,
    "by_alignment": 5 * 2000003,
    "by_pages": 2000003,
    "by_mmap": 9000000 - 2 * 4096,
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
    assert abs(lines[5] - large) < 4.5 * error(20000003, 30, 4194304)
    assert abs(lines[10] - small) < 4.5 * error(5003, 40000, 4194304)


EVERY = """
kept = [bytes(10007 + i) for i in range(300)]
for i in range(200):
    bytes(20011)
last = bytearray(50000017)
"""


def test_every_block(program, python, tmp_path):
    """To the byte and to the line: 33 more, the head of each."""
    memory, _ = recorded(python, [script(tmp_path, EVERY)], tmp_path, ["--exact"])
    assert memory.interval == 0 and memory.states[-1].lost == 0
    sizes = [a.bytes for a in memory.allocs if memory.line(a) == 2]
    assert sorted(n for n in sizes if 10040 <= n < 10340) == [10040 + i for i in range(300)]
    assert [a.bytes for a in memory.allocs if memory.line(a) == 4].count(20044) == 200
    assert memory.at_peak()[2] >= sum(10040 + i for i in range(300))


def test_precision_without_memory(program, system_python, tmp_path):
    """It is said, and the program runs."""
    result = profile(system_python, [script(tmp_path, "print(1)")], tmp_path, ["-q", "--precision=3"])
    assert result.out == "1\n" and "without --memory" in result.err and result.status == 0


@pytest.mark.parametrize("value", ["11", "-11", "x", "1.5"])
def test_no_precision(program, system_python, value, tmp_path):
    result = profile(system_python, [script(tmp_path, "print(1)")], tmp_path, ["-q", "-m", "-p", value])
    assert result.status == 2 and "from -10" in result.err and result.folder is None


VICTIMS = ["reenter", "throw", "generators", "recursion", "threads", "gcstorm", "signals", "forks", "execs"]


@pytest.mark.parametrize("victim", VICTIMS)
def test_victims(program, python, victim, tmp_path):
    """Those that attack a sampler, while every 10 kB one block is recorded."""
    args = [str(TARGETS / (victim + ".py")), "10" if FULL else "0.5"]
    expected = plain(python, args, tmp_path, timeout=120)
    result = profile(python, args, tmp_path, MEMORY + ["-p", "10"], hz=1000, timeout=180)
    assert (result.status, result.out, result.err) == (expected.status, expected.out, expected.err)
