# log: ERROR e: failed
# log: INFO e: failed quietly
# log: WARNING e: given
# log: WARNING e: with a stack
import logging

logging.basicConfig(format="%(levelname)s %(filename)s:%(lineno)d %(funcName)s %(message)s")
log = logging.getLogger("e")


def inner(level):
    log.warning("given", stacklevel=level, exc_info=KeyError("key"))


def outer():
    inner(2)


try:
    {}["missing"]
except KeyError:
    log.exception("failed")
    log.info("failed quietly", exc_info=True)
outer()
log.warning("with a stack", stack_info=True)
raise SystemExit("as always")
