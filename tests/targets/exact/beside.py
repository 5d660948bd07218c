"""Other tools beside: cProfile, a tool of sys.monitoring, a profile function."""

import cProfile
import pstats
import sys


def leaf(x):
    return x + 1


def work():
    x = 0
    for _ in range(1000):
        x = leaf(x)


work()
profiler = cProfile.Profile()
profiler.enable()
work()
profiler.disable()
counts = {key[2]: value[1] for key, value in pstats.Stats(profiler).stats.items()}
print("cProfile", counts["leaf"])
if sys.version_info >= (3, 12):
    monitoring, seen = sys.monitoring, []
    for tool in (4, 3):
        monitoring.use_tool_id(tool, "mine")
        monitoring.register_callback(tool, monitoring.events.PY_START, lambda c, o: seen.append(c.co_name))
        monitoring.set_events(tool, monitoring.events.PY_START)
        work()
        monitoring.set_events(tool, 0)
        print("tool", tool, seen.count("leaf"), monitoring.get_tool(tool))
        del seen[:]
    monitoring.use_tool_id(5, "mine")  # ours goes elsewhere, and now there is none left
    work()
events = []
sys.setprofile(lambda frame, event, arg: events.append(event))
work()
sys.setprofile(None)
print("profile", events.count("call"), sys.getprofile())
