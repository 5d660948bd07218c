# log: WARNING filtered: dropped
# log: ERROR filtered: changed
# log: CRITICAL filtered: raises
import logging
import sys


def drop(record):
    print("asked", record.msg, sorted(record.__dict__))
    if record.levelno == logging.CRITICAL:
        raise ValueError("from the filter")
    record.msg = "changed" if record.levelno == logging.ERROR else record.msg
    return record.levelno != logging.WARNING


log = logging.getLogger("filtered")
log.addFilter(drop)
log.warning("dropped")
log.error("to be changed")
log.critical("raises")
