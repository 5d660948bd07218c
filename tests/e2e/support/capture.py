"""A reader of captures written from doc/format.md, not from the tool's code.

So a test reads what a stranger with the document would read; and stacks are checked without
trusting the tool's own reader.
"""

import math
import re
import struct
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Dict, List, Tuple

FORMAT = Path(__file__).resolve().parents[3] / "doc" / "format.md"
MAGIC = b"FAHCAP\r\n"
HEAD = 16
RECORD = struct.Struct("<IIB")
META, STRING, FUNCTION, NODES, PROCESS, THREAD, SAMPLES, DROPS, THREAD_END, PROCESS_END, END = (
    range(1, 12)
)
WAITS, STATES, HEALTH, ITERATIONS = 12, 13, 14, 15
ALLOC, FREE, HEAP, COPY, BLOCKS, MEMORY_SEEN = 21, 22, 23, 24, 25, 26
MEMORY = ("python", "native", "mapped")
NODE_FACTOR = int(
    re.search(r"node id × (\d+) \+ 8 where flags follow", FORMAT.read_text(encoding="utf-8")).group(1)
)
TRUNCATED = 4  # flag of a sample: outer frames were left out
SYSTEM_PART = 128
WAIT_FACTOR = int(
    re.search(r"node id × (\d+) \+ reason", FORMAT.read_text(encoding="utf-8")).group(1)
)


class Damaged(Exception):
    pass


class Cursor:
    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def number(self) -> int:
        value = shift = 0
        while True:
            if self.at >= len(self.data) or shift > 63:
                raise Damaged("a number runs out of its record")
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    def signed(self) -> int:
        return _unzigzag(self.number())

    def byte(self) -> int:
        if not self.left:
            raise Damaged("a byte runs out of its record")
        self.at += 1
        return self.data[self.at - 1]

    def text(self) -> str:
        length = self.number()
        if self.at + length > len(self.data):
            raise Damaged("a string runs out of its record")
        self.at += length
        return self.data[self.at - length : self.at].decode("utf-8", "replace")

    @property
    def left(self) -> bool:
        return self.at < len(self.data)


@dataclass
class Function:
    file: str
    name: str
    qualname: str
    first_line: int
    kind: int = 0
    module: str = ""  # of a native function whose file is its source


@dataclass
class Process:
    pid: int
    ppid: int
    forked: int
    python: int
    command: List[str]
    samples: int = 0


@dataclass
class Histogram:
    sum: int
    max: int
    buckets: List[int]


@dataclass
class Health:
    handlers: Histogram
    gaps: Histogram
    intervals: int
    native_stops: List[int]
    told: int  # ns of CPU, to be told of calls


def bucket_from(bucket: int) -> int:
    """The shortest duration, in ns, that a bucket of a histogram counts."""
    octave, quarter = divmod(bucket - 1, 4)
    return (4 + quarter) * 2 ** (octave + 6) if bucket else 0


@dataclass
class Iterations:
    thread: int
    loop: int
    label: str
    first: int
    count: int
    time: int
    wall: int
    cpu: int
    squares: int


@dataclass
class Alloc:
    thread: int
    time: int
    block: int
    kind: str
    node: int
    bytes: int
    held: int
    most: int
    order: int = 1  # among those of one time


@dataclass
class Free:
    process: int
    time: int
    block: int
    held: int
    most: int
    ending: int
    order: int = 0


@dataclass
class Batch:
    """A BLOCKS record; its blocks are among the allocs and frees of the capture."""

    thread: int
    time: int
    age: int
    ending: int
    first: int
    held: int
    most: int
    length: int  # of its events, in bytes


@dataclass
class Heap:
    process: int
    time: int
    interval: int
    before: int
    python: int
    native: int
    most: int
    lost: int
    copied: int


@dataclass
class Seen:
    """Memory as the kernel counted it; None: not known. process 0: the machine."""

    process: int
    time: int
    resident: int = None
    swapped: int = None
    high: int = None
    total: int = None
    available: int = None
    used: int = None
    cache: int = None
    limit: int = None
    kills: int = None


