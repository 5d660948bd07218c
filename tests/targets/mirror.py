"""Prints what a program can see of how it was started; the same with and without the profiler."""
import gc
import os
import signal
import stat
import sys
import threading


def describe_fd(fd):
    """The kind only: two runs have different pipes."""
    try:
        info = os.fstat(fd)
    except OSError:
        return "gone"  # the folder that is being listed
    flags = "" if os.get_inheritable(fd) else " cloexec"
    return "%s%s" % (stat.filemode(info.st_mode)[0], flags)


def status_field(name):
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith(name + ":"):
                return int(line.split()[1], 16)


def show(name, value):
    print("%s: %r" % (name, value))


URGENT = 1 << (signal.SIGURG - 1)  # the profiler's signal: its handler is there, and is documented

show("collector", (gc.isenabled(), gc.get_threshold()))
show("argv", sys.argv)
show("orig_argv", getattr(sys, "orig_argv", None))
show("executable", sys.executable)
show("prefix", sys.prefix)
show("path", sys.path)
show("name", __name__)
show("file", globals().get("__file__"))
show("package", globals().get("__package__"))
show("flags", sys.flags)
show("warnoptions", sys.warnoptions)
show("cwd", os.getcwd())
show("environ", sorted(os.environ.items()))
show("environb PWD", os.environb.get(b"PWD"))
show("fds", {fd: describe_fd(fd) for fd in sorted(map(int, os.listdir("/proc/self/fd")))})
show("umask", os.umask(0o22))
show("handlers", [(int(s), str(signal.getsignal(s))) for s in sorted(signal.valid_signals())])
show("mask", sorted(map(int, signal.pthread_sigmask(signal.SIG_BLOCK, []))))
show("pending", sorted(map(int, signal.sigpending())))
show("SigIgn", status_field("SigIgn"))
show("SigCgt", status_field("SigCgt") & ~URGENT)
show("itimers", [signal.getitimer(t) for t in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL,
                                               signal.ITIMER_PROF)])
show("threads", [thread.name for thread in threading.enumerate()])
show("tasks", len(os.listdir("/proc/self/task")))
show("comm", open("/proc/self/comm").read())
show("cmdline", open("/proc/self/cmdline").read())
show("trace", (sys.gettrace(), sys.getprofile()))
show("recursion", sys.getrecursionlimit())
show("switch", sys.getswitchinterval())
show("modules", sorted(name for name in sys.modules if "fixing" in name.lower()))
show("ids", (os.getuid(), os.geteuid(), os.getgid(), os.getegid(), os.getgroups()))
show("nice", os.nice(0))
show("tty", [os.isatty(fd) for fd in range(3)])
show("stdin", sys.stdin.read() if not os.isatty(0) else None)
sys.stdout.flush()
sys.stderr.write("the program's own words\n")
sys.exit(3)
