"""What views say of memory, on real recordings: one program, whose memory is known, in all of them."""

import json
import re

import pytest
from support import exports
from support.run import BINARY, profile, run

PROGRAM = """\
import time

kept = []


def lose():
    kept.append(bytearray(1_000_003))


def waste():
    return len(bytearray(30_000_001))


def table():
    return bytearray(50_000_017)


one = table()
for i in range(60):
    lose()
    waste()
    time.sleep(0.01)
"""
LOSES, WASTES, TABLE = 7, 11, 15  # lines
SIZES = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}
TOLERANCE = 0.02  # a block of twice the interval is missed in 14 % of cases, one of 100 never


def view(folder, *args):
    return run([str(BINARY)] + [str(arg) for arg in args], folder)


def record(python, folder):
    """One block in 10 kB: all of these are recorded, for a chance of exp(-100) each."""
    (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
    options = ("-q", "--memory", "--precision=10")
    result = profile(python, ["program.py"], folder, options=options)
    assert result.status == 0, result
    return result.folder


def heap_of(folder):
    result = view(folder, "summarize", folder, "--json")
    assert result.status == 0, result
    return json.loads(result.out)["heap"]


def lines_of(heap):
    return {line["line"]: line for line in heap["lines"] if line["file"].endswith("/program.py")}


@pytest.fixture(scope="module")
def recorded(program, system_python, tmp_path_factory):
    return record(system_python, tmp_path_factory.mktemp("memory"))


@pytest.fixture(scope="module")
def plain(program, system_python, tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    (folder / "program.py").write_text("sum(range(3000000))\n", encoding="utf-8")
    return profile(system_python, ["program.py"], folder).folder


@pytest.fixture(scope="module")
def heap(recorded):
    return heap_of(recorded)


@pytest.fixture(scope="module")
def lines(heap):
    return lines_of(heap)


def near(value, truth, tolerance=TOLERANCE):
    assert abs(value - truth) <= tolerance * truth, "%s is not %s" % (value, truth)


def check_lines(lines):
    near(lines[TABLE]["peak_bytes"], 50_000_017)
    near(lines[TABLE]["live_bytes"], 50_000_017)
    near(lines[LOSES]["peak_bytes"], 60 * 1_000_003)
    near(lines[LOSES]["at_peak_bytes"], 60 * 1_000_003)
    near(lines[WASTES]["peak_bytes"], 30_000_001)
    near(lines[WASTES]["allocated_bytes"], 60 * 30_000_001)
    near(lines[WASTES]["temporary_bytes"], 60 * 30_000_001)
    assert lines[WASTES]["live_bytes"] == 0
    assert lines[TABLE]["python_share"] > 0.99
    assert [number for number, line in lines.items() if "leak_likelihood" in line] == [LOSES]
    for line in lines.values():
        assert line["peak_interval"] < 0.05 * line["peak_bytes"] + 200_000


def test_lines(program, python, tmp_path):
    check_lines(lines_of(heap_of(record(python, tmp_path))))


def test_whole(heap, lines):
    """Counted, not sampled; and the lines add up to it."""
    known = heap["before_bytes"] + 50_000_017 + 60 * 1_000_003 + 30_000_001
    near(heap["max_bytes"], known)
    near(heap["end_bytes"], known - 30_000_001)
    assert abs(heap["unassigned_bytes"]) < 0.02 * heap["max_bytes"]
    assert max(heap["timeline"]) == heap["max_bytes"]
    near(max(lines[LOSES]["timeline"]), 60 * 1_000_003)


def test_leak(lines, recorded):
    assert lines[LOSES]["leak_likelihood"] > 0.9
    text = (recorded / "profile_results.txt").read_text(encoding="utf-8")
    assert "Possible memory leak identified at line %d (estimated likelihood" % LOSES in text
    assert text.count("Possible memory leak") == 1


def test_texts(recorded):
    table = (recorded / "profile_results.txt").read_text(encoding="utf-8")
    assert "Memory usage: " in table and "growth rate: " in table
    assert "│Memory │–––––– │" in table and "│Python │peak   │timeline/%" in table
    row = next(line for line in table.splitlines() if line.startswith("   %2d │" % TABLE))
    assert " 100% │   50M │" in row and row.endswith("    return bytearray(50_000_017)")
    assert "Top AVERAGE memory consumption, by line:\n(1)    15:    50 MB\n" in table
    assert "Top PEAK memory consumption, by line:\n(1)     7:    60 MB\n(2)    15:    50 MB\n" in table
    summary = (recorded / "profile_summary.txt").read_text(encoding="utf-8")
    assert " of heap RAM" in summary and "Max RSS Memory Usage: " in summary
    assert "Top 3 Functions by Memory Usage:" in summary
    assert "Heap and RSS: the process held " in summary
    annotated = view(recorded, "annotate", "--memory", recorded)
    assert annotated.status == 0 and "Possible memory leak" in annotated.out


@pytest.mark.parametrize("which, name, top, held", [
    ("peak", "at peak", [(LOSES, 60, "MB"), (TABLE, 50, "MB"), (WASTES, 30, "MB")],
     {LOSES: "60M", TABLE: "50M", WASTES: "30M"}),
    ("live", "live", [(LOSES, 60, "MB"), (TABLE, 50, "MB")], {LOSES: "60M", TABLE: "50M", WASTES: "0"}),
    ("temporary", "temporary", [(WASTES, 2, "GB")], {LOSES: "0", TABLE: "0", WASTES: "2G"}),
    ("total", "total", [(WASTES, 2, "GB"), (LOSES, 60, "MB"), (TABLE, 50, "MB")],
     {LOSES: "60M", TABLE: "50M", WASTES: "2G"}),
])
def test_annotate_by(recorded, which, name, top, held):
    """A column of it, and the lines in its order."""
    result = view(recorded, "annotate", "--memory=" + which, recorded)
    assert result.status == 0, result
    rows = [[cell.strip() for cell in line.split("│")] for line in result.out.splitlines() if "│" in line]
    column = next(row for row in rows if row[0] == "Line").index(name)
    cells = {row[0]: row[column] for row in rows}
    assert {line: cells[str(line)] for line in held} == held
    after = result.out.split("Top %s memory consumption, by line:\n" % which.upper())[1].splitlines()
    listed = [line.replace(":", " ").split()[1:] for line in after if line.startswith("(")]
    assert [(int(line), int(n), unit) for line, n, unit in listed] == top
    assert result.out.count("memory consumption, by line") == 1


@pytest.mark.parametrize(
    "which, by_line",
    (("peak", "at_peak_bytes"), ("live", "live_bytes"), ("temporary", "temporary_bytes"),
     ("total", "allocated_bytes")),
)
def test_stacks(recorded, heap, which, by_line):
    """The tree, and what is exported, have what lines have."""
    truth = sum(line[by_line] for line in heap["lines"]) + heap["no_python"][by_line]
    truth += heap["outside"][by_line]
    option = "--memory=" + which
    tree = json.loads(view(recorded, "tree", recorded, "--json", option).out)
    near(tree["whole_bytes"], truth, 1e-6)
    near(sum(tree["calls"][0]["total_bytes"].values()), truth, 1e-6)
    folded = view(recorded, "export", recorded, "-f", "folded", option).out
    near(sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()), truth, 1e-6)
    scope = json.loads(view(recorded, "export", recorded, "-f", "speedscope", option).out)
    assert {one["unit"] for one in scope["profiles"]} == {"bytes"}
    near(sum(sum(one["weights"]) for one in scope["profiles"]), truth, 1e-6)
    head, _, types = exports.pprof_head(view(recorded, "export", recorded, "-f", "pprof", option).stdout)
    assert types[-1] == ("space", "bytes")
    near(sum(sample.packed(2)[-1] for sample in head.messages(2)), truth, 1e-6)
    svg = view(recorded, "export", recorded, "-f", "svg", option).out
    number, unit = re.search(r"<title>all\n100.00%[^,]*, ([0-9.]+) ([kMG]?B);", svg).groups()
    near(float(number) * SIZES[unit], truth, 1e-3)


def test_record(program, recorded, lines, system_python, tmp_path):
    """`record` has what `profile` has of the same program, by chance and by every block."""
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    for options in (["--precision=10"], ["--exact"]):
        output = tmp_path / "record.fah"
        options = [*options, "-o", output, "--", system_python.path]
        result = view(tmp_path, "record", "--memory", *options, "program.py")
        assert result.status == 0, result
        shown = view(tmp_path, "summarize", output, "--json")
        assert shown.status == 0, shown
        every = lines_of(json.loads(shown.out)["heap"])
        for number in (LOSES, WASTES, TABLE):
            for key in ("peak_bytes", "live_bytes", "allocated_bytes", "at_peak_bytes"):
                near(every[number][key], lines[number][key])
        output.unlink()
    # --exact, to the byte: with what a bytearray has behind its bytes, and what `kept` itself took
    assert every[TABLE]["peak_bytes"] == every[TABLE]["live_bytes"]
    assert 50_000_017 <= every[TABLE]["peak_bytes"] < 50_000_017 + 200
    assert every[WASTES]["allocated_bytes"] < 60 * (30_000_001 + 200) and every[WASTES]["peak_interval"] == 0


@pytest.mark.parametrize("which, heading, first, truth", [
    ("", "Memory at the Run's Peak", "lose", 60 * 1_000_003),
    ("=peak", "Memory at the Run's Peak", "lose", 60 * 1_000_003),
    ("=live", "Memory Live at the End", "lose", 60 * 1_000_003),
    ("=temporary", "Temporary Memory", "waste", 60 * 30_000_001),
    ("=total", "Memory Asked For", "waste", 60 * 30_000_001),
])
def test_functions_by(recorded, which, heading, first, truth):
    result = view(recorded, "summarize", "--memory" + which, recorded)
    assert result.status == 0, result
    rows = result.out.split("Functions by %s:\n" % heading)[1].splitlines()[1:]
    name, number, unit = rows[0].split()[1:4]
    assert name == first, rows[0]
    near(float(number) * {"MB": 1e6, "GB": 1e9}[unit], truth, 0.12)  # 1.8 GB are shown as 2


def test_pictures(recorded):
    flame = view(recorded, "flame", recorded, "--memory")
    assert flame.status == 0 and "lose" in flame.out and "held at the run's peak" in flame.out
    svg = view(recorded, "flame", recorded, "--memory=live", "-o", "-")
    assert svg.status == 0 and "live at exit, by " in svg.out and " samples" not in svg.out


def test_refusals(recorded, plain):
    for command in ("tree", "flame", "annotate", "summarize"):
        result = view(plain, command, plain, "--memory")
        assert result.status == 2 and "has no record of memory: record it with --memory" in result.err
    result = view(plain, "export", plain, "--memory", "-f", "folded")
    assert result.status == 2 and "has no record of memory" in result.err
    result = view(recorded, "export", recorded, "--memory", "-f", "chrome")
    assert result.status == 2 and "chrome can't hold memory" in result.err
    for command in ("tree", "annotate"):
        result = view(recorded, command, recorded, "--memory=most")
        assert result.status == 2 and "peak, live, temporary or total" in result.err


def test_nothing_changes_without(plain):
    text = (plain / "profile_results.txt").read_text(encoding="utf-8")
    assert "emory" not in text
    assert "heap" not in json.loads(view(plain, "summarize", plain, "--json").out)
