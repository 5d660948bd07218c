"""Walks in a signal handler while the program does what breaks walks:
python walk_storm.py LIBRARY SECONDS[:WALKS]|step [SKIP]

At 5 kHz for some seconds; with WALKS at 15 kHz until so many were accepted, which must be before those
seconds are over; or, with "step", after every single instruction of the interpreter
during one round, so that no half-made state is missed.

Every stack that was accepted is judged by the program's own text: a line that calls ends in a comment
"#> names", the functions it can be the caller of, and no function is called from anywhere else. So a
frame that is missing, stale or invented makes a pair that the text does not allow. Finalisers may
begin anywhere. SKIP (bits of enum fah_py_test_skip, and of the probe's faults) leaves out a check of the
walk or spoils what it gives: then this test has to fail, which is status 3, else it could not tell.
"""

import ctypes
import functools
import linecache
import sys
import time

sys.path.insert(0, __file__.rpartition("/")[0])
import probe

HERE = __file__
STEP = sys.argv[2] == "step"
SECONDS, _, WALKS = sys.argv[2].partition(":")
WALKS = int(WALKS or 0)
PERIOD = 60000 if WALKS else 200000  # ns, after each walk
DEPTH = 8 if STEP else 40 if WALKS else 400  # many walks: of stacks that are walked fast
N = 3 if STEP else 30
JIT = hasattr(sys, "_jit") and sys._jit.is_enabled()  # 3.14 and later, with PYTHON_JIT=1
alive = []  # code objects must not die before they are judged


def key_of(x):
    return -x


def twice(x):
    return x + x


def sort_map():
    return sorted(map(lambda x: twice(x), range(N)), key=lambda x: key_of(x))  #> <lambda>


def add(a, b):
    return a + b


def reduce_it():
    return functools.reduce(lambda a, b: add(a, b), range(N))  #> <lambda>


def count_up(n):
    for i in range(n):
        yield i


def delegate(n):
    yield from count_up(n)  #> count_up


def generators():
    total = 0
    for i in delegate(N):  #> delegate
        total += i
    total += sum(delegate(N))  #> delegate
    dropped = delegate(5)  #> delegate
    next(dropped)  #> delegate
    del dropped  #> delegate count_up
    return total + max(expression(4))  #> expression


def expression(n):
    return [i for i in (key_of(j) for j in range(n))]  #> <genexpr> <listcomp>


class Awaited:
    def __await__(self):
        yield 1
        return 2


async def leaf_coroutine():
    return await Awaited()  #> __await__


async def async_numbers():
    for i in range(3):
        yield i
        await leaf_coroutine()  #> leaf_coroutine


async def coroutine():
    async for _ in async_numbers():  #> async_numbers
        await leaf_coroutine()  #> leaf_coroutine


def coroutines():
    work = coroutine()  #> coroutine
    try:
        while True:
            work.send(None)  #> coroutine
    except StopIteration:
        pass


async def handles():
    try:
        await Awaited()  #> __await__
    except KeyError:
        return sort_map()  #> sort_map
    finally:
        twice(3)  #> twice


async def awaits_it():
    return await handles()  #> handles


async def awaits_that():
    await awaits_it()  #> awaits_it
    await awaits_it()  #> awaits_it


def thrown():
    """Through coroutines that wait, into the one that they wait for."""
    work = awaits_that()  #> awaits_that
    work.send(None)  #> awaits_that
    for _ in range(2):
        try:
            work.throw(KeyError())  #> awaits_that awaits_it_in_3_8 handles_in_3_8 __await___in_3_8
        except StopIteration:
            pass
    work = awaits_that()  #> awaits_that
    work.send(None)  #> awaits_that
    work.close()  #> awaits_that awaits_it handles __await__


def throws(n):
    if n == 0:
        raise KeyError(n)
    return throws(n - 1)  #> throws


def through_c(n):
    return list(map(throws, [n]))  #> throws


def exceptions():
    for n in (0, 1, 5):
        try:
            through_c(n)  #> through_c
        except KeyError:
            pass


def ping(n):
    return 0 if n == 0 else pong(n - 1)  #> pong


def pong(n):
    return 0 if n == 0 else ping(n - 1)  #> ping


def recursion():
    ping(DEPTH)  #> ping
    pong(7)  #> pong


def endless(n):
    return endless(n + 1)  #> endless


def overflow():
    try:
        endless(0)  #> endless
    except RecursionError:
        pass


def descend(n):
    twice(n)  #> twice
    if n:
        descend(n - 1)  #> descend


