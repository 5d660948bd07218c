"""The walk's answer against the interpreter's own, in every kind of frame: python walk_truth.py LIBRARY [FAULT]

Each check() compares names, lines, depth, code objects and entry frames of our walk with the chain
of sys._getframe(), from where it stands. With FAULT (of the probe's) a comparison has to fail, which
is status 3.
"""

import asyncio
import contextlib
import ctypes
import functools
import gc
import sys
import threading

sys.path.insert(0, __file__.rpartition("/")[0])
import probe

lib = probe.load(sys.argv[1])
checks = 0
failed = []
kinds = set()


def text(code, which):
    buf = ctypes.create_string_buffer(4096)
    n = lib.probe_string(code, which, buf, len(buf))
    assert n >= 0, n
    return buf.raw[:n].decode("utf-8")


def check(kind):
    """Called from anywhere; its own frame is the newest one that both sides see."""
    global checks
    failed.append(kind)  # a finaliser's exception would not be seen
    n = lib.probe_walk(0)  # on the line of the frame that sys._getframe() gives
    frame = sys._getframe()
    assert n > 0, "%s: walk says %d, doubt %s" % (kind, n, probe.DOUBTS[lib.probe_doubt()])
    assert lib.probe_marks() & probe.LEAF_CALL, "%s: a call is running" % kind
    assert not lib.probe_marks() & probe.RECOVERED, kind
    depth = 0
    while frame is not None and depth < n:
        ours = lib.probe_frame(depth).contents
        code = frame.f_code
        assert ours.code == id(code), "%s: frame %d is %s, not %s" % (
            kind, depth, code.co_name, text(ours.code, 1))
        if depth > 0:  # the newest one has moved on since
            assert ours.instr == frame.f_lasti or frame.f_lasti < 0 and ours.instr == probe.NOT_STARTED, (
                kind, depth, ours.instr, frame.f_lasti)
            assert lib.probe_line(ours.code, ours.instr) == (frame.f_lineno or 0), (kind, depth)
        if depth < 40:
            assert text(ours.code, 0) == code.co_filename and text(ours.code, 1) == code.co_name, kind
            if sys.version_info >= (3, 11):
                assert text(ours.code, 2) == code.co_qualname, kind
            first, flags = ctypes.c_int32(), ctypes.c_uint32()
            assert lib.probe_code(ours.code, first, flags) == 0
            assert (first.value, flags.value) == (code.co_firstlineno, code.co_flags), kind
        frame = frame.f_back
        depth += 1
    if lib.probe_marks() & probe.TRUNCATED:
        cut = sys.version_info[:2] == (3, 9) and kind.startswith("thrown")  # its own chain ends there
        assert cut and frame is None or n == 2048 and frame is not None, kind
    else:
        assert frame is None and depth == n, "%s: %d frames, not %d" % (kind, n, depth)
        assert lib.probe_frame(n - 1).contents.entry, "%s: the outermost is called from C" % kind
    failed.pop()
    checks += 1
    kinds.add(kind)
    return True


def nested(n, leaf, *args):
    if n == 0:
        return leaf(*args)
    return nested(n - 1, leaf, *args)


def generator(kind):
    yield check(kind)
    yield from inner_generator(kind + ", yield from")
    try:
        yield check(kind)
    finally:
        check(kind + ", closing")


def inner_generator(kind):
    yield check(kind)


async def coroutine(kind):
    check(kind)
    await inner_coroutine(kind + ", await")
    async for _ in async_generator(kind + ", async for"):
        check(kind)
    async with manager(kind + ", async with"):
        check(kind)
    await asyncio.sleep(0)
    check(kind + ", resumed")
    await asyncio.gather(inner_coroutine(kind + ", gather"), inner_coroutine(kind + ", gather"))
    return [check(kind + ", comprehension") async for _ in async_generator(kind)]


async def handles(kind):
    """check() at what is thrown, and what follows that."""
    try:
        await asyncio.sleep(0)
    except KeyError:
        nested(3, check, kind + ", handled")
        list(map(check, [kind + ", handled below C"]))
        for _ in inner_generator(kind + ", handled in a loop"):
            pass
    finally:
        check(kind + ", at last")


async def waits_for_it(kind, depth):
    if depth:
        await waits_for_it(kind, depth - 1)
    else:
        await handles(kind)


