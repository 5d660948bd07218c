# log: DEBUG early: before
# log: INFO early: to stdout
# log: DEBUG early: still lost
# log: WARNING early: again
# log: ERROR other: disabled by the configuration
# log: INFO new: configured
import logging
import logging.config
import sys

log, other = logging.getLogger("early"), logging.getLogger("other")
log.debug("before")
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)s|%(name)s|%(message)s")
log.info("to stdout")
log.debug("still lost")
logging.basicConfig(level=logging.DEBUG)  # does nothing: there is a handler
logging.basicConfig(force=True, format="forced %(message)s")
log.warning("again")
logging.config.dictConfig(
    {
        "version": 1,
        "formatters": {"f": {"format": "dict %(message)s"}},
        "handlers": {"h": {"class": "logging.StreamHandler", "formatter": "f"}},
        "loggers": {"new": {"handlers": ["h"], "level": "INFO", "propagate": False}},
    }
)
other.error("disabled by the configuration")
logging.getLogger("new").info("configured")
print(other.disabled, log.disabled, logging.root.level, logging.root.handlers)