def edges():
    """Calls over the end of each chunk of the data stack, of 16 kB (3.11 and later)."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    descend(150 if STEP and sys.version_info >= (3, 11) else 20)  #> descend
    sys.setrecursionlimit(limit)


class Dies:
    def __init__(self, other=None):
        self.other = other

    def __del__(self):
        on_death()  #> on_death


def on_death():
    return [i for i in (1, 2)]  #> <listcomp>


def dying():
    first = Dies()  #> __init__
    second = Dies([first])  #> __init__
    del first
    ring = Dies()  #> __init__
    ring.other = ring
    return None


class Compared:
    def __init__(self, v):
        self.v = v

    def __lt__(self, other):
        return compare(self.v, other.v)  #> compare

    def __eq__(self, other):
        return self.v == other.v

    def __hash__(self):
        return hash_of(self.v)  #> hash_of

    def __getattr__(self, name):
        return missing(name)  #> missing

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return True


def compare(a, b):
    return a < b


def hash_of(v):
    return v & 7


def missing(name):
    raise AttributeError(name)


def operators():
    things = [Compared(i % 7) for i in range(2 + N // 3)]  #> __init__ <listcomp>
    things.sort()  #> __lt__
    {thing: 1 for thing in things}  #> __hash__ __eq__ <dictcomp>
    hasattr(things[0], "nothing")  #> __getattr__
    with things[0]:  #> __enter__ __exit__
        raise ValueError  #> __exit__


def many(a, b=1, *args, c=2, **kwargs):
    cell = a

    def inner():
        return cell

    return inner()  #> inner


def arguments():
    for i in range(1 + N // 3):
        many(i, 2, 3, 4, c=5, d=6)  #> many
        many(*range(9), **{"z": 1})  #> many


def small_key(x):
    return x


def wide_key(x):
    return (x, (x, (x, (x, (x, (x, (x, (x, (x, (x, (x, (x, (x, (x, (x, (x, (x, (x, (x, (x,
            (x, (x, (x, (x, (x, (x, (x, (x, (x, (x, x))))))))))))))))))))))))))))))


def between():
    return sorted([2, 1], key=small_key)  #> small_key


def leftovers():
    """What small_key left on the C stack and on the data stack lies where wide_key is entered."""
    between()  #> between
    return sorted([2, 1], key=wide_key)  #> wide_key


TEXT = compile("for i in range(5):\n  f(i)\nclass A:\n  x = g(1)\n", "<text>", "exec")


def executed():
    exec(TEXT, {"f": key_of, "g": twice})


PHASES = [sort_map, reduce_it, generators, coroutines, thrown, exceptions, recursion, edges, dying,
          operators, arguments, leftovers, executed]


def storm(lib, seconds):
    end = time.monotonic() + seconds
    stats = lib.probe_stats().contents
    rounds = 0
    while time.monotonic() < end and not (WALKS and stats.accepted >= WALKS):
        for phase in PHASES:
            for _ in range(12):
                phase()  #> sort_map reduce_it generators coroutines thrown exceptions recursion edges dying operators arguments leftovers executed
        if not WALKS or rounds % 50 == 0:
            overflow()  #> overflow
        rounds += 1


def round_of_all():
    for phase in PHASES:
        phase()  #> sort_map reduce_it generators coroutines thrown exceptions recursion edges dying operators arguments leftovers executed
    overflow()  #> overflow


def calls_of(filename, line):
    """What a line may call: its comment, or that of the lambda or comprehension it stands in."""
    text = linecache.getline(filename, line)
    if sys.version_info < (3, 9):  # shows nothing of those that something is thrown through
        text = text.replace("_in_3_8", "")
    return text.partition("#>")[2].split()


LAMBDAS = {"sort_map": {"twice", "key_of"}, "reduce_it": {"add"}}
INSIDE = {"<lambda>": {"twice", "key_of", "add"}, "<genexpr>": {"key_of"},
          "<listcomp>": {"<genexpr>", "__init__"}, "<dictcomp>": {"__hash__", "__eq__"}}


def judge(lib, stack):
    """None, or what is impossible about a stack."""
    frames = []
    for i in range(stack.n):
        buf = ctypes.create_string_buffer(512)
        f = stack.frames[i]
        if f.code not in known:
            return "a code object that the program does not have"
        n = lib.probe_string(f.code, 1, buf, 512)
        name = buf.raw[:max(n, 0)].decode()
        filename = known[f.code]
        frames.append((name, filename, 0 if i == 0 else lib.probe_line(f.code, f.instr)))
    frames.reverse()
    shown = " ".join("%s:%d" % (name, line) for name, _, line in frames)
    if stack.whole and (frames[0][0] != "<module>" or frames[0][1] != HERE):
        return "does not begin with the program: " + shown
    for (name, filename, line), (callee, callee_file, _) in zip(frames, frames[1:]):
        if callee == "__del__":  # a collection may begin anywhere
            continue
        if filename == "<text>":
            if callee not in ("key_of", "twice", "A"):
                return "%s called by the text: %s" % (callee, shown)
            continue
        if callee_file == "<text>":
            if name != "executed":
                return "text executed by %s: %s" % (name, shown)
            continue
        if filename != HERE:
            return "a frame of another file: " + shown
        allowed = set(calls_of(filename, line))
        if name in INSIDE:
            allowed = INSIDE[name]
        if callee not in allowed and not (
                # comprehensions are inlined from 3.12 on: the enclosing line is the caller
                "<listcomp>" in allowed and callee in INSIDE["<listcomp>"]
                or "<dictcomp>" in allowed and callee in INSIDE["<dictcomp>"]):
            return "%s does not call %s in line %d: %s" % (name, callee, line, shown)
        if callee == "<lambda>" and name not in LAMBDAS:
            return "no lambda in " + shown
    return None


def collect_codes(code):
    known[id(code)] = code.co_filename
    alive.append(code)
    for const in code.co_consts:
        if hasattr(const, "co_code"):
            collect_codes(const)


known = {}


def main():
    lib = probe.load(sys.argv[1])
    skip = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    collect_codes(sys._getframe().f_back.f_code)
    collect_codes(TEXT)
    if STEP:
        sys.setrecursionlimit(30)
        for _ in range(3000 if JIT else 30):  # the interpreter specialises what it runs often
            round_of_all()
        assert lib.probe_step_start(skip) == 0
        round_of_all()  #> round_of_all
        stats = lib.probe_step_stop().contents
        sys.setrecursionlimit(1000)
    else:
        assert lib.probe_start(PERIOD, skip) == 0
        storm(lib, float(SECONDS))  #> storm
        stats = lib.probe_stop().contents
    return lib, stats, skip


begun = time.monotonic()
lib, stats, skip = main()  #> main
impossible = 0
seen = 0
for stack in probe.stacks(lib):
    seen += 1
    wrong = judge(lib, stack)
    if wrong:
        impossible += stack.count
        if impossible < 20:
            print("impossible (%d times, recovered %d): %s" % (stack.count, stack.recovered, wrong))
if STEP:
    places = {}
    for i in range(256):
        count = ctypes.c_uint64()
        pc = lib.probe_doubt_pc(i, count)
        if count.value:
            places[pc] = count.value
    with open("/proc/self/maps") as maps:
        modules = [line.split() for line in maps]
    for pc, count in sorted(places.items(), key=lambda item: -item[1])[:int(len(sys.argv) > 4 and sys.argv[4] or 0)]:
        for words in modules:
            low, high = (int(part, 16) for part in words[0].split("-"))
            if low <= pc < high:
                print("dropped %d times at %s+0x%x" % (count, words[-1], pc - low + int(words[2], 16)))
drops = stats.samples - stats.accepted
why = ", ".join("%s %d" % (name, n) for name, n in zip(probe.DOUBTS, stats.doubts) if n)
print("%s: %d samples in %.0f s, %d distinct stacks, %d impossible, %.3f %% dropped (%s), %d recovered, "
      "%d not kept, mean %.1f us at depth %.0f%s" % (
          sys.version.split()[0], stats.samples, time.monotonic() - begun, seen, impossible, 100.0 * drops / max(stats.samples, 1),
          why or "none", stats.recovered, stats.not_stored,
          stats.ns / 1000.0 / max(stats.accepted, 1), stats.frames / max(stats.accepted, 1),
          ", %d in the JIT's code" % stats.jit if JIT else ""))
if skip:
    sys.exit(3 if impossible else 0)
assert stats.samples > (50000 if STEP else 0 if WALKS else 100 * float(SECONDS)), "the timer did not run"
assert stats.accepted >= WALKS, "%d walks in %s s" % (stats.accepted, SECONDS)
assert stats.accepted > 0 and seen > 20
assert not JIT or stats.jit > (1000 if STEP else 0), "the JIT has made no code, or it was not seen"
assert stats.not_stored * 50 < stats.accepted
assert not impossible
assert drops * 50 < stats.samples, "more than 2 % dropped"
if STEP and not JIT:
    # On 3.11 and 3.12 a new C frame is not filled yet for some instructions.
    assert drops <= (3e-4 * stats.samples if (3, 11) <= sys.version_info < (3, 13) else 0), "dropped"
