"""Waits of known length.
usage: waits.py kinds SECONDS KIND... | many SECONDS COUNT | turns SECONDS | gil SECONDS | lives SECONDS COUNT

kinds   a thread for each kind, which blocks SECONDS on the line that ends in "# here"
many    COUNT threads that compute 1 ms and sleep 20 ms in turns
idle    COUNT threads that only wait
turns   4 threads that sleep and read a pipe in turns, each for a moment
gil     4 threads that want the GIL all the time
lives   COUNT threads, one after the other, that compute for a third of SECONDS and sleep for the rest

Prints, as JSON, what each thread's own clocks say, in seconds: [[function, tid, wall, wall from when it was
asked for to when the kernel had it no more, CPU], ...]
"""

import asyncio
import json
import os
import queue
import select
import socket
import subprocess
import sys
import threading
import time

MODE, SECONDS, REST = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
CLOCKS = {}


def clocked(index, function, *arguments):
    wall, cpu = time.monotonic(), time.thread_time()
    function(*arguments)
    cpu, wall = time.thread_time() - cpu, time.monotonic() - wall
    CLOCKS[index] = [function.__name__, threading.get_native_id(), wall, 0, cpu]


def wake(action):
    """What ends a wait is done by a thread of its own."""
    time.sleep(SECONDS)
    action()


def later(action):
    threading.Thread(target=wake, args=(action,), daemon=True).start()


def wait_sleep():
    time.sleep(SECONDS)  # here


def wait_pieces():
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        time.sleep(0.005)  # here


def wait_lock(lock):
    lock.acquire()  # here


def wait_queue(things):
    things.get()  # here


def wait_socket(end):
    end.recv(1)  # here


def wait_pipe(fd):
    os.read(fd, 1)  # here


def wait_terminal(fd):
    os.read(fd, 1)  # here


def wait_child():
    subprocess.run(["/bin/sleep", str(SECONDS)])  # here


def wait_select(fd):
    select.select([fd], [], [])  # here


def wait_poll(poll):
    poll.poll()  # here


def wait_no_fds():
    select.select([], [], [], SECONDS)  # here


def wait_input():
    input()  # here


def wait_async_sleep():
    asyncio.run(asyncio.sleep(SECONDS))  # here


async def read_socket(end):
    await asyncio.get_running_loop().sock_recv(end, 1)


def wait_async_socket(end):
    asyncio.run(read_socket(end))  # here


def prepared(kind):
    """The arguments of that kind's function; whatever ends its wait is under way."""
    if kind == "lock":
        lock = threading.Lock()
        lock.acquire()
        later(lock.release)
        return [lock]
    if kind == "queue":
        things = queue.Queue()
        later(lambda: things.put(1))
        return [things]
    if kind in ("socket", "async_socket", "select"):
        ours, theirs = socket.socketpair()
        ours.setblocking(kind != "async_socket")
        later(lambda: theirs.send(b"x"))
        return [ours]
    if kind in ("pipe", "poll", "input"):
        ours, theirs = os.pipe()
        later(lambda: os.write(theirs, b"x\n"))
        if kind == "poll":
            poll = select.poll()
            poll.register(ours, select.POLLIN)
            return [poll]
        if kind == "input":
            os.dup2(ours, 0)
            return []
        return [ours]
    if kind == "terminal":
        theirs, ours = os.openpty()
        later(lambda: os.write(theirs, b"x\n"))
        return [ours]
    return []


def spin(until):
    while time.monotonic() < until:
        pass


def work(until):
    while time.monotonic() < until:
        spin(time.monotonic() + 0.001)
        time.sleep(0.02)


def idle(until):
    time.sleep(until - time.monotonic())


def nap():
    time.sleep(0.0001)


def sip(fd):
    os.read(fd, 1)


def turn(until):
    ours, theirs = os.pipe()
    while time.monotonic() < until:
        nap()
        writer = threading.Thread(target=give, args=(theirs,))
        writer.start()
        sip(ours)
        writer.join()


def life(seconds):
    end = time.thread_time() + seconds / 3
    while time.thread_time() < end:
        pass
    time.sleep(seconds * 2 / 3)


def give(fd):
    time.sleep(0.0001)
    os.write(fd, b"x")


def joined(index, thread, asked):
    thread.join()
    while os.path.exists("/proc/self/task/%d" % CLOCKS[index][1]):
        time.sleep(0.0005)
    CLOCKS[index][3] = time.monotonic() - asked


def main():
    until = time.monotonic() + SECONDS
    if MODE == "kinds":
        jobs = [(globals()["wait_" + kind], *prepared(kind)) for kind in REST]
    else:
        function = {"many": work, "idle": idle, "turns": turn, "gil": spin, "lives": life}[MODE]
        jobs = [(function, SECONDS if MODE == "lives" else until)] * (int(REST[0]) if REST else 4)
    threads, asked = [], []
    for index, job in enumerate(jobs):
        threads.append(threading.Thread(target=clocked, args=(index, *job)))
        asked.append(time.monotonic())
        threads[-1].start()
        if MODE == "lives":
            joined(index, threads[-1], asked[-1])
    for index, thread in enumerate(threads):
        if MODE != "lives":
            joined(index, thread, asked[index])
    print(json.dumps([CLOCKS[index] for index in range(len(jobs))]))


main()
