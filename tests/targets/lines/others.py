"""Beside tools of its own: what a program's tracer, profiler and monitor see, is what it prints."""

import cProfile
import sys
import threading

seen = []


def tracer(frame, event, arg):
    if frame.f_code.co_name == "work":
        seen.append((event, frame.f_lineno - frame.f_code.co_firstlineno))
    return tracer


def work(n):
    for i in range(n):
        n += i
    return n


print(sys.gettrace(), sys.getprofile(), threading.excepthook is not None)
work(3)
profiler = cProfile.Profile()
profiler.enable()
work(3)
profiler.disable()
print([entry.callcount for entry in profiler.getstats() if "work" in str(entry.code)])
if "trace" in sys.argv:
    sys.settrace(tracer)
    work(2)
    sys.settrace(None)
    print(seen)
if hasattr(sys, "monitoring"):
    tools = [i for i in range(6) if sys.monitoring.get_tool(i)]
    print(len(tools) < 2, [i for i in tools if i < 5])
    sys.monitoring.use_tool_id(2, "mine")
    started = []
    sys.monitoring.register_callback(2, 1, lambda code, offset: started.append(code.co_name))
    sys.monitoring.set_events(2, 1)
    work(2)
    sys.monitoring.set_events(2, 0)
    sys.monitoring.free_tool_id(2)
    print(started.count("work"))
work(5)
open(__file__).close()
work(7)
