"""A program's own SIGURG actions, set from Python and from C: flags, masks and what they interrupt.

Prints what it saw; a profiled run prints the same. Between the questions it computes, so that the
profiler's own signals come in between.
"""

import ctypes
import errno
import os
import signal
import socket
import sys
import threading
import time

LIBC = ctypes.CDLL(None, use_errno=True)
SA_SIGINFO, SA_ONSTACK, SA_RESTART, SA_NODEFER, SA_RESETHAND = (
    4,
    0x08000000,
    0x10000000,
    0x40000000,
    0x80000000,
)
URG = signal.SIGURG
QUICK = "quick" in sys.argv[1:]
POLLS = "no-poll" not in sys.argv[1:]
HANDLER = ctypes.CFUNCTYPE(None, ctypes.c_int)
INFO_HANDLER = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


class Action(ctypes.Structure):
    _fields_ = [
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_ulong * 16),
        ("flags", ctypes.c_uint),
        ("restorer", ctypes.c_void_p),
    ]


class Stack(ctypes.Structure):
    _fields_ = [("sp", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t)]


def bits(*signals):
    return sum(1 << (number - 1) for number in signals)


def burn():
    """A few of the profiler's periods; `quick`, for who only wants to know what is printed: none."""
    return sum(i & 3 for i in range(100 if QUICK else 150000))


def set_action(handler, flags=0, mask=0):
    action = Action(flags=flags)
    action.handler = handler if isinstance(handler, int) else ctypes.cast(handler, ctypes.c_void_p).value
    action.mask[0] = mask
    assert LIBC.sigaction(URG, ctypes.byref(action), None) == 0
    return action


def get_action():
    action = Action()
    assert LIBC.sigaction(URG, None, ctypes.byref(action)) == 0
    return action


def describe(action, known):
    """Addresses by name; the restorer only as being there or not."""
    return (
        known.get(action.handler, action.handler),
        hex(action.flags),
        hex(action.mask[0]),
        bool(action.restorer),
    )


def blocked_now():
    """This thread's mask, by the kernel's word."""
    with open("/proc/thread-self/status") as status:
        for line in status:
            if line.startswith("SigBlk"):
                return int(line.split()[1], 16)


def on_other_stack():
    stack = Stack()
    LIBC.sigaltstack(None, ctypes.byref(stack))
    return bool(stack.flags & 1)  # SS_ONSTACK


def tell_actions():
    seen = []

    def plain(number):
        seen.append((number, hex(blocked_now()), on_other_stack()))

    def info(number, _info, _context):
        seen.append((number, hex(blocked_now()), on_other_stack()))

    c_plain, c_info = HANDLER(plain), INFO_HANDLER(info)
    known = {
        ctypes.cast(c_plain, ctypes.c_void_p).value: "plain",
        ctypes.cast(c_info, ctypes.c_void_p).value: "info",
        None: "default",
    }
    room = ctypes.create_string_buffer(1 << 20)
    stack = Stack(ctypes.addressof(room), 0, len(room))
    print("at first", describe(get_action(), known))
    LIBC.sigaltstack(ctypes.byref(stack), None)
    for name, handler, flags, mask in (
        ("nothing", c_plain, 0, 0),
        ("restart", c_plain, SA_RESTART, 0),
        ("mask", c_plain, 0, bits(signal.SIGUSR1, signal.SIGUSR2, signal.SIGKILL)),
        ("nodefer", c_plain, SA_NODEFER, bits(signal.SIGHUP)),
        ("onstack", c_plain, SA_ONSTACK, 0),
        ("info", c_info, SA_SIGINFO | SA_RESTART, 0),
        ("once", c_plain, SA_RESETHAND, 0),
        ("once, info", c_info, SA_RESETHAND | SA_SIGINFO | SA_NODEFER, 0),
        ("ignored", 1, 0, 0),
        ("default", 0, SA_RESTART, 0),
    ):
        set_action(handler, flags, mask)
        burn()
        print(name, describe(get_action(), known))
        for _ in range(2):
            os.kill(os.getpid(), URG)
            burn()
        print(name, "seen", seen, describe(get_action(), known))
        del seen[:]
    stack.flags = 2  # SS_DISABLE
    LIBC.sigaltstack(ctypes.byref(stack), None)


def tell_libc_forms():
    known = {None: "default"}
    handler = HANDLER(lambda number: None)
    known[ctypes.cast(handler, ctypes.c_void_p).value] = "handler"
    sysv = LIBC["__sysv_signal"]
    LIBC.signal.restype = sysv.restype = ctypes.c_void_p
    LIBC.signal.argtypes = sysv.argtypes = [ctypes.c_int, ctypes.c_void_p]
    address = ctypes.cast(handler, ctypes.c_void_p)
    print("signal", known[LIBC.signal(URG, address)], describe(get_action(), known))
    print("siginterrupt", LIBC.siginterrupt(URG, 1), describe(get_action(), known))
    print("signal", known[LIBC.signal(URG, address)], describe(get_action(), known))
    print("siginterrupt", LIBC.siginterrupt(URG, 0), describe(get_action(), known))
    print("sysv", known[sysv(URG, address)], describe(get_action(), known))
    print("sysv", known[sysv(URG, None)], describe(get_action(), known))


