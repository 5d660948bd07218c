"""All that a program can see of itself in /proc; what a profiler may add is printed on its own."""

import os
import resource
import sys
import threading

from work import burn

burn(0.2)
import decimal, sqlite3  # noqa: E401,F401,E402

burn(0.2)
print(sorted(os.listdir("/proc/self/fd"), key=int))
print(len(os.listdir("/proc/self/task")), threading.active_count(), len(threading.enumerate()))
with open("/proc/self/status") as file:
    status = dict(line.rstrip("\n").split(":", 1) for line in file)
caught = int(status["SigCgt"], 16) & ~(1 << 22)
print(caught, [status.get(key) for key in (
    "Name", "Umask", "Groups", "TracerPid", "Threads", "SigPnd", "ShdPnd", "SigBlk", "SigIgn",
    "CapEff", "NoNewPrivs", "Seccomp")])
for name in "limits", "cmdline", "comm", "oom_score_adj", "personality", "coredump_filter":
    with open("/proc/self/" + name, "rb") as file:
        print(file.read())
with open("/proc/self/mountinfo") as file:
    # without their numbers and devices, which are the next free ones of the whole machine
    print([line.split(None, 3)[3] for line in file])
with open("/proc/self/maps") as file:
    parts = [line.split(None, 5) for line in file]
files = {part[5].strip() for part in parts if len(part) > 5}
print(sorted(name for name in files if "fixingahole" not in name))
print([os.readlink("/proc/self/" + name) for name in ("exe", "cwd", "root")])
with open("/proc/self/statm") as file:
    pages = int(file.read().split()[0])
rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(sys.argv[1:], file=sys.stderr)
with open("measured", "w") as file:
    file.write("%d %d %d" % (pages * 4, rss, sum("fixingahole" in name for name in files)))
