# log: WARNING end: object 1
# log: DEBUG end: object 1
# log: WARNING root: last
import builtins
import logging
import sys
import warnings


class Last:
    """Says so when it goes, as long as there is something to say it with."""

    def __init__(self, number):
        self.number, self.log, self.warn = number, logging.getLogger("end"), warnings.warn

    def __del__(self, say=logging.warning):
        for attempt in (
            lambda: self.log.warning("object %d", self.number),
            lambda: self.log.debug("object %d", self.number),
            lambda: say("last"),
        ):
            try:
                attempt()
            except Exception as error:
                sys.stderr.write(repr(error) + "\n")


last = Last(1)
del last
# these go while the interpreter is taken apart, where it ends in order
logging.last, sys.last, builtins.last = Last(2), Last(3), Last(4)
logging.Logger.last, sys.modules["last"] = Last(5), Last(6)
cycle = Last(7)
cycle.cycle = cycle
