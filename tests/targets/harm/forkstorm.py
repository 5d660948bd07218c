"""forkstorm.py N: as many forks from four threads, then children and orphans at once, then spawns."""

import os
import subprocess
import sys
import threading

n, seen = int(sys.argv[1]), []


def child(work, status):
    pid = os.fork()
    if pid == 0:
        sum(range(work))
        os._exit(status)
    return pid


def many():
    for i in range(n // 4):
        seen.append(os.waitpid(child(5000, i % 7), 0)[1] >> 8)


threads = [threading.Thread(target=many) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(seen), sum(seen))
pids = []
for i in range(n // 2):
    pid = os.fork()
    if pid == 0:
        child(20000, 0)  # nobody waits for that one
        os._exit(i % 5)
    pids.append(pid)
print(sum(os.waitpid(pid, 0)[1] >> 8 for pid in pids))
spawned = [os.posix_spawn("/bin/false", ["false"], os.environ) for _ in range(n // 4)]
print(sum(os.waitpid(pid, 0)[1] >> 8 for pid in spawned))
print(sum(subprocess.call(["/bin/false"]) for _ in range(n // 4)))
