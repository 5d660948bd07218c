"""Deep stacks: across data-stack chunks, through C at each level. Ends with status 14."""
import sys

from victim import Sum, rounds, seconds


def down_a(n):  # from: plain_a, down_a
    return n and 1 + down_a(n - 1)


def plain_a():  # from: main
    return down_a(900)


def even_b(n):  # from: mutual_b, odd_b
    return True if n == 0 else odd_b(n - 1)


def odd_b(n):  # from: even_b
    return False if n == 0 else even_b(n - 1)


def mutual_b():  # from: main
    return even_b(700), even_b(451)


def wide_c(n, a=0, b=0, c=0, d=0, e=0, f=0, g=0, h=0):  # from: wide_c, chunk_c, <listcomp>
    """Many locals: few of these fill a chunk of the data stack, so calls cross its edge often."""
    p, q, r, s, t, u, v, w = a, b, c, d, e, f, g, h
    if n == 0:
        return p + q + r + s + t + u + v + w
    return wide_c(n - 1, h, a, b, c, d, e, f, g + 1)


def chunk_c():  # from: main
    return [wide_c(n) for n in range(60, 180, 7)]  # from: chunk_c


def key_d(x):  # from: mixed_d
    return -x


def mixed_d(n):  # from: <lambda>, through_c
    """An evaluation loop within an evaluation loop at each level."""
    if n == 0:
        return 0
    return 1 + sum(sorted(map(lambda x: mixed_d(x), (n - 1,)), key=key_d))  # from: mixed_d


def through_c():  # from: main
    return mixed_d(60)


def gen_f(n):  # from: gen_f, chain_f
    yield n
    if n:
        yield from gen_f(n - 1)


def chain_f():  # from: main
    return sum(gen_f(120))


def main():  # from: <module>
    total = Sum()
    for _ in rounds(seconds()):
        for part in (plain_a, mutual_b, chunk_c, through_c, chain_f):
            total.add(part.__name__, part())
    print(total.line())
    return 14


if __name__ == "__main__":
    sys.exit(main())
