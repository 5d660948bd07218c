"""export: known stacks in every format, on every Python; sums as `inspect` says; bad captures."""

import json
import re
import shutil

import pytest
from support import exports
from support.pythons import REPO
from support.run import BINARY, TARGETS, capture_of, inspect, profile, run

ODD = 'odd; "name" \\ ünï\n数'
GOLDEN = REPO / "tests" / "golden"
FORMATS = sorted(exports.READERS)


def export(capture, form, *options):
    result = run([BINARY, "export", capture, "-f", form, *options], capture.parent)
    assert result.status == 0, result
    return result


def read(capture, form, *options):
    return exports.READERS[form](export(capture, form, *options).stdout)


def seconds(text, words):
    return float(re.search(r"([0-9.]+) seconds " + words, text).group(1))


def near(a, b):
    return abs(a - b) <= 0.01 * b + 0.001


def has(stacks, *chain):
    """Some stack has these names, one directly below the other."""
    for names in stacks:
        for i, name in enumerate(names):
            if names[i : i + len(chain)] == list(chain):
                return True
    return False


def test_every_format(program, python, tmp_path):
    result = profile(python, [str(TARGETS / "exported.py"), "0.25"], tmp_path)
    assert result.status == 0, result
    capture = capture_of(result)
    said = inspect(capture).out
    cpu = {int(m[0]): float(m[1]) for m in
           re.findall(r"^ +(\d+)  \S.*? +[0-9.]+s +([0-9.]+)s +[0-9.]+s +[0-9.]+s", said, re.M)}
    assert len(cpu) == 2, said
    for form in FORMATS:
        seen = read(capture, form)
        stacks = exports.stacks(seen)
        assert has(stacks, "<module>", "outer", "callback"), (form, stacks)
        assert has(stacks, "<module>", *["recurse"] * 6), (form, stacks)
        assert has(stacks, "<module>", ODD), (form, stacks)
        assert any(s[-2:] == ["worker", "callback"] and "<module>" not in s for s in stacks), form
        if form == "folded":  # the run's time, as the summary has it
            ran = seconds(said, "in which a thread ran")
            if "in known lines" in said:
                ran += seconds(said, "of it in known lines")
            assert near(exports.total(seen), ran), said
        else:  # each thread's own
            assert sorted(seen) == sorted(cpu)
            for tid, rows in seen.items():
                assert near(sum(s for _, s, _ in rows), cpu[tid]), (form, tid, said)
    # With -n what is called between stands between; as soon as the modules of the process are known.
    native = exports.stacks(read(capture, "folded", "-n", "-F"))
    between = [s[s.index("outer") + 1 : s.index("callback")] for s in native
               if "outer" in s and "callback" in s and s.index("callback") > s.index("outer")]
    assert any(between), native
    # With -t -i a thread has all of its time, and the sleep is seen.
    idle = read(capture, "pprof", "-t", "-i")
    assert any(s[0].startswith("thread ") and s[-2:] == ["<module>", "waiting (sleep)"]
               for s in exports.stacks(idle)), exports.stacks(idle)
    # --only: a part of the whole, with its interval, on stderr.
    part = export(capture, "folded", "--only", "outer", "-F")
    rows = exports.folded(part.stdout)
    assert all(s[0] == "outer" for s in exports.stacks(rows))
    said = re.search(r"outer: [0-9,]+ samples, ([0-9.]+)% of the run \(95% interval: ±", part.err)
    wall = json.loads(export(capture, "jsonl").out.splitlines()[0])["wall_s"]
    assert abs(exports.total(rows) / wall - float(said.group(1)) / 100) < 0.001, part


@pytest.mark.parametrize("form", FORMATS)
def test_captures_of_before(program, form):
    for name in ("v1.fah", "v2.fah"):
        whole = read(GOLDEN / name, form, "-n", "-i", "-t")
        assert exports.stacks(whole), name


@pytest.mark.parametrize("form", FORMATS)
def test_cut_anywhere(program, form, tmp_path):
    data = (GOLDEN / "v2.fah").read_bytes()
    some = False
    for size in (1, 10, 16, 300, 600, len(data) - 40, len(data) - 1):
        cut = tmp_path / "cut.fah"
        cut.write_bytes(data[:size])
        result = export(cut, form, "-i", "-n")
        some |= bool(exports.stacks(exports.READERS[form](result.stdout)))
        assert "the end of the run" in result.err and result.err.count("\n") == 1, result
    assert some


