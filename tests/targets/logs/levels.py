# log: TRACE own: traced
# log: TRACE own: traced too
# log: Level 33 own: no name
# log: ERROR own: disabled
# log: CRITICAL own: all disabled
# log: WARNING own: adapted
# log: INFO own: not adapted
import logging

logging.addLevelName(15, "TRACE")


class Logger(logging.Logger):
    def trace(self, msg, *args, **kwargs):
        if self.isEnabledFor(15):
            self._log(15, msg, args, **kwargs)

    def isEnabledFor(self, level):
        asked.append(level)
        return super().isEnabledFor(level)

    def makeRecord(self, *args, **kwargs):
        print("made")
        return super().makeRecord(*args, **kwargs)

    def _log(self, level, msg, args, **kwargs):
        print("logged")
        super()._log(level, msg, args, **kwargs)


class Adapter(logging.LoggerAdapter):
    def process(self, msg, kwargs):
        print("processed")
        return "adapted", kwargs


asked = []
logging.setLoggerClass(Logger)
log = logging.getLogger("own")
log.trace("the program asks first, and makes no record")
log.log(15, "traced")
log.setLevel(1)
log.trace("traced too")
log.log(33, "no name")
log.setLevel(logging.WARNING)
log.disabled = True
log.error("disabled")
log.disabled = False
logging.disable(logging.CRITICAL)
log.critical("all disabled")
logging.disable(logging.NOTSET)
Adapter(log, {}).warning("x")
Adapter(log, {}).info("not adapted")
print(asked)
