"""What `profile` writes and prints: form, honesty, width, colour, alphabet."""

import os
import re

import pytest
from support import capture, report
from support.run import BINARY, TARGETS, capture_of, plain, profile, run, run_folder

BURN = """\
import time


def three():
    end, n = time.process_time() + 0.9, 0
    while time.process_time() < end:
        n += sum(range(100))
    return n


def one():
    end, n = time.process_time() + 0.3, 0
    while time.process_time() < end:
        n += sum(range(100))
    return n


class Worker:
    def method(self):
        end, n = time.process_time() + 0.3, 0
        while time.process_time() < end:
            n += sum(range(100))
        return n


for function in three, one, Worker().method:
    begun = time.monotonic()
    function()
    with open("walls", "a") as walls:
        print(time.monotonic() - begun, file=walls)
"""


def written(result, name):
    path = result.folder / name
    assert path.is_file(), os.listdir(str(result.folder))
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def burnt(program, system_python, tmp_path_factory):
    folder = tmp_path_factory.mktemp("burnt")
    (folder / "burn.py").write_text(BURN)
    return profile(system_python, ["burn.py"], folder, options=[])


def test_the_run_folder(burnt):
    assert re.match(r"\d{8}_\d{6}$", burnt.folder.name)
    assert burnt.folder.parent.name == "burn"
    assert {path.name for path in burnt.folder.iterdir()} == {
        "burn.py",
        "profile.fah",
        "profile_results.txt",
        "profile_summary.txt",
    }
    assert written(burnt, "burn.py") == BURN
    # UTC, now
    import datetime

    when = datetime.datetime.strptime(burnt.folder.name, "%Y%m%d_%H%M%S")
    assert abs((datetime.datetime.utcnow() - when).total_seconds()) < 600


def test_the_summary_is_printed_and_kept(burnt):
    kept = written(burnt, "profile_summary.txt")
    assert burnt.status == 0 and burnt.stderr == b"", burnt
    assert (
        kept.splitlines()[0].startswith("fixingahole profile ")
        and "burn.py" in kept.splitlines()[0]
    )
    for part in (
        r"^Finished in [\d.]+ seconds using [\d.]+ (k|M|G)?B of RAM",
        r"^Max RSS Memory Usage: [\d.]+ [kMG]?B",
        r"^Total Wall Time: [\d.]+ seconds",
        r"^Profile Summary$",
        r"^={20,}",
        r"^-{20,}",
        r"^Top \d+ Functions by Total Runtime:",
        r"^Functions by Module:",
    ):
        assert re.search(part, kept, re.M), "no %r in\n%s" % (part, kept)
        assert re.search(part, burnt.out, re.M), "not printed: %r\n%s" % (part, burnt.out)
    assert 1.4 < report.seconds(kept, "Total Wall Time") < 30


def test_shares(burnt):
    """Of each other, by the program's own wall clock: what other tests leave of the cores is not spread
    evenly. Roughly: test_truth.py, which runs alone, holds them to 2 points."""
    top = report.top(written(burnt, "profile_summary.txt"))
    walls = map(float, (burnt.folder.parents[2] / "walls").read_text().split())
    truth = dict(zip(("three", "one", "Worker.method"), walls))
    assert set(truth) <= set(top), sorted(top)
    shown = sum(top[name].share for name in truth)
    for name, seconds in truth.items():
        line = BURN[: BURN.index("def " + name.split(".")[-1])].count("\n") + 1
        true = 100 * seconds / sum(truth.values())
        assert abs(100 * top[name].share / shown - true) < 10, (name, top, truth)
        assert (os.path.basename(top[name].file), top[name].line) == ("burn.py", line)


def test_last_lines_say_how_sure_it_is(burnt):
    end = "\n".join(written(burnt, "profile_summary.txt").strip().splitlines()[-12:])
    for word in ("clock", "asked 250 hz", "reached", "samples", "drop", "±"):
        assert word in end.lower(), "no %r in the last lines:\n%s" % (word, end)
    it = capture.read(capture_of(burnt))
    counted = int(report.COUNTED.search(end).group(1).replace(",", ""))
    assert counted == len(it.samples), end


