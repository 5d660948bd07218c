# log: WARNING a: by the last resort
# log: ERROR a: by nothing
# log: WARNING b: to nothing
import logging

logging.getLogger("a").warning("by the last %s", "resort")
logging.lastResort = None
logging.getLogger("a").error("by nothing")
quiet = logging.getLogger("b")
quiet.addHandler(logging.NullHandler())
quiet.propagate = False
quiet.warning("to nothing")
