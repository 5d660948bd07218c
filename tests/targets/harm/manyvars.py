"""manyvars.py N: children with N variables, by every way, started from a thread of 32 kB."""

import os
import subprocess
import sys
import threading

env = {"V%d" % i: "x" for i in range(int(sys.argv[1]))}


def start():
    count = "import os; print(sum(name[0] == 'V' for name in os.environ))"
    print(subprocess.run(["/bin/true"], env=env).returncode)
    print(os.waitpid(os.posix_spawn("/bin/true", ["true"], env), 0)[1])
    print(os.waitpid(os.posix_spawnp("true", ["true"], env), 0)[1])
    sys.stdout.flush()
    print(subprocess.run([sys.executable, "-SEc", count], env=env).returncode)


threading.stack_size(32768)
for _ in range(3):
    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
