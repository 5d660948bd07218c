"""powers.py HOW [FOLDER]: gives up its user, its root or its dumps half-way; then all that it can do."""

import ctypes
import json  # noqa: F401  (what is needed later is loaded before the root goes)
import os
import signal
import subprocess
import sys
import threading

from work import burn


def user():
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)


def root():
    os.chroot(sys.argv[2])
    os.chdir("/")


def dumps():
    libc = ctypes.CDLL(None)
    print(libc.prctl(4, 0, 0, 0, 0), libc.prctl(1, signal.SIGTERM, 0, 0, 0))
    print(libc.prctl(3, 0, 0, 0, 0))


def command(*args):
    try:
        return subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except OSError as err:
        return err.errno


burn(0.05)
globals()[sys.argv[1]]()
burn(0.1)
# Alone first: 3.8 aborts where a thread ends without libgcc_s, and says so once for each that ends just then.
alone = threading.Thread(target=burn, args=(0.02,))
alone.start()
alone.join()
threads = [threading.Thread(target=burn, args=(0.02,)) for _ in range(20)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
pid = os.fork()
if pid == 0:
    burn(0.1)
    os._exit(3)
print(os.waitpid(pid, 0)[1])
print(command(sys.executable, "-c", "print(sum(range(10**6)))"))
print(command("/bin/sh", "-c", "id -u; env | sort | grep -v ^_"))
print(os.system("true"))
sys.stdout.flush()
try:
    os.execv(sys.executable, [sys.executable, "-c", "print('last', sum(range(10**7)))"])
except OSError as err:
    print(err.errno)
