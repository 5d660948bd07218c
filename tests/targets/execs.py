"""100 execs in a row, each exec'ing the next, and a chain of subprocesses. Ends with status 22.

  usage: execs.py SECONDS            the chain of os.execv, as often as there is time
         execs.py exec N             N more execs, then status 5
         execs.py run N              a subprocess that runs a subprocess ... N deep; prints the depth
"""
import os
import subprocess
import sys


def work(n):  # from: chain_exec, chain_run, main
    total = 0
    for i in range(n):
        total += step(i)
    return total


def step(i):  # from: work
    return i & 1


def again(*args):  # from: chain_exec, chain_run, main
    return [sys.executable, "-S", "-E", __file__] + [str(arg) for arg in args]  # from: again


def chain_exec(left):  # from: main
    work(1000)
    if left:
        command = again("exec", left - 1)
        os.execv(command[0], command)
    return 5


def chain_run(left):  # from: main
    work(1000)
    if left:
        return subprocess.run(again("run", left - 1)).returncode
    print("the end of the chain")
    return 7


def main():  # from: <module>
    if len(sys.argv) > 2:
        return {"exec": chain_exec, "run": chain_run}[sys.argv[1]](int(sys.argv[2]))
    from victim import rounds, seconds
    results = set()
    # A lone round is short: the chain's 100 starts take their 2 s themselves.
    for _ in rounds(seconds() - 2):
        results.add(subprocess.run(again("exec", int(min(100, 50 * seconds())) or 3)).returncode)
        work(5000)
    results.add(subprocess.run(again("run", 4), stdout=subprocess.DEVNULL).returncode)
    print("results %r" % sorted(results))
    return 22


if __name__ == "__main__":
    sys.exit(main())
