"""The tests' own judges can fail: wrong stacks, wrong lines, damaged captures are found."""

import struct
import zlib

import pytest
from support import capture, stacks
from support.run import TARGETS
from test_adversarial import VICTIMS

REENTER = str(TARGETS / "reenter.py")


def line_of(file, text):
    for number, line in enumerate(open(file), 1):
        if line.startswith(text):
            return number
    raise AssertionError("no %r in %s" % (text, file))


def made(frames, flags=0):
    """A capture with one sample; frames outermost first: (file, name, first line, line)."""
    it = capture.Capture()
    parent = 0
    for file, name, first, line in frames:
        it.functions.append(capture.Function(file, name, name, first))
        it.nodes.append((parent, len(it.functions) - 1, line))
        parent = len(it.nodes) - 1
    it.processes.append(capture.Process(1, 0, 0, 0, []))
    it.threads.append((1, 1))
    it.samples.append((1, 0, 0, flags, parent))
    return it


def frame(name, offset=0, file=REENTER):
    if name == "<module>":
        return file, name, 1, 1
    first = line_of(file, "def %s(" % name)
    return file, name, first, first + offset


GOOD = [
    frame("<module>"),
    frame("main", 2),
    frame("sort_b", 1),
    frame("key_b", 1),
    frame("half_b", 1),
]


def test_a_right_stack_passes():
    assert stacks.impossible(made(GOOD)) == []


@pytest.mark.parametrize(
    "wrong, says",
    [
        (GOOD[:3] + [frame("key_a", 1)], "key_a called by sort_b"),
        (GOOD[:2] + [frame("half_b", 1)], "half_b called by main"),
        (GOOD[1:], "main outermost"),
        (GOOD[:4] + [frame("half_b", 500)], "half_b: line"),
        (GOOD[:4] + [(REENTER, "half_b", 1, 1)], "no function half_b at line 1"),
        (GOOD[:4] + [(REENTER, "no_such", 3, 3)], "no function no_such"),
        (
            [("/usr/lib/python3.11/threading.py", "run", 900, 901)],
            "run (/usr/lib/python3.11/threading.py) outermost",
        ),
        (
            [
                frame("<module>"),
                frame("main", 2),
                ("<made-3>", "outer_3", 1, 2),
                ("<made-3>", "inner_3", 9, 9),
            ],
            "outer_3 called by main",
        ),
        (
            [
                ("<made-3>", "<module>", 1, 1),
                ("<made-3>", "outer_3", 1, 2),
                ("<made-4>", "middle_4", 8, 8),
            ],
            "middle_4 of <made-4> called by outer_3 of <made-3>",
        ),
        ([("<made-3>", "<module>", 1, 1), ("<made-3>", "outer_4", 1, 2)], "outer_4 in <made-3>"),
    ],
)
def test_a_wrong_stack_is_found(wrong, says):
    found = stacks.impossible(made(wrong))
    assert len(found) == 1 and says in found[0], found


def test_a_library_function_may_be_outermost_at_the_end_only():
    it = made(GOOD)
    it.functions.append(capture.Function("/usr/lib/python3.11/x.py", "closing", "closing", 1))
    it.nodes.append((0, len(it.functions) - 1, 1))
    it.samples.append((1, 10, 0, 0, len(it.nodes) - 1))
    assert stacks.impossible(it) == []
    it.samples.append((1, 20, 0, 0, len(it.nodes) - 2))
    assert len(stacks.impossible(it)) == 1


def test_a_truncated_stack_may_begin_anywhere_but_must_go_on_right():
    assert stacks.impossible(made(GOOD[2:], capture.TRUNCATED)) == []
    assert stacks.impossible(made([GOOD[2], frame("half_b", 1)], capture.TRUNCATED)) != []


@pytest.mark.parametrize("name", sorted(VICTIMS) + ["victim"])
def test_every_function_of_a_victim_says_who_calls_it(name):
    rules = stacks.rules_of(str(TARGETS / (name + ".py")))
    assert rules.callers and rules.unannotated() == []


def test_the_reader_reads_the_golden_file_as_the_document_explains_it():
    it = capture.read(capture.FORMAT.parents[1] / "tests" / "golden" / "v2.fah")
    assert it.complete and it.cut == 0
    assert it.meta["command"] == "python3 advanced.py --size 3"
    first = [(cpu, flags & 31, node) for thread, _, cpu, flags, node in it.samples if thread == 1]
    assert first[:3] == [(3998000, 0, 2), (4000000, 1, 3), (0, 6, 4)]


def record(kind, payload):
    return struct.pack("<IIB", len(payload), zlib.crc32(bytes([kind]) + payload), kind) + payload


def test_the_reader_stops_at_damage_and_says_how_much_is_cut():
    head = capture.MAGIC + struct.pack("<II", 2, 0)
    whole = record(capture.STRING, b"\x03abc")
    broken = bytearray(record(capture.STRING, b"\x03def"))
    broken[-1] ^= 1
    it = capture.parse(head + whole + bytes(broken))
    assert it.strings == ["", "abc"] and it.cut == len(broken) and not it.complete
    assert capture.parse(head + whole + whole[:-1]).cut == len(whole) - 1
    with pytest.raises(capture.Damaged):
        capture.parse(b"not a capture at all")
    with pytest.raises(capture.Damaged):
        capture.parse(head + record(capture.FUNCTION, b"\x09\x00\x00\x01\x00"))