def sender(tid, stop):
    while not stop.is_set():
        time.sleep(0.01)
        LIBC.syscall(234, os.getpid(), tid, int(URG))  # tgkill


def interrupted(what, call, flags):
    """Whether a call in C that would wait for good ends with EINTR, or goes on until it is fed."""
    count = [0]

    def on_urgent(number):
        count[0] += 1
        if flags & SA_RESTART and count[0] == 5:
            os.write(FEED[1], b"x")

    handler = HANDLER(on_urgent)
    set_action(handler, flags)
    stop = threading.Event()
    thread = threading.Thread(target=sender, args=(threading.get_native_id(), stop))
    thread.start()
    ctypes.set_errno(0)
    result = call()
    number = ctypes.get_errno() if result < 0 else 0
    set_action(0)
    stop.set()
    thread.join()
    print(what, hex(flags), result, errno.errorcode.get(number, number), count[0] >= 1)


FEED = os.pipe()


def tell_interruptions():
    one = ctypes.create_string_buffer(1)
    for flags in (0, SA_RESTART, SA_NODEFER):
        interrupted("read", lambda: LIBC.read(FEED[0], one, 1), flags)
    pair = socket.socketpair()
    interrupted("recv", lambda: LIBC.recv(pair[0].fileno(), one, 1, 0), 0)
    word = ctypes.c_int(0)
    LIBC.syscall.restype = ctypes.c_long
    interrupted("futex", lambda: LIBC.syscall(202, ctypes.byref(word), 0, 0, None), 0)
    pid = os.fork()
    if pid == 0:
        time.sleep(60)
        os._exit(0)
    interrupted("wait4", lambda: LIBC.waitpid(pid, None, 0), 0)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    if POLLS:
        interrupted("poll", lambda: LIBC.poll(None, 0, -1), SA_NODEFER)
    for end in pair:
        end.close()


def tell_python():
    """Python's handlers interrupt a wait and may raise out of it; urgent data sends the signal."""

    class Out(Exception):
        pass

    def on_urgent(number, frame):
        raise Out

    signal.signal(URG, on_urgent)
    lock = threading.Lock()
    lock.acquire()
    stop = threading.Event()
    for name, call in (
        ("lock", lock.acquire),
        ("read", lambda: os.read(FEED[0], 1)),
        ("sleep", lambda: time.sleep(100)),
    ):
        stop.clear()
        thread = threading.Thread(target=sender, args=(threading.main_thread().native_id, stop))
        try:
            thread.start()
            call()
            print(name, "came back")
        except Out:
            stop.set()
            signal.signal(URG, signal.SIG_IGN)
            print(name, "left")
        thread.join()
        signal.signal(URG, on_urgent)
    count = []
    signal.signal(URG, lambda number, frame: count.append(number))
    import fcntl

    server = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(server.getsockname())
    accepted, _ = server.accept()
    fcntl.fcntl(accepted.fileno(), fcntl.F_SETOWN, os.getpid())
    client.send(b"!", socket.MSG_OOB)
    end = time.monotonic() + 20
    while not count and time.monotonic() < end:
        time.sleep(0.001)
    burn()
    print("urgent data", count == [URG], accepted.recv(1, socket.MSG_OOB))
    signal.signal(URG, signal.SIG_DFL)


def tell_changes():
    """Actions that change while signals come: each handler is called only in its own form."""
    wrong = []
    count = [0]

    def plain(number):
        count[0] += 1
        if blocked_now() & bits(signal.SIGUSR1):
            wrong.append("plain with the other's mask")

    def info(number, _info, context):
        count[0] += 1
        if not _info or not context or not blocked_now() & bits(signal.SIGUSR1):
            wrong.append("info without its own")

    c_plain, c_info = HANDLER(plain), INFO_HANDLER(info)
    stop = threading.Event()

    def change():
        while not stop.is_set():
            set_action(c_plain, SA_RESTART, 0)
            set_action(c_info, SA_SIGINFO | SA_RESTART, bits(signal.SIGUSR1))

    set_action(c_plain, SA_RESTART, 0)
    threads = [threading.Thread(target=change) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(3000):
        LIBC["raise"](int(URG))
    stop.set()
    for thread in threads:
        thread.join()
    set_action(0)
    print("changes", count[0] == 3000, sorted(set(wrong)))


if __name__ == "__main__":
    tell_actions()
    tell_libc_forms()
    tell_interruptions()
    tell_python()
    tell_changes()
    sys.stdout.flush()
