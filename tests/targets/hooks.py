"""Python called by the interpreter itself: trace, profile, audit, monitoring, import hooks. Status 24."""
import builtins
import sys
import threading
import warnings

from victim import Sum, rounds, seconds


def work_a(n):  # from: traced_a, profiled_b, monitored_c, audited_d, in_thread_f
    return sum(map(square, range(n)))


def square(x):  # from: work_a
    return x * x


def tracer(frame, event, arg):  # from: any
    """Called for lines, calls and returns; the traced frame is its caller."""
    count(event)
    return tracer


def count(event):  # from: tracer, profiler, on_start
    SEEN.add(event)


SEEN = set()


def traced_a():  # from: main
    sys.settrace(tracer)
    value = work_a(30)
    sys.settrace(None)
    return value


def profiler(frame, event, arg):  # from: any
    count(event)


def profiled_b():  # from: main
    sys.setprofile(profiler)
    value = work_a(60)
    sys.setprofile(None)
    return value


def on_start(code, offset):  # from: any
    count("start")


def monitored_c():  # from: main
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is None:
        return work_a(60)
    monitoring.use_tool_id(3, "victim")
    monitoring.register_callback(3, monitoring.events.PY_START, on_start)
    monitoring.set_events(3, monitoring.events.PY_START)
    value = work_a(60)
    monitoring.set_events(3, 0)
    monitoring.register_callback(3, monitoring.events.PY_START, None)
    monitoring.free_tool_id(3)
    return value


def auditor(event, args):  # from: any
    """Never taken out again: every audited call from here on passes through Python."""
    AUDITED[0] += event == "victim.event"


AUDITED = [0]


def audited_d():  # from: main
    before = AUDITED[0]
    for _ in range(50):
        sys.audit("victim.event", 1)
    return AUDITED[0] - before, work_a(20)


def importing(name, *args, **kwargs):  # from: any
    return ORIGINAL(name, *args, **kwargs)


ORIGINAL = builtins.__import__


def imported_e():  # from: main
    builtins.__import__ = importing
    try:
        for _ in range(40):
            import json
        return json.__name__
    finally:
        builtins.__import__ = ORIGINAL


def in_thread_f():  # from: run@threading.py
    work_a(50)


def threaded_f():  # from: main
    threading.setprofile(profiler)
    thread = threading.Thread(target=in_thread_f)
    thread.start()
    thread.join()
    threading.setprofile(None)


def shown(*args):  # from: any
    SEEN.add("warning")


def warned_g():  # from: main
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = shown
        for _ in range(5):
            warnings.warn("x")


def main():  # from: <module>
    total = Sum()
    sys.addaudithook(auditor)
    for _ in rounds(seconds()):
        for part in (traced_a, profiled_b, monitored_c, audited_d, imported_e):
            total.add(part.__name__, part())
        threaded_f()
        warned_g()
    total.add("seen", sorted(SEEN))
    print(total.line())
    return 24


if __name__ == "__main__":
    sys.exit(main())
