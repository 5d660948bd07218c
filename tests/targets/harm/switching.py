"""The GIL changes hands as often as it can."""

import sys
import threading

sys.setswitchinterval(1e-6)
counts = [0] * 8


def work(i):
    for _ in range(50000):
        counts[i] += 1
        sum(range(10))


threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(counts, sys.getswitchinterval())