def test_the_line_table(burnt):
    text = written(burnt, "profile_results.txt")
    assert re.search(r"burn\.py: % of time = +[\d.]+% \([\d.]+ ?s\) out of [\d.]+ ?s", text), text
    for word in ("Line", "Time", "Python", "native", "system"):
        assert word in text
    rows = report.rows(text)
    assert {row.line for row in rows} >= {6, 7, 13, 14}, text
    assert all(row.source.strip() == BURN.splitlines()[row.line - 1].strip() for row in rows), rows
    assert re.search(r"^ *\.\.\. ", text, re.M)
    assert "Function summaries:" in text
    assert re.search(r"three \(line 4\): [\d.]+% Python", text), text
    whole = float(re.search(r"% of time = +([\d.]+)%", text).group(1))
    total = sum(row.total for row in rows)
    assert abs(total - whole) < 5, "the lines sum to %.1f %% of %.1f\n%s" % (total, whole, text)


def test_module_level_code_counts(program, python, tmp_path):
    (tmp_path / "flat.py").write_text(
        "import time\nend = time.process_time() + 0.5\nn = 0\n"
        "while time.process_time() < end:\n    n += sum(range(50))\n"
    )
    result = profile(python, ["flat.py"], tmp_path, options=[])
    assert result.status == 0 and "<module>" in result.out, result
    rows = [
        row for row in report.rows(written(result, "profile_results.txt")) if row.line in (4, 5)
    ]
    text = written(result, "profile_results.txt")
    whole = float(re.search(r"% of time = +([\d.]+)%", text).group(1))
    assert {row.line for row in rows} == {4, 5}, text
    assert sum(row.total for row in rows) > 0.8 * whole, text
    # 0.5 s of CPU, and what a busy machine let it wait for a core
    spent = float(re.search(r"% of time = +[\d.]+% \(([\d.]+)s\)", text).group(1))
    assert spent > 0.45, text


def test_native_and_system_are_told_apart(program, python, tmp_path):
    """By construction: Python bytecode, C code called from Python, the kernel."""
    (tmp_path / "three.py").write_text(
        "import os, time\n"
        "def in_python():\n"
        "    end = time.thread_time() + 0.5\n"
        "    while time.thread_time() < end:\n"
        "        for i in range(2000): i + i; i * i; i - i\n"
        "def in_native():\n"
        "    data = [(k * 7919) % 10007 for k in range(20000)]\n"
        "    end = time.thread_time() + 0.5\n"
        "    while time.thread_time() < end:\n"
        "        sorted(data)\n"
        "def in_system():\n"
        "    file = os.open('/dev/zero', os.O_RDONLY)\n"
        "    end = time.thread_time() + 0.5\n"
        "    while time.thread_time() < end:\n"
        "        os.read(file, 1 << 20)\n"
        "in_python()\nin_native()\nin_system()\n"
    )
    result = profile(python, ["three.py"], tmp_path, options=[])
    assert result.status == 0, result
    rows = {row.line: row for row in report.rows(written(result, "profile_results.txt"))}
    assert rows[5].python > 0.8 * rows[5].total, rows[5]
    assert rows[10].native > 0.8 * rows[10].total, rows[10]
    assert rows[15].system > 0.6 * rows[15].total, rows[15]


def test_a_5_ms_script_explains_itself(program, python, tmp_path):
    (tmp_path / "quick.py").write_text("x = sum(range(1000))\n")
    result = profile(python, ["quick.py"], tmp_path, options=[])
    assert result.status == 0 and result.stderr == b"", result
    assert re.search(r"Total Wall Time: 0\.\d+ seconds", result.out), result
    text = result.out.lower()
    assert "samples" in text and re.search(
        r"(too short|only \d+ sample|no sample|--rate)", text
    ), result
    assert written(result, "profile_results.txt").strip()


def test_waiting_is_not_work(program, system_python, tmp_path):
    (tmp_path / "sleepy.py").write_text("import time\ntime.sleep(0.4)\nprint('awake')\n")
    result = profile(system_python, ["sleepy.py"], tmp_path, options=[])
    assert result.status == 0 and result.stdout.startswith(b"awake\n"), result
    assert report.seconds(result.out, "Total Wall Time") >= 0.4


