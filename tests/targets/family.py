"""Children by every way there is; each child works in a function of its own name.

usage: family.py [quick]            all of them; quick: without the work
       family.py burn NAME [quick]  one child's work
"""

import multiprocessing
import os
import subprocess
import sys
import time

QUICK = sys.argv[-1:] == ["quick"]
WORK = 0 if QUICK else 0.05  # CPU seconds


def burn():
    end = time.process_time() + WORK
    n = 0
    while time.process_time() < end:
        n = sum(range(200))
    return n


NAMES = [
    "fork",
    "fork_exec",
    "posix_spawn",
    "system",
    "popen",
    "shell",
    "run",
    "popen_env",
    "no_close",
    "exec",
    "pool_fork",
    "pool_spawn",
    "pool_forkserver",
    "grandchild",
]
for _name in NAMES:  # burn_fork, burn_system ...: the name tells whose work a sample is
    exec("def burn_%s():\n    return burn()\n" % _name)


def child(name):
    """A process's own start, so that CPU of the start counts not."""
    globals()["burn_" + name]()
    return name


def command(name):
    return [sys.executable, os.path.abspath(__file__), "burn", name] + ["quick"] * QUICK


def quoted(name):
    return " ".join("'%s'" % part for part in command(name))


def by_fork(name):
    pid = os.fork()
    if pid == 0:
        child(name)
        os._exit(7)
    return os.waitpid(pid, 0)[1]


def by_fork_exec(name):
    pid = os.fork()
    if pid == 0:
        os.execv(sys.executable, command(name))
    return os.waitpid(pid, 0)[1]


def by_exec(name):
    """execvpe with an environment of its own: the program's, and no more."""
    pid = os.fork()
    if pid == 0:
        os.execvpe(
            sys.executable, command(name), {"PATH": os.environ.get("PATH", ""), "ONLY": "this"}
        )
    return os.waitpid(pid, 0)[1]


def by_pool(name, method):
    context = multiprocessing.get_context(method)
    process = context.Process(target=child, args=(name,))
    process.start()
    process.join()
    return process.exitcode


def by_grandchild(name):
    """Python starts a shell, which starts Python: the shell is not Python, and passes it on."""
    return subprocess.run(
        ["sh", "-c", "true; %s; exit $?" % quoted(name)], stdout=subprocess.PIPE
    ).stdout


def main():
    results = [
        ("fork", by_fork("fork")),
        ("fork_exec", by_fork_exec("fork_exec")),
        (
            "posix_spawn",
            os.waitpid(os.posix_spawn(sys.executable, command("posix_spawn"), os.environ), 0)[1],
        ),
        ("system", os.system(quoted("system") + " >/dev/null")),
        ("popen", os.popen(quoted("popen")).read()),
        ("shell", subprocess.call(quoted("shell") + " >/dev/null", shell=True)),
        (
            "run",
            subprocess.run(command("run"), stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout,
        ),
        (
            "popen_env",
            subprocess.run(command("popen_env"), env={"A": "1"}, stdout=subprocess.PIPE).stdout,
        ),
        (
            "no_close",
            subprocess.run(command("no_close"), close_fds=False, stdout=subprocess.PIPE).stdout,
        ),
        ("exec", by_exec("exec")),
        ("pool_fork", by_pool("pool_fork", "fork")),
        ("pool_spawn", by_pool("pool_spawn", "spawn")),
        ("pool_forkserver", by_pool("pool_forkserver", "forkserver")),
        ("grandchild", by_grandchild("grandchild")),
    ]
    for name, result in results:
        print(name, result)


if __name__ == "__main__":
    if sys.argv[1:2] == ["burn"]:
        print("burnt", child(sys.argv[2]))
    else:
        main()
