# log: WARNING w: seen by a tracer
# log: DEBUG w: not printed
import logging
import sys

log = logging.getLogger("w")
seen = []


def tracer(frame, event, arg):
    seen.append((event, frame.f_code.co_name, frame.f_lineno))
    return tracer


def profiler(frame, event, arg):
    seen.append((event, frame.f_code.co_name, getattr(arg, "__name__", None)))


sys.setprofile(profiler)
sys.settrace(tracer)
log.warning("seen by a tracer")
log.debug("not printed")
sys.settrace(None)
sys.setprofile(None)
for line in seen:
    print(*line)