def test_children_are_told_apart(program, system_python, tmp_path):
    result = profile(system_python, [str(TARGETS / "family.py")], tmp_path, options=[])
    pids = {process.pid for process in capture.read(capture_of(result)).processes[1:]}
    assert result.status == 0 and len(pids) > 14, result
    told = r"(?m)^Python child processes: %d \(largest [\d.]+ MB\)$" % (len(pids) - 1)
    assert re.search(told, written(result, "profile_summary.txt")), result
    assert re.search(told, result.out), result


MEMORY = """\
import resource
import subprocess
import sys

touched = b"x" * (int(sys.argv[1]) << 20)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, flush=True)
if sys.argv[2:]:
    subprocess.check_call([sys.executable, __file__] + sys.argv[2:])
"""


def test_memory_of_the_program_and_of_its_child(program, python, tmp_path):
    """By the kernel's own figure for each, which the program prints in kB."""
    (tmp_path / "touch.py").write_text(MEMORY)
    result = profile(python, ["touch.py", "150", "300"], tmp_path, options=[])
    assert result.status == 0 and result.err == "", result
    own, child = (int(line) * 1024 / 1e6 for line in result.out.splitlines()[:2])
    assert own > 150 and child > 300, result
    told = {"Max RSS Memory Usage: ([\\d.]+) MB$": child}
    told["Python child processes: 1 \\(largest ([\\d.]+) MB\\)$"] = child
    if "heap RAM" not in result.out:  # with --memory it is the heap's
        told["Finished in [\\d.]+ seconds using ([\\d.]+) MB of RAM"] = own
    for pattern, true in told.items():
        found = re.search("(?m)^" + pattern, result.out)
        assert found and abs(float(found.group(1)) / true - 1) < 0.05, (pattern, true, result)


def test_rate(program, system_python, tmp_path):
    (tmp_path / "burn.py").write_text(BURN)
    result = profile(system_python, ["burn.py"], tmp_path, options=["--rate", "50"])
    assert result.status == 0 and re.search(r"\b50 Hz", result.out), result
    it = capture.read(capture_of(result))
    assert 40 <= len(it.samples) <= 110, len(it.samples)  # 1.5 s of CPU and the start


def test_output_directory(program, system_python, tmp_path):
    (tmp_path / "quick.py").write_text("print(1)\n")
    (tmp_path / "deep").mkdir()
    result = run(
        [
            str(BINARY),
            "profile",
            "-q",
            "-o",
            "deep/er/still",
            "--python",
            system_python.path,
            "quick.py",
        ],
        tmp_path,
    )
    assert result.status == 0 and run_folder(tmp_path / "deep/er/still"), result
    assert not (tmp_path / "performance").exists()
    result = run(
        [
            str(BINARY),
            "profile",
            "-q",
            "quick.py",
            "-o",
            str(tmp_path / "abs"),
            "--python",
            system_python.path,
        ],
        tmp_path,
    )
    assert result.status == 0 and run_folder(tmp_path / "abs"), result


def test_module_and_code_have_folders_too(program, system_python, tmp_path):
    (tmp_path / "mod.py").write_text("print('m')\n")
    assert profile(system_python, ["--module", "mod"], tmp_path).folder.parent.name == "mod"
    elsewhere = tmp_path / "code"
    elsewhere.mkdir()
    result = profile(system_python, ["--code", "print('c')"], elsewhere)
    assert result.stdout == b"c\n" and capture_of(result), result


# --- colour, alphabet, width

WIDE = """\
# 日本語のコメント: wide characters
import time


def 数える(end):
    n = 0
    while time.process_time() < end: n += sum(range(50))  # 数える、数える、数える、数える、数える、数える、数える
    return n


def naïve_été(end):
    text = "日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語"
    while time.process_time() < end: len(text + "é\u0301\u0301 ☃")  # e\u0301e\u0301e\u0301
    return text


数える(0.4)
naïve_été(0.8)
"""


def colour(result):
    return "\x1b[" in result.out


