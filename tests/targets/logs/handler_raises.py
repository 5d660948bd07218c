# log: WARNING h: what %d ('x',)
# log: ERROR h: broken
# log: ERROR h: at all
import logging


class Broken(logging.Handler):
    def emit(self, record):
        try:
            raise OSError("no disk")
        except OSError:
            self.handleError(record)


class Worse(logging.Handler):
    def emit(self, record):
        raise RuntimeError("not handled")


log = logging.getLogger("h")
log.warning("what %d", "x")  # the report of it shows the stack
log.addHandler(Broken())
log.error("broken")
log.addHandler(Worse())
log.error("at %s", "all")
