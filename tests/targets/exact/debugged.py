"""Debuggers in the program: bdb with all its backends says what it is told, and pdb is led through a script."""

import bdb
import pdb
import io
import sys


def leaf(x):
    y = x + 1
    return y


def work(n):
    total = 0
    for i in range(n):
        total += leaf(i)
    return total


class Stepping(bdb.Bdb):
    def __init__(self, **options):
        super().__init__(**options)
        self.seen = []

    def user_call(self, frame, arguments):
        self.seen.append(("call", frame.f_code.co_name))
        self.set_step()

    def user_line(self, frame):
        self.seen.append((frame.f_code.co_name, frame.f_lineno))
        self.set_step()

    def user_return(self, frame, value):
        self.seen.append(("return", value))
        self.set_step()


work(10)
backends = [{"backend": "settrace"}, {"backend": "monitoring"}] if sys.version_info >= (3, 14) else [{}]
for backend in backends:
    debugger = Stepping(**backend)
    debugger.runcall(work, 3)
    print(backend, debugger.seen)
    work(10)
said = io.StringIO()
debugger = pdb.Pdb(stdin=io.StringIO("b leaf\nc\np x\nc\np x\nw\nn\nn\nn\nl\ncl 1\nc\n"), stdout=said, nosigint=True, readrc=False)
debugger.runcall(work, 5)
print(said.getvalue())
work(20)
