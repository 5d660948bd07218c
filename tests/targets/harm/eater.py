"""Works, then takes memory until it is killed."""

from work import burn


def before():
    burn(0.5)


def eat(kept):
    while True:
        kept.append(bytearray(b"x") * (1 << 20))


before()
eat([])