@dataclass
class Capture:
    meta: Dict[str, str] = field(default_factory=dict)
    strings: List[str] = field(default_factory=lambda: [""])
    functions: List[Function] = field(default_factory=lambda: [None])
    nodes: List[Tuple[int, int, int]] = field(default_factory=lambda: [(0, 0, 0)])
    processes: List[Process] = field(default_factory=lambda: [None])
    threads: List[Tuple[int, int]] = field(default_factory=lambda: [(0, 0)])
    starts: List[int] = field(default_factory=lambda: [0])  # of threads, ns
    thread_names: List[str] = field(default_factory=lambda: [""])
    # (thread, time ns, CPU ns, flags, node)
    samples: List[Tuple[int, int, int, int, int]] = field(default_factory=list)
    systems: List[int] = field(default_factory=list)  # by sample: the kernel's part of its CPU, ns
    # (thread, end ns, length ns, waited ns, reason, node)
    waits: List[Tuple[int, int, int, int, int, int]] = field(default_factory=list)
    # by thread, the last: (time ns, CPU ns, ready ns)
    states: Dict[int, Tuple[int, int, int]] = field(default_factory=dict)
    drops: Dict[int, int] = field(default_factory=dict)  # by reason
    # (thread, time ns, reason, count, CPU ns)
    dropped_at: List[Tuple[int, int, int, int, int]] = field(default_factory=list)
    agent_drops: Dict[int, int] = field(default_factory=dict)
    agent_samples: int = 0
    reasons: List[str] = field(default_factory=list)  # why an agent refused, or stopped
    reason_of: Dict[int, str] = field(default_factory=dict)  # the same by process
    # by thread: (time ns, whole CPU ns), and (its own start ns, CPU ns before it); by process: (time ns, status)
    thread_ends: Dict[int, Tuple[int, int]] = field(default_factory=dict)
    thread_starts: Dict[int, Tuple[int, int]] = field(default_factory=dict)
    process_ends: Dict[int, Tuple[int, int]] = field(default_factory=dict)
    health: Dict[int, Health] = field(default_factory=dict)  # by process
    iterations: List["Iterations"] = field(default_factory=list)
    allocs: List["Alloc"] = field(default_factory=list)
    frees: List["Free"] = field(default_factory=list)
    heaps: List["Heap"] = field(default_factory=list)
    batches: List["Batch"] = field(default_factory=list)
    # (thread, time ns, node, bytes, interval)
    copies: List[Tuple[int, int, int, int, int]] = field(default_factory=list)
    seen: List["Seen"] = field(default_factory=list)
    wall_ns: int = 0
    wait_status: int = None
    lost_records: int = 0
    lost_bytes: int = 0
    complete: bool = False
    cut: int = 0  # bytes after the last whole record

    def path(self, node: int) -> List[Tuple[Function, int]]:
        """Innermost first: (function, line)."""
        out = []
        while node:
            parent, function, line = self.nodes[node]
            out.append((self.functions[function], line))
            node = parent
        return out

    def of_python(self) -> "Capture":
        """The same without native frames and the interpreter's own work."""
        nearest, nodes = [0], [(0, 0, 0)]  # by node: itself or the next Python frame outwards
        for node, (parent, function, line) in enumerate(self.nodes[1:], 1):
            nearest.append(nearest[parent] if self.functions[function].kind else node)
            nodes.append((nearest[parent], function, line))
        samples = [sample[:4] + (nearest[sample[4]],) for sample in self.samples]
        return replace(self, nodes=nodes, samples=samples)

    def dropped(self) -> int:
        """Either account may be behind where a process was killed; the larger is the honest one."""
        return max(sum(self.drops.values()), sum(self.agent_drops.values()))

    def drop_share(self) -> float:
        total = len(self.samples) + self.dropped()
        return self.dropped() / total if total else 0.0

    def drops_too_often(self, limit: float) -> bool:
        """More than that share, by more than chance makes of so few samples (three deviations)."""
        expected = limit * (len(self.samples) + self.dropped())
        return self.dropped() > expected + 3 * math.sqrt(expected)

    def names(self):
        return {function.name for function in self.functions[1:]}


def read(path: Path) -> Capture:
    return parse(Path(path).read_bytes())


def parse(data: bytes) -> Capture:
    if data[:8] != MAGIC or struct.unpack_from("<I", data, 8)[0] != 2:
        raise Damaged("not a capture of version 2")
    capture, at = Capture(), HEAD
    while at + RECORD.size <= len(data):
        length, crc, kind = RECORD.unpack_from(data, at)
        payload = data[at + RECORD.size : at + RECORD.size + length]
        if len(payload) < length or zlib.crc32(bytes([kind]) + payload) != crc:
            break
        DECODERS.get(kind, lambda capture, c: None)(capture, Cursor(payload))
        at += RECORD.size + length
    capture.cut = len(data) - at
    for thread, _, _, _, _ in capture.samples:
        capture.processes[capture.threads[thread][0]].samples += 1
    return capture


