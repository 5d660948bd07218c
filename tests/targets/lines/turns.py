"""Loops on one line: a line's hits are what a trace function hears of it.  usage: turns.py [trace]"""

import json
import sys


def turns(n):
    s = 0
    for i in range(n): s += i
    while s > 10: s -= 1000
    x = [i for i in range(n)]
    y = {i: [k for k in range(3)] for i in range(5)}; z = sum(i for i in range(n))
    for i in range(3):
        for k in range(4): s += k
    while True:
        s += 1
        if s > 5: break
    try: s = [1 / (i - 3) for i in range(9)]
    except ZeroDivisionError: s = 0
    for i in range(2):
        s += (i
              + 1)
    return s, x, y, z


if sys.argv[1:] == ["trace"]:
    hits = {}

    def hear(frame, what, arg):
        if what == "line":
            hits[frame.f_lineno] = hits.get(frame.f_lineno, 0) + 1
        return hear

    sys.settrace(lambda frame, what, arg: hear if frame.f_code is turns.__code__ else None)
    turns(100)
    sys.settrace(None)
    print(json.dumps(hits))
else:
    turns(100)