def delegates(kind):
    try:
        yield from wide_generator(kind)
    except ValueError:
        check(kind + ", caught outside")


def wide_generator(kind):
    try:
        yield from inner_generator(kind)
    except KeyError:
        check(kind + ", caught inside")
        raise ValueError


def thrown():
    for depth in (0, 1, 3, 30):
        for end in ("throw", "close"):
            work = waits_for_it("thrown through %d" % depth, depth)
            work.send(None)
            try:
                work.throw(KeyError()) if end == "throw" else work.close()
            except StopIteration:
                pass
    work = delegates("thrown through a generator")
    next(work)
    try:
        work.throw(KeyError())
    except StopIteration:
        pass
    check("after throws")


async def inner_coroutine(kind):
    await asyncio.sleep(0)
    return check(kind)


async def async_generator(kind):
    for _ in range(2):
        yield check(kind)
        await asyncio.sleep(0)


@contextlib.asynccontextmanager
async def manager(kind):
    check(kind)
    yield
    check(kind)


class Meta(type):
    def __new__(mcs, name, bases, body):
        check("metaclass")
        return super().__new__(mcs, name, bases, body)

    def __call__(cls, *args):
        check("metaclass call")
        return super().__call__(*args)


class Everything(metaclass=Meta):
    check("class body")

    def __init__(self):
        self.me = self
        check("__init__")

    def __getattr__(self, name):
        check("__getattr__")
        raise AttributeError(name)

    def __eq__(self, other):
        return check("__eq__")

    def __hash__(self):
        return 1

    def __lt__(self, other):
        return not check("__lt__")

    def __enter__(self):
        check("__enter__")

    def __exit__(self, *exc):
        return check("__exit__")

    def __iter__(self):
        check("__iter__")
        return iter(())

    def __getitem__(self, item):
        return check("__getitem__")

    @property
    def prop(self):
        return check("property")

    def __del__(self):
        check("finaliser")


class Plain:
    def __init__(self):
        check("inlined __init__")

    def __getitem__(self, item):
        return check("inlined __getitem__")

    @property
    def prop(self):
        return check("inlined property")


def plain():
    for _ in range(60):  # long enough for the interpreter to specialise
        thing = Plain()
        thing[0]
        thing.prop


def holder():
    kept = Everything()
    kept.me = None
    other = [kept]
    del kept
    # the frame is torn down, and the finaliser runs in it


def defaults(a, *args, b=2, **kwargs):
    cell = a

    def closure():
        return cell and check("closure")

    return closure()


def exceptions(n):
    try:
        if n == 0:
            raise KeyError(n)
        return exceptions(n - 1)
    except KeyError:
        check("except handler")
        if n < 3:
            raise
    finally:
        check("finally")


def collect_cycles():
    class Cycle:
        def __init__(self):
            self.me = self

        def __del__(self):
            assert lib.probe_collecting() == 1
            check("finaliser in a collection")

    Cycle()
    assert lib.probe_collecting() == 0
    gc.collect()


def deep(n):
    if n == 0:
        return check("deep recursion")
    return deep(n - 1)


def deep_through_c(n):
    if n == 0:
        return check("deep recursion through C")
    return max([n], key=lambda _: deep_through_c(n - 1))


def wide(n, a=0, b=0, c=0, d=0, e=0, f=0, g=0, h=0, *args, **kwargs):
    """Frames of another size, so that chunks end at odd places."""
    if n == 0:
        return check("deep, wide frames")
    x, y, z = n, n, n
    return wide(n - 1, x, y, z, *range(n % 7), k=n)


def in_generators(n):
    if n == 0:
        yield check("deep in generators")
    else:
        yield from in_generators(n - 1)


def strings():
    def read(s, cap=4096):
        buf = ctypes.create_string_buffer(4096)
        n = lib.probe_str(id(s), buf, cap)
        assert n >= 0, (s, n)
        return buf.raw[:n]

    for s in ("", "a", "plain", "x" * 3000, "\xe9t\xe9", "\u20ac\u4e2d", "\U0001f600!", "\xff" * 1100,
              "a\U0001f600" * 300, "".join(map(chr, range(1, 0xD800, 97)))):
        whole = s.encode("utf-8")
        assert read(s) == whole[:4096] or len(whole) > 4096
        for cap in range(0, min(len(whole), 12)):
            cut = read(s, cap)
            assert whole.startswith(cut) and cap - len(cut) < 4, (s, cap, cut)
            cut.decode("utf-8")
    assert read("\ud800x") == "\ufffdx".encode("utf-8")


