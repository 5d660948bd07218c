"""Works in named phases and says so on stdout, for the tests that kill.

  usage: ticker.py PHASES SECONDS_A_PHASE [die]     die: by SIGKILL at the end, from its own hand
"""
import os
import signal
import sys
import time


def burn(seconds):
    end = time.process_time() + seconds
    n = 0
    while time.process_time() < end:
        n = sum(range(300))
    return n


def main(phases, seconds, die):
    for k in range(phases):
        space = {"burn": burn}
        exec("def phase_%d(seconds):\n    return burn(seconds)\n" % k, space)
        space["phase_%d" % k](seconds)
        print("phase %d done" % k, flush=True)
    print("all done", flush=True)
    if die:
        os.kill(os.getpid(), signal.SIGKILL)
    return 9


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:] == ["die"]))
