"""Ways for a program to end, or to use what a profiler uses too; each is one script."""

ENDINGS = {}


def ending(name, source):
    ENDINGS[name] = source.lstrip("\n")


ending("status 0", "pass\n")
ending("status 3", "raise SystemExit(3)\n")
ending("exception", "def f():\n    raise ValueError('x')\nf()\n")
ending("message", "import sys\nsys.exit('some words')\n")
ending("syntax error", "def f(:\n")
ending("null byte", "x = '\0'\n")
ending("_exit", "import os\nprint('flushed', flush=True)\nos._exit(4)\n")
ending("unflushed", "import sys\nsys.stdout.write('no newline')\nsys.stderr.write('none here')\n")
ending("atexit", "import atexit\natexit.register(print, 'at the end')\n")

for _name in ("KILL", "SEGV", "TERM", "INT", "HUP", "URG"):
    ending(
        "signal " + _name,
        "import os, signal, time\nos.kill(os.getpid(), signal.SIG%s)\ntime.sleep(0.2)\n" % _name,
    )
ending("abort", "import os\nos.abort()\n")
ending("fault", "import ctypes\nctypes.string_at(8)\n")
ending(
    "pipe",
    """
import os, signal
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
r, w = os.pipe()
os.close(r)
os.write(w, b"x")
""",
)
ending("streams closed", "import os\nfor fd in 0, 1, 2: os.close(fd)\n")
ending(
    "all closed",
    """
import os
os.closerange(0, 1024)
s = sum(i for i in range(10**6))
os._exit(12)
""",
)
ending(
    "thread at the end",
    """
import threading, time
def late():
    time.sleep(0.05)
    print("late")
threading.Thread(target=late).start()
""",
)
ending(
    "daemon at the end",
    """
import threading
def forever():
    while True: pass
threading.Thread(target=forever, daemon=True).start()
print("gone")
""",
)
ending(
    "exec",
    """
import os, sys
sys.stdout.flush()
code = "import os, sys; print(sys.argv, sorted(os.environ)); sys.exit(5)"
os.execv(sys.executable, [sys.executable, "-c", code, "x"])
""",
)
ending("exec of another", "import os\nos.execvp('sh', ['sh', '-c', 'echo shell; exit 6'])\n")
ending(
    "orphan",
    """
import os, time
if os.fork() == 0:
    time.sleep(0.1)
    print("the child", flush=True)
    os._exit(0)
print("the parent", flush=True)
raise SystemExit(2)
""",
)
ending("fork at the end", "import atexit, os\natexit.register(lambda: os.fork() or os._exit(0))\n")
ending(
    "files",
    """
import os
open("made", "w").write("text")
print(sorted(name for name in os.listdir(".") if name != "performance"))
""",
)
ending(
    "SIGURG ignored",
    """
import signal, subprocess
signal.signal(signal.SIGURG, signal.SIG_IGN)
print(signal.getsignal(signal.SIGURG))
s = sum(i for i in range(10**6))
print(subprocess.run(["grep", "SigIgn", "/proc/self/status"], stdout=subprocess.PIPE).stdout)
""",
)
ending(
    "SIGURG handled",
    """
import os, signal
def mine(number, frame):
    print("mine", number, flush=True)
print(signal.signal(signal.SIGURG, mine))
os.kill(os.getpid(), signal.SIGURG)
s = sum(i for i in range(10**6))
print(signal.signal(signal.SIGURG, signal.SIG_DFL) is mine)
os.kill(os.getpid(), signal.SIGURG)
print(signal.getsignal(signal.SIGURG))
""",
)
ending(
    "SIGURG waited for",
    """
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGURG})
os.kill(os.getpid(), signal.SIGURG)
info = signal.sigwaitinfo({signal.SIGURG})
print(info.si_signo, info.si_pid == os.getpid())
""",
)
ending(
    "all masked",
    """
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
s = sum(i for i in range(10**6))
print(sorted(map(int, signal.pthread_sigmask(signal.SIG_BLOCK, []))))
""",
)
ending(
    "few files",
    """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4))
resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
print(sum(i for i in range(10**6)))
""",
)
ending(
    "little memory",
    """
import resource
resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))
try:
    x = bytearray(1 << 30)
except MemoryError:
    print("none left")
""",
)
ending(
    "another folder",
    """
import os
os.chdir("/")
print(sum(i for i in range(10**6)), os.getcwd())
""",
)
ending(
    "another user",
    """
import os
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
print(sum(i for i in range(10**6)))
if os.fork() == 0:
    s = sum(i for i in range(10**6))
    os._exit(3)
print(os.wait()[1])
""",
)
ending(
    "environment cleared",
    """
import os, subprocess, sys
os.environ.clear()
print(sum(i for i in range(10**6)))
code = "import os; print(sorted(os.environ))"
print(subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE).stdout)
""",
)
