# log: INFO t: a <Loud>
# log: DEBUG t: <Loud>
# log: WARNING t: loud
# log: INFO t: 3.5 b'x' ValueError('a', 1) <Error>
# log: INFO t: <Number> is no number %d ('<Loud>',)
# log: INFO t: {'a': '<Loud>'} %s
import logging


class Loud:
    def __str__(self):
        print("str")
        return "loud"

    __repr__ = __str__

    def __int__(self):
        print("int")
        return 1


class Number(Loud):
    pass


class Error(Exception):
    def __str__(self):
        print("error's str")
        return "e"


log = logging.getLogger("t")
log.info("a %s", Loud())
log.debug(Loud())
log.warning("%s", Loud())
log.info("%s %s %r %s", 3.5, b"x", ValueError("a", 1), Error())
log.info("<Number> is no number %d", Loud())
log.info("%r %%s", {"a": Loud()}, extra={"b": Loud()})
