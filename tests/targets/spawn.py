"""Starts a command by every way Python has and prints what it said, exactly.

usage: spawn.py COMMAND [ARG]...            each way in turn
       spawn.py --chroot ROOT COMMAND ...   in a child that has changed its root
"""

import os
import subprocess
import sys
import tempfile


def said(way, run):
    """Runs it with its stdout and stderr in files: some ways cannot do otherwise."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            try:
                status = run()
            except OSError as error:
                status = 100 + error.errno % 100
            os._exit(status & 0xFF)
        status = os.waitpid(pid, 0)[1]
        out.seek(0)
        err.seek(0)
        print(way, status, out.read(), err.read())


def ways(command):
    path, env = command[0], dict(os.environ, GIVEN="yes")
    yield "run", lambda: subprocess.run(command).returncode
    yield "run env", lambda: subprocess.run(command, env={"ONLY": "this"}).returncode
    yield "run empty env", lambda: subprocess.run(command, env={}).returncode
    yield "no close_fds", lambda: subprocess.run(command, close_fds=False).returncode
    yield "shell", lambda: subprocess.call(" ".join("'%s'" % part for part in command), shell=True)
    yield "system", lambda: os.system(" ".join("'%s'" % part for part in command)) >> 8
    yield "popen", lambda: print(
        os.popen(" ".join("'%s'" % part for part in command)).read(), flush=True
    ) or 0
    yield "posix_spawn", lambda: os.waitpid(os.posix_spawn(path, command, env), 0)[1] >> 8
    yield "posix_spawnp", lambda: os.waitpid(os.posix_spawnp(path, command, env), 0)[1] >> 8
    yield "spawnv", lambda: os.spawnv(os.P_WAIT, path, command)
    yield "spawnve", lambda: os.spawnve(os.P_WAIT, path, command, env)
    yield "execv", lambda: os.execv(path, command)
    yield "execve", lambda: os.execve(path, command, env)
    yield "execvp", lambda: os.execvp(path, command)
    if os.execve in os.supports_fd:
        yield "fexecve", lambda: os.execve(os.open(path, os.O_RDONLY), command, env)
    yield "env", lambda: subprocess.run(["env", "VIA=env"] + command).returncode
    yield "nice", lambda: subprocess.run(["nice", "-n", "1"] + command).returncode
    yield "sh exec", lambda: subprocess.run(["sh", "-c", 'exec "$0" "$@"'] + command).returncode


def in_root(root, command):
    os.chroot(root)
    os.chdir("/")
    return os.execv(command[0], command)


def main(args):
    if args[0] == "--chroot":
        said("chroot, execv", lambda: in_root(args[1], args[2:]))
        said(
            "chroot, run",
            lambda: subprocess.run(args[2:], preexec_fn=lambda: os.chroot(args[1])).returncode,
        )
        said("chroot program", lambda: subprocess.run(["chroot", args[1]] + args[2:]).returncode)
        return
    for way, run in ways(args):
        said(way, run)


if __name__ == "__main__":
    main(sys.argv[1:])