def _index(table, number: int, what: str) -> int:
    if not 0 <= number < len(table):
        raise Damaged("%s %d is used before it is defined" % (what, number))
    return number


def _meta(capture: Capture, c: Cursor):
    while c.left:
        key = c.text()
        capture.meta[key] = c.text()


def _string(capture: Capture, c: Cursor):
    capture.strings.append(c.text())


def _function(capture: Capture, c: Cursor):
    file, name, qualname = (
        capture.strings[_index(capture.strings, c.number(), "string")] for _ in range(3)
    )
    line, kind = c.number(), c.number()
    module = capture.strings[_index(capture.strings, c.number(), "string")] if c.left else ""
    capture.functions.append(Function(file, name, qualname, line, kind, module))


def _nodes(capture: Capture, c: Cursor):
    for _ in range(c.number()):
        own = len(capture.nodes)
        parent = own - c.number()
        if not 0 <= parent < own:
            raise Damaged("node %d has the parent %d" % (own, parent))
        function = _index(capture.functions, c.number(), "function")
        capture.nodes.append((parent, function, c.number()))


def _process(capture: Capture, c: Cursor):
    pid, ppid, forked, python, _start = (c.number() for _ in range(5))
    command = c.text().split("\0")
    capture.processes.append(Process(pid, ppid, forked, python, command))


def _thread(capture: Capture, c: Cursor):
    process = _index(capture.processes, c.number(), "process")
    capture.threads.append((process, c.number()))
    capture.starts.append(c.number())
    capture.thread_names.append(c.text())


def _samples(capture: Capture, c: Cursor):
    thread = _index(capture.threads, c.number(), "thread")
    count, time, usual = c.number(), c.number(), c.number()
    for _ in range(count):
        cpu = usual + c.signed()
        time += (cpu + c.signed()) * 1000
        number, short = divmod(c.number(), NODE_FACTOR)
        flags = c.number() if short & 8 else (short & 3) | (32 if short & 4 else 0)
        node = _index(capture.nodes, number, "node")
        capture.samples.append((thread, time, cpu * 1000, flags, node))
        capture.systems.append(c.number() * 1000 if flags & SYSTEM_PART else 0)


def _waits(capture: Capture, c: Cursor):
    thread = _index(capture.threads, c.number(), "thread")
    count, time = c.number(), c.number()
    for _ in range(count):
        time += c.number() * 1000
        length, other = c.number(), c.number()
        number, reason = divmod(c.number(), WAIT_FACTOR)
        node = _index(capture.nodes, number, "node")
        capture.waits.append((thread, time, length * 1000, (length - other) * 1000, reason, node))


def _states(capture: Capture, c: Cursor):
    thread = _index(capture.threads, c.number(), "thread")
    capture.states[thread] = (c.number(), c.number(), c.number())


def _drops(capture: Capture, c: Cursor):
    thread, time, reason, count, cpu = (c.number() for _ in range(5))
    capture.drops[reason] = capture.drops.get(reason, 0) + count
    capture.dropped_at.append((thread, time, reason, count, cpu))


def _thread_end(capture: Capture, c: Cursor):
    thread = _index(capture.threads, c.number(), "thread")
    assert thread not in capture.thread_ends, "a thread ends twice"
    capture.thread_ends[thread] = (c.number(), c.number())
    if c.left:
        capture.thread_starts[thread] = (c.number(), c.number())


def _process_end(capture: Capture, c: Cursor):
    numbers = [c.number() for _ in range(7)]
    capture.agent_samples += numbers[5]
    for reason in range(c.number()):
        capture.agent_drops[reason] = capture.agent_drops.get(reason, 0) + c.number()
    capture.process_ends[numbers[0]] = (numbers[1], c.number())
    reason = c.text()
    if reason:
        capture.reasons.append(reason)
        capture.reason_of[numbers[0]] = reason


def _histogram(c: Cursor) -> Histogram:
    total, longest = c.number(), c.number()
    return Histogram(total, longest, [c.number() for _ in range(c.number())])


