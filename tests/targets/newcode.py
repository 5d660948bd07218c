"""Code objects made by exec and eval, freed at once, their addresses used again. Status 18.

The K-th piece of code has the file name <made-K> and functions outer_K -> middle_K -> inner_K: a
name or a line taken from a code object that is no longer there shows as a stack with two numbers.
"""
import gc
import sys

from victim import Sum, rounds, seconds

SOURCE = """\
def outer_{k}(n):
    total = 0
    for i in range(n):
        total += middle_{k}(i)
    return total


def middle_{k}(i):
    return inner_{k}(i) + inner_{k}(i + 1)


def inner_{k}(i):
    return i * 3 % 7
"""


def make(k):  # from: fresh_a
    space = {}
    exec(compile(SOURCE.format(k=k), "<made-%d>" % k, "exec"), space)
    return space["outer_%d" % k]


def call_made(function):  # from: fresh_a
    return function(40)


def fresh_a(k):  # from: main
    return call_made(make(k))


def fresh_b():  # from: main
    return sum(eval("(lambda x: x + %d)(%d)" % (i, i)) for i in range(40))  # from: fresh_b


def fresh_c():  # from: main
    """The same code object, a new function around it each time."""
    total = 0
    for i in range(60):
        def local_c(x, i=i):  # from: fresh_c
            return x + i
        total += local_c(i)
    return total


def fresh_d():  # from: main
    kind = type("Made", (), {"method": lambda self: 4})  # from: fresh_d
    return kind().method()


def one():  # from: fresh_e
    return 1


def two():  # from: fresh_e
    return 2


def fresh_e():  # from: main
    """A function's code replaced: the old one goes while the function stays."""
    def moving():  # from: fresh_e
        return 0
    out = [moving()]
    for other in (one, two):
        moving.__code__ = other.__code__
        out.append(moving())
    return out


def main():  # from: <module>
    total = Sum()
    made = 0
    for _ in rounds(seconds()):
        for _ in range(25):
            made += 1
            total.add("fresh_a", fresh_a(made))
        total.add("fresh_b", fresh_b())
        total.add("fresh_c", fresh_c())
        total.add("fresh_d", fresh_d())
        total.add("fresh_e", fresh_e())
        gc.collect(0)
    print(total.line())
    return 18


if __name__ == "__main__":
    sys.exit(main())