def test_no_colour_off_a_terminal(burnt):
    assert not colour(burnt)
    assert "\x1b" not in written(burnt, "profile_summary.txt") + written(
        burnt, "profile_results.txt"
    )


def test_colour_by_wish(program, system_python, tmp_path):
    (tmp_path / "burn.py").write_text(BURN.replace("0.9", "0.2"))
    result = profile(system_python, ["burn.py"], tmp_path, options=[], env={"FORCE_COLOR": "1"})
    assert colour(result), "FORCE_COLOR gives no colour"
    assert "\x1b" not in written(result, "profile_summary.txt"), "files have no colour"
    result = profile(system_python, ["burn.py"], tmp_path, options=[], env={"NO_COLOR": "1"})
    assert not colour(result)


def test_colour_on_a_terminal(program, system_python, tmp_path):
    from support.run import profile_command
    from test_same_behaviour import in_terminal

    (tmp_path / "burn.py").write_text(BURN.replace("0.9", "0.2"))
    _status, out = in_terminal(profile_command(system_python, ["burn.py"], []), tmp_path)
    assert b"\x1b[" in out
    os.environ["NO_COLOR"] = "1"
    try:
        from support import run as tool

        kept, tool.UNWANTED = tool.UNWANTED, tuple(n for n in tool.UNWANTED if n != "NO_COLOR")
        _status, out = in_terminal(profile_command(system_python, ["burn.py"], []), tmp_path)
    finally:
        del os.environ["NO_COLOR"]
        tool.UNWANTED = kept
    assert b"\x1b[" not in out


def test_ascii_where_the_locale_has_no_utf8(program, system_python, tmp_path):
    (tmp_path / "burn.py").write_text(BURN.replace("0.9", "0.2"))
    result = profile(system_python, ["burn.py"], tmp_path, options=[], env={"LC_ALL": "C"})
    assert result.status == 0
    assert all(byte < 128 for byte in result.stdout), result
    assert report.top(result.out)


@pytest.mark.parametrize("columns", [60, 80, 100, 140])
def test_columns(program, system_python, columns, tmp_path):
    (tmp_path / "wide.py").write_text(WIDE, encoding="utf-8")
    result = profile(
        system_python, ["wide.py"], tmp_path, options=[], env={"COLUMNS": str(columns)}
    )
    assert result.status == 0, result
    for line in result.out.splitlines():
        if line.startswith("Results: "):
            continue  # a path is one word
        assert report.width(line) <= columns, "%d columns: %r" % (report.width(line), line)


def test_wide_characters_keep_columns_straight(program, python, tmp_path):
    (tmp_path / "wide.py").write_text(WIDE, encoding="utf-8")
    result = profile(python, ["wide.py"], tmp_path, options=[])
    assert result.status == 0, result
    text = written(result, "profile_results.txt")
    edges = set()
    for line in text.splitlines():
        cells = line.split("│")
        if len(cells) >= 5:
            edges.add(tuple(report.width("│".join(cells[:k])) for k in range(1, 5)))
    assert len(edges) == 1, "the columns stand at %s\n%s" % (edges, text)
    ranked = [line for line in result.out.splitlines() if report.RANKED.match(line)]
    assert any("数える" in line for line in ranked), result
    ends = {report.width(line[: line.rindex("% (")]) for line in ranked}
    assert len(ends) == 1, "the shares end at %s\n%s" % (ends, "\n".join(ranked))


ENCODED = """\
# -*- coding: {0} -*-
import time


class {1}:
    def {2}(self):
        end = time.process_time() + 0.3
        while time.process_time() < end:
            sum(range(50))  # {3}


{1}().{2}()
"""


@pytest.mark.parametrize(
    ["encoding", "words"],
    [
        ("latin-1", ["Café", "mé", "là"]),
        ("cp1251", ["Цикл", "мера", "цикл"]),
        ("gbk", ["循环", "数", "循环"]),
    ],
)
def test_sources_in_other_encodings(program, python, tmp_path, encoding, words):
    """By their cookie: lines are shown as they were written, names have their class on every Python."""
    text = ENCODED.format(encoding, *words)
    (tmp_path / "encoded.py").write_bytes(text.encode(encoding))
    result = profile(python, ["encoded.py"], tmp_path, options=[], env={"PYTHONIOENCODING": "utf-8"})
    assert result.status == 0, result
    rows = report.rows(written(result, "profile_results.txt"))
    lines = {row.line: row.source.strip() for row in rows}
    assert lines[9] == text.splitlines()[8].strip(), rows
    top = report.top(written(result, "profile_summary.txt"))
    assert ".".join(words[:2]) in top, sorted(top)