def _health(capture: Capture, c: Cursor):
    process = _index(capture.processes, c.number(), "process")
    handlers, gaps = _histogram(c), _histogram(c)
    intervals = c.number()
    capture.health[process] = Health(
        handlers, gaps, intervals, [c.number() for _ in range(c.number())], c.number()
    )


def _iterations(capture: Capture, c: Cursor):
    thread = _index(capture.threads, c.number(), "thread")
    loop, label = c.number(), _index(capture.strings, c.number(), "string")
    first, count, time, wall, cpu, squares = (c.number() for _ in range(6))
    assert count >= 1 and (count > 1 or squares == 0)
    capture.iterations.append(
        Iterations(thread, loop, capture.strings[label], first, count, time, wall, cpu, squares)
    )


def _alloc(capture: Capture, c: Cursor):
    thread, time, block = _index(capture.threads, c.number(), "thread"), c.number(), c.number()
    kind, node = MEMORY[c.number()], _index(capture.nodes, c.number(), "node")
    capture.allocs.append(Alloc(thread, time, block, kind, node, *(c.number() for _ in range(3))))


def _free(capture: Capture, c: Cursor):
    process = _index(capture.processes, c.number(), "process")
    capture.frees.append(Free(process, *(c.number() for _ in range(5))))


def _heap(capture: Capture, c: Cursor):
    process = _index(capture.processes, c.number(), "process")
    capture.heaps.append(Heap(process, *(c.number() for _ in range(8))))


def _unzigzag(v: int) -> int:
    return (v >> 1) ^ -(v & 1)


def _blocks(capture: Capture, c: Cursor):
    thread = _index(capture.threads, c.number(), "thread")
    batch = Batch(thread, *(c.number() for _ in range(6)), length=0)
    sites = [_index(capture.nodes, c.number(), "node") for _ in range(c.number())]
    capture.batches.append(batch)
    process, time, held, most = capture.threads[thread][0], batch.time - batch.age, batch.held, batch.held
    number, shapes, sizes = batch.first, {}, capture.__dict__.setdefault("_sizes", {})
    batch.length = len(c.data) - c.at
    while c.left:
        v = c.number()
        order = len(capture.allocs) + len(capture.frees) + 2
        if v & 1:
            block = number - _unzigzag(v >> 1)
            held -= sizes.pop((process, block), 0)
            capture.frees.append(Free(process, time, block, held, most, 0, order))
        elif v == 6:
            time += c.number()
        elif v == 10:
            held += c.signed()
        else:
            assert v & 2 == 0 or v == 2
            place = c.byte() if v == 2 else v >> 2
            if v == 2:
                site, size = c.number(), c.number()
                shapes[place] = (MEMORY[size & 3], sites[site], size >> 2)
            kind, node, size = shapes[place]
            held += size
            most = max(most, held)
            sizes[process, number] = size
            capture.allocs.append(Alloc(thread, time, number, kind, node, size, held, most, order))
            number += 1
    assert time <= batch.time


def _copy(capture: Capture, c: Cursor):
    thread, time = _index(capture.threads, c.number(), "thread"), c.number()
    node = _index(capture.nodes, c.number(), "node")
    capture.copies.append((thread, time, node, c.number(), c.number()))


def _seen(capture: Capture, c: Cursor):
    process = _index(capture.processes, c.number(), "process")
    seen = Seen(process, c.number())
    of_process, of_machine = "resident swapped high", "total available used cache limit kills"
    for name in (of_process if process else of_machine).split():
        value = c.number()
        setattr(seen, name, value - 1 if value else None)
    capture.seen.append(seen)


def _end(capture: Capture, c: Cursor):
    capture.wall_ns, _user, _system, _rss, capture.wait_status = (c.number() for _ in range(5))
    capture.lost_records, capture.lost_bytes = c.number(), c.number()
    capture.complete = True


DECODERS = {
    META: _meta,
    STRING: _string,
    FUNCTION: _function,
    NODES: _nodes,
    PROCESS: _process,
    THREAD: _thread,
    SAMPLES: _samples,
    DROPS: _drops,
    THREAD_END: _thread_end,
    PROCESS_END: _process_end,
    END: _end,
    WAITS: _waits,
    STATES: _states,
    HEALTH: _health,
    ITERATIONS: _iterations,
    ALLOC: _alloc,
    FREE: _free,
    HEAP: _heap,
    COPY: _copy,
    BLOCKS: _blocks,
    MEMORY_SEEN: _seen,
}
