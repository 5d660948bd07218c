"""Cycles, finalisers, weak references and collections within collections. Ends with status 17."""
import gc
import sys
import weakref

from victim import Sum, rounds, seconds

LOG = []
ALIVE = []


class Plain:  # from: <module>
    def __init__(self, other=None):  # from: cycles_a, <listcomp>
        self.other = other
        self.me = self


class Final:  # from: <module>
    def __init__(self):  # from: finalisers_b
        self.me = self

    def __del__(self):  # from: any
        note_b(self)


def note_b(it):  # from: __del__
    LOG.append(1)


class Nested:  # from: <module>
    def __init__(self, depth):  # from: nested_c, __del__
        self.me = self
        self.depth = depth

    def __del__(self):  # from: any
        if self.depth:
            Nested(self.depth - 1)
            gc.collect(0)
        LOG.append(2)


class Phoenix:  # from: <module>
    def __init__(self):  # from: phoenix_d
        self.me = self

    def __del__(self):  # from: any
        ALIVE.append(self)


def cycles_a():  # from: main
    for _ in range(20):
        chain = Plain()
        for _ in range(30):
            chain = Plain(chain)
    return len([Plain() for _ in range(50)])  # from: cycles_a


def finalisers_b():  # from: main
    for _ in range(40):
        Final()
    gc.collect()


def nested_c():  # from: main
    for _ in range(10):
        Nested(3)
    for _ in range(6):
        gc.collect()


def phoenix_d():  # from: main
    for _ in range(10):
        Phoenix()
    gc.collect()
    n = len(ALIVE)
    for it in ALIVE:
        it.me = None
    del ALIVE[:]
    gc.collect()
    return n


def gone_e(ref):  # from: any
    LOG.append(3)


def weak_e():  # from: main
    refs = []
    for _ in range(30):
        it = Plain.__new__(Plain)
        it.me = it
        refs.append(weakref.ref(it, gone_e))
    del it
    gc.collect()
    return sum(ref() is None for ref in refs)  # from: weak_e


def started(phase, info):  # from: any
    """gc.callbacks: Python called by the collector itself, before and after it moves things."""
    if phase == "start":
        count_f(info)


def count_f(info):  # from: started
    return info["generation"]


def main():  # from: <module>
    total = Sum()
    gc.set_threshold(25, 3, 3)
    gc.callbacks.append(started)
    for _ in rounds(seconds()):
        del LOG[:]
        total.add("cycles_a", cycles_a())
        finalisers_b()
        total.add("finalisers_b", LOG.count(1))
        nested_c()
        total.add("nested_c", LOG.count(2))
        total.add("phoenix_d", phoenix_d())
        total.add("weak_e", weak_e())
        total.add("gone_e", LOG.count(3))
    gc.callbacks.remove(started)
    print(total.line())
    return 17


if __name__ == "__main__":
    sys.exit(main())