def gil():
    me = threading.get_ident()
    assert lib.probe_gil_holder() == me
    thread = threading.Thread(target=lambda: check("thread") and lib.probe_gil_holder())
    thread.start()
    thread.join()
    assert lib.probe_gil_holder() == me


def other_thread():
    """Another thread's stack, while it waits."""
    ready, done = threading.Event(), threading.Event()

    def waits():
        ready.set()
        done.wait()

    thread = threading.Thread(target=waits)
    thread.start()
    ready.wait()
    for _ in range(100000):
        n = lib.probe_walk(thread.ident)
        names = [text(lib.probe_frame(i).contents.code, 1) for i in range(max(n, 0))]
        if names[:2] == ["wait", "wait"]:
            break
    assert "waits" in names, names
    frame, i = sys._current_frames()[thread.ident], 0
    while frame:
        ours = lib.probe_frame(i).contents
        assert ours.code == id(frame.f_code) and lib.probe_line(ours.code, ours.instr) == frame.f_lineno
        frame, i = frame.f_back, i + 1
    assert i == n
    done.set()
    thread.join()


def all_kinds():
    check("function")
    for n in (1, 5, 22, 23, 24, 25, 26, 47, 48, 49, 100):
        nested(n, check, "nested")
    for _ in generator("generator"):
        check("loop over a generator")
    list(generator("generator in list()"))
    closing = generator("generator")
    next(closing)
    for _ in range(2):
        next(closing)
    closing.close()
    thrown()
    dropped = generator("generator dropped")
    for _ in range(3):
        next(dropped)
    del dropped
    next(g for g in (check("generator expression") for _ in range(3)))
    asyncio.run(coroutine("coroutine"))
    sorted(map(lambda x: check("map in sorted") and x, range(5)), key=lambda x: check("key of sorted") or x)
    functools.reduce(lambda a, b: check("reduce"), range(4))
    list(filter(lambda x: check("filter"), range(3)))
    [check("list comprehension") for _ in range(3)]
    {check("dict comprehension"): 1 for _ in range(3)}
    exec("check('exec')\nclass A:\n check('class in exec')\n", {"check": check})
    eval("[check('eval') for _ in range(2)]", {"check": check})
    (lambda: check("lambda"))()
    functools.partial(check, "partial")()
    defaults(1, 2, 3, b=4, c=5)
    exceptions(3)
    thing = Everything()
    thing == 1
    sorted([thing, thing])
    getattr(thing, "missing", None)
    with thing:
        check("with")
        raise ValueError
    list(thing)
    thing[0]
    thing.prop
    thing.me = None
    del thing
    plain()
    holder()
    collect_cycles()
    strings()
    gil()
    other_thread()
    type("Made", (), {"__set_name__": None})
    __import__("string")


def main():
    sys.setrecursionlimit(20000)
    all_kinds()
    for n in (50, 200, 1000, 1990, 2046, 5000):
        deep(n)
    for n in (1, 3, 10, 60, 150):
        deep_through_c(n)
        wide(n)
        list(in_generators(n))
    wide(4000)
    for _ in range(3):
        threads = [threading.Thread(target=lambda: [all_kinds(), nested(900, check, "thread, nested")])
                   for _ in range(2)]
        for thread in threads:
            thread.start()
            thread.join()
    # the types' names instead of their addresses
    global lib
    lib = probe.load(sys.argv[1], types=False)
    all_kinds()
    assert not failed, failed
    print("%s: %d stacks of %d kinds are what the interpreter says" % (
        sys.version.split()[0], checks, len(kinds)))


main_thread_error = []


def run():
    try:
        main()
    except BaseException:
        import traceback
        main_thread_error.append(1)
        traceback.print_exc(limit=-12)


if len(sys.argv) > 2:
    lib.probe_fault(int(sys.argv[2]))
    try:
        nested(5, check, "nested")
        nested(6, check, "nested")
    except AssertionError as error:
        print("%s: seen: %s" % (sys.version.split()[0], error))
        sys.exit(3)
    sys.exit(0)
check("module")
threading.stack_size(512 << 20)
runner = threading.Thread(target=run)
runner.start()
runner.join()
sys.exit(1 if main_thread_error else 0)