@pytest.mark.parametrize("end", ["\r\n", "\r"], ids=["crlf", "cr"])
def test_line_ends_of_other_systems(program, python, tmp_path, end):
    text = ENCODED.format("utf-8", "Kind", "method", "now")
    (tmp_path / "ends.py").write_bytes(text.replace("\n", end).encode())
    result = profile(python, ["ends.py"], tmp_path, options=[])
    assert result.status == 0, result
    rows = report.rows(written(result, "profile_results.txt"))
    assert {row.line for row in rows} >= {9}, rows
    assert all(row.source.strip() == text.splitlines()[row.line - 1].strip() for row in rows), rows
    assert "Kind.method" in report.top(written(result, "profile_summary.txt")), result


def test_control_characters_in_source_and_names_reach_no_terminal(program, system_python, tmp_path):
    """A source line with an escape sequence, a file with one in its name: shown, never obeyed."""
    name = "esc\x1b[31m.py"
    (tmp_path / name).write_text(
        "import time\nend = time.process_time() + 0.3\n"
        "while time.process_time() < end: sum(range(50))  # \x1b[31m red \x07\n"
    )
    result = profile(system_python, [name], tmp_path, options=[])
    assert result.status == 0
    for text in (
        result.out,
        written(result, "profile_results.txt"),
        written(result, "profile_summary.txt"),
    ):
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text), repr(text)


def test_source_that_is_gone_or_changed(program, system_python, tmp_path):
    """The program deletes itself: the copy was taken before it ran."""
    (tmp_path / "gone.py").write_text(
        "import os, time\nos.unlink(__file__)\nend = time.process_time() + 0.3\n"
        "while time.process_time() < end: sum(range(50))\n"
    )
    result = profile(system_python, ["gone.py"], tmp_path, options=[])
    assert result.status == 0 and "os.unlink" in written(result, "gone.py"), result
    assert any(
        "sum(range(50))" in row.source
        for row in report.rows(written(result, "profile_results.txt"))
    )


def test_output_equals_plain_then_report(program, python, tmp_path):
    (tmp_path / "words.py").write_text("print('only words')\n")
    expected = plain(python, ["words.py"], tmp_path)
    result = profile(python, ["words.py"], tmp_path, options=[], env={"COLUMNS": "120"})
    # what was printed is what was kept, and where that is
    kept = written(result, "profile_summary.txt")
    assert result.out == "%s%sResults: %s\n" % (expected.out, kept, result.folder), (result, kept)


SPINS = """
import time

def deep(n):
    if n:
        return deep(n - 1)
    s = 0
    for i in range(2000000):
        s += i * i

began = time.process_time()
deep(900)
print(time.process_time() - began)
"""


def test_the_time_without_profiling(program, local_python, tmp_path):
    """Sampled so often that it costs a third: without that it is the plain program's, within a fifth. Of CPU,
    and of the best of some runs, so that other tests beside this one are not in it."""
    (tmp_path / "it.py").write_text(SPINS)
    alone, estimated = [], []
    while len(alone) < 3 or (len(alone) < 8 and abs(min(estimated) / min(alone) - 1) > 0.2):
        alone.append(float(plain(local_python, ["it.py"], tmp_path).out))
        result = profile(local_python, ["it.py"], tmp_path, options=(), hz=5000)
        took, without = map(float, re.search(r"^Finished in ([\d.]+) seconds .*\(about ([\d.]+) ", result.out, re.M).groups())
        assert 0 < without < took, result
        estimated.append(float(result.out.split()[0]) - (took - without))
    assert abs(min(estimated) / min(alone) - 1) <= 0.2, (alone, estimated)
