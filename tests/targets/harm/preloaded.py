"""Under a preload of its own: the variable, the library, and those of its children."""

import os
import subprocess
import sys
import threading

CHILD = "import os; print(os.environ['LD_PRELOAD'], open('/proc/self/maps').read().count('jemalloc') > 0)"


def work():
    kept = [bytearray(i * 100) for i in range(1000)]
    for _ in range(30):
        kept = [bytes(block[:50]) * 3 for block in kept]


print(sorted(os.environ), os.environ["LD_PRELOAD"])
with open("/proc/self/maps") as file:
    print("jemalloc" in file.read())
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(subprocess.run([sys.executable, "-c", CHILD], stdout=subprocess.PIPE).stdout)
pid = os.fork()
if pid == 0:
    work()
    os._exit(4)
print(os.waitpid(pid, 0)[1])
