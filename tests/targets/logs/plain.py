# log: DEBUG root: lost
# log: WARNING root: seen 1
# log: INFO root: lost too
# log: ERROR a.b: seen ('x', {'k': [1]})
# log: CRITICAL a.b: 50%
import logging
import sys

log = logging.getLogger("a.b")
log.hasHandlers() or logging.getLogger().debug("lost")
logging.warning("seen %d", 1)
logging.info("lost too")
print(logging.root.handlers, logging.lastResort, log.hasHandlers(), log.handlers)
log.error("seen %s", ("x", {"k": [1]}))
log.critical("%(share)d%%", {"share": 50})
print(log.isEnabledFor(10), log.isEnabledFor(30), log.getEffectiveLevel(), sorted(log._cache))
