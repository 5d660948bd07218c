"""smallstack.py DEPTH [BYTES]: threads with the smallest stack there is, or one of BYTES, used up to that depth."""

import sys
import threading

from work import burn


def down(depth):
    return max(map(down, (depth - 1,))) if depth else burn(0.05) or 0


threading.stack_size(int(sys.argv[2]) if len(sys.argv) > 2 else 32768)
for _ in range(4):
    thread = threading.Thread(target=down, args=(int(sys.argv[1]),))
    thread.start()
    thread.join()
print("lives")
