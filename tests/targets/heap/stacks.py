"""Asks for blocks in every kind of stack, each of another size, and says which lines stood in each.

The last line printed is JSON: {size: [[file name, line], ...]}, innermost first.
"""

import itertools
import json
import sys
import threading

try:
    import ctypes

    malloc = ctypes.CDLL(None).malloc
except ImportError:  # a Python without it
    malloc = None

FIRST = 100003  # more than anything else asks for, and each size once
sizes = itertools.count(FIRST)
expected = {}
kept = []


def stack(frame):
    lines = []
    while frame:
        lines.append([frame.f_code.co_filename.rsplit("/", 1)[-1], frame.f_lineno])
        frame = frame.f_back
    return lines


def note():
    """The caller's stack is the next size's."""
    size = next(sizes)
    expected[size] = stack(sys._getframe(1))
    return size


def leaf():
    kept.append(bytes(note()))


def other_caller_line():
    # the same frame at the same address, each time from another line
    for _ in range(3):
        leaf()
        leaf()
        leaf(); leaf()


def plain(size):
    return bytes(size)


def nothing_in_between():
    # only the caller's line tells these apart: not a block more is asked for meanwhile
    one, two, three = next(sizes), next(sizes), next(sizes)
    here, inside = stack(sys._getframe()), plain.__code__.co_firstlineno + 1
    for i, size in enumerate((one, two, three)):
        expected[size] = [["stacks.py", inside], ["stacks.py", here[0][1] + 3 + i]] + here[1:]
    a = plain(one)
    b = plain(two)
    c = plain(three)
    kept.extend([a, b, c])


def by_c(size):
    malloc(size)


def without_gil():
    # ctypes lets it go: by size below 0, since those blocks are malloc's own
    sizes_here = [next(sizes) for _ in range(6)]
    here, inside = stack(sys._getframe()), by_c.__code__.co_firstlineno + 1
    for i, size in enumerate(sizes_here):
        expected[-size] = [["stacks.py", inside], ["stacks.py", here[0][1] + 4 + i // 2]] + here[1:]
    a, b, c, d, e, f = sizes_here
    by_c(a); by_c(b)
    by_c(c); by_c(d)
    by_c(e); by_c(f)


def recursion(n):
    kept.append(bytes(note()))
    if n:
        recursion(n - 1)
    kept.append(bytes(note()))


def generator(n):
    for _ in range(n):
        kept.append(bytes(note()))
        yield
    yield from inner_generator()


def inner_generator():
    kept.append(bytes(note()))
    yield
    leaf()


def generators():
    a, b = generator(2), generator(3)
    for _ in a:
        leaf()
        next(b)
    for _ in b:
        leaf()


async def coroutine(n):
    kept.append(bytes(note()))
    if n:
        await coroutine(n - 1)
    leaf()


def coroutines():
    c = coroutine(3)
    try:
        c.send(None)
    except StopIteration:
        leaf()


def from_c(key):
    kept.append(bytes(note()))
    return key


class Special:
    def __init__(self):
        kept.append(bytes(note()))

    def __eq__(self, other):
        leaf()
        return self is other

    __hash__ = object.__hash__

    def __del__(self):
        kept.append(bytes(note()))

    def __getattr__(self, name):
        leaf()
        return name


def through_c():
    sorted([2, 1, 3], key=from_c)
    list(map(lambda x: from_c(x), range(3)))
    max(range(2), key=lambda x: sorted([x], key=from_c))
    one, two = Special(), Special()
    [one].count(two)
    one.missing
    del one
    two = None


def made_code():
    # freed and made anew: often at the same address, with another file and other lines
    for i in range(20):
        text = "\n" * (i % 7) + "kept.append(bytes(note()))"
        exec(compile(text, "made%d.py" % i, "exec"))
        scope = dict(globals())
        exec(compile(text.replace("kept", "def f(): kept") + "\nf()", "function%d.py" % i, "exec"), scope)
        del scope


def raises(n):
    try:
        if n:
            raises(n - 1)
        raise ValueError(note())  # not asked for
    except ValueError as e:
        kept.append(bytes(e.args[0] * 0 + note()))
    finally:
        leaf()


class Outer:
    class Inner:
        kept.append(bytes(note()))


def everything():
    other_caller_line()
    nothing_in_between()
    if malloc:
        without_gil()
    recursion(30)
    generators()
    coroutines()
    through_c()
    made_code()
    raises(3)
    [leaf() for _ in range(3)]
    {leaf(): leaf() for _ in range(2)}
    list(leaf() for _ in range(3))
    (lambda: leaf())()


def main():
    for _ in range(3):
        everything()
        leaf()
    threads = [threading.Thread(target=everything) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    recursion(150)


main()
print(json.dumps(expected))