def test_nothing_to_see(program, system_python, tmp_path):
    """A run that ends before its first sample still is a file that viewers open."""
    result = profile(system_python, ["--code", "pass"], tmp_path)
    capture = capture_of(result)
    for form in FORMATS:
        read(capture, form)
    assert json.loads(export(capture, "speedscope").out)["profiles"]


def test_where_from_and_where_to(program, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    shutil.copy(GOLDEN / "v2.fah", folder / "profile.fah")
    shutil.copy(GOLDEN / "v2.fah", tmp_path / "x.fah.partial")
    expected = export(GOLDEN / "v2.fah", "folded").stdout
    assert export(folder, "raw").stdout == expected
    assert export(tmp_path / "x.fah.partial", "folded").stdout == expected
    out = tmp_path / "out.folded"
    out.write_text("old")
    out.chmod(0o640)
    result = run([BINARY, "export", folder, "-o", out], tmp_path)  # the format by the name
    assert result.status == 0 and not result.stdout and out.read_bytes() == expected, result
    assert out.stat().st_mode & 0o777 == 0o640
    assert run([BINARY, "export", folder, "-f", "folded", "-o", "-"], tmp_path).stdout == expected
    (tmp_path / "link").symlink_to(out)
    for bad, words in (
        (["-f", "folded", "-o", "link"], "in the way"),
        (["-f", "folded", "-o", "run"], "in the way"),
        (["-f", "folded", "-o", "/dev/full"], "-o - is stdout"),
        (["-f", "folded", "-o", "/dev/stdout"], "-o - is stdout"),
        (["-f", "svgz"], "there is no format 'svgz'"),
        ([], "which format?"),
        (["-f", "folded", "--only", "nowhere"], "no function 'nowhere'"),
        (["-f", "folded", "-o", "no/such/folder/x"], "No such file"),
    ):
        result = run([BINARY, "export", folder, *bad], tmp_path)
        assert result.status == 2 and not result.stdout, (bad, result)
        assert words in result.err and result.err.count("\n") == 1, (bad, result)
    result = run(["sh", "-c", "'%s' export run -f folded >/dev/full" % BINARY], tmp_path)
    assert result.status == 2 and "No space left" in result.err, result
    assert out.read_bytes() == expected
    result = run([BINARY, "export", tmp_path, "-f", "folded"], tmp_path)
    assert result.status == 2 and "no profile.fah" in result.err


def test_kinds_of_jsonl(program, system_python, tmp_path):
    """Python, native and system of all samples add up to what the summary says, the kernel's part of each too."""
    # a sample stands for two or three ticks, each of which was in the kernel or not
    result = profile(
        system_python,
        [str(TARGETS / "truth" / "faults.py"), "1"],
        tmp_path,
        options=("-q", "--clock", "timer", "--rate", "100"),
    )
    capture = capture_of(result)
    kinds = dict.fromkeys(("python", "native", "system"), 0.0)
    parts = 0
    of_python, below_python = set(), set()
    for line in export(capture, "jsonl").out.splitlines():
        it = json.loads(line)
        if it["type"] == "frame" and it["kind"] == "python":
            of_python.add(it["id"])
        if it["type"] == "stack" and (it["frame"] in of_python or it["parent"] in below_python):
            below_python.add(it["id"])
        # before and after the program there is no function
        if it["type"] != "sample" or it["stack"] not in below_python:
            continue
        assert it["in"] != "system" or it["system_s"] == it["own_s"], it
        part = it.get("system_s", 0.0) / it["own_s"] if it["own_s"] else 0.0
        assert 0 <= part <= 1, it
        parts += 0 < part < 1
        kinds["system"] += it["run_s"] * part
        kinds[it["in"]] += it["run_s"] * (1 - part)
    said = run([BINARY, "summarize", "--json", "-n", "1000", "-t", "0", capture], tmp_path)
    functions = json.loads(said.out)["functions"]
    assert parts, "no sample with a part"
    for kind, s in kinds.items():
        shown = sum(function["seconds"][kind] for function in functions)
        assert abs(s - shown) < 0.02 * sum(kinds.values()), (kind, kinds, functions)
    assert kinds["system"] > 0.2 * sum(kinds.values()), kinds
