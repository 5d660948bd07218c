"""Generators left half-way, dropped, closed, collected, resumed by C and by others. Status 12."""
import collections
import gc
import itertools
import sys

from victim import Sum, rounds, seconds


def leaf_a(n):  # from: middle_a, drop_a
    for i in range(n):
        yield i


def middle_a(n):  # from: drop_a, middle_a
    yield from leaf_a(n)
    yield from leaf_a(n)


def drop_a():  # from: main
    total = 0
    for n in range(1, 60):
        gen = middle_a(n)
        for _ in range(n // 2 + 1):
            total += next(gen)
        del gen
    return total


def closing_b(log):  # from: drop_b
    try:
        while True:
            yield 1
    finally:
        note_b(log)


def note_b(log):  # from: closing_b
    log.append(1)


def drop_b():  # from: main
    log = []
    for _ in range(50):
        next(closing_b(log))
    return len(log)


def node_c(depth):  # from: node_c, tree_c
    if depth:
        yield from node_c(depth - 1)
        yield depth
        yield from node_c(depth - 1)


def tree_c():  # from: main
    whole = sum(node_c(6))
    part = sum(itertools.islice(node_c(12), 40))
    return whole, part


def cycle_d(box, log):  # from: drop_d
    try:
        yield box
        yield 2
    finally:
        log.append(1)


def drop_d():  # from: main
    """A generator in a cycle with its own argument: only the collector can end it."""
    log = []
    for _ in range(40):
        box = []
        gen = cycle_d(box, log)
        next(gen)
        box.append(gen)
    del gen, box
    gc.collect()
    return len(log)


def source_e():  # from: drain_e, <genexpr>
    n = 0
    while n < 40:
        n += 1
        yield n


def drain_e():  # from: main
    plain = sum(x * 2 for x in source_e())  # from: drain_e
    deep = sum(x for x in (y + 1 for y in source_e() if y % 2))  # from: drain_e, <genexpr>
    fixed = collections.deque(source_e(), maxlen=3)
    return plain, deep, list(fixed)


def ping_f():  # from: send_f, main
    got = 0
    while True:
        got = yield step_f(got)


def step_f(got):  # from: ping_f
    return (got or 0) + 1


def send_f():  # from: main
    gen = ping_f()
    value = next(gen)
    for _ in range(60):
        value = gen.send(value)
    return value


def passed_g(gen):  # from: pass_g, <genexpr>
    return next(gen) + again_g(gen)


def again_g(gen):  # from: passed_g
    return next(gen)


def count_g():  # from: passed_g, again_g, pass_g, main
    n = 0
    while True:
        n += 1
        yield n


def pass_g():  # from: main
    gen = count_g()
    return sum(passed_g(gen) for _ in range(30))  # from: pass_g


def main():  # from: <module>
    total = Sum()
    gc.disable()
    parts = [drop_a, drop_b, tree_c, drop_d, drain_e, send_f, pass_g]
    for _ in rounds(seconds()):
        for part in parts:
            total.add(part.__name__, part())
    print(total.line())
    return 12


if __name__ == "__main__":
    sys.exit(main())
