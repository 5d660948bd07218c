"""Runs the programs of this folder that are named, each in a process of its own, one after the other."""

import atexit
import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))


def run(name):
    path = os.path.join(FOLDER, name + ".py")
    try:
        with open(path) as source:
            code = compile(source.read(), path, "exec")
        exec(code, {"__name__": "__main__", "__file__": path})
    except SystemExit as end:
        print("exit:", end.code)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


for each in sys.argv[1:]:
    print("==", each, flush=True)
    pid = os.fork()
    if pid == 0:
        run(each)
    os.waitpid(pid, 0)
