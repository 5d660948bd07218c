"""What `calls` leaves and shows, by all its options."""

import os
import re

import pytest
from support.exact import TARGETS, by_name, calls, stats_of
from support.run import BINARY, plain, run, wait_until

SAY = "import pstats, sys; pstats.Stats(sys.argv[1]).sort_stats('ncalls').print_stats(r'times\\.py')"


def browser(folder):
    """A program that shows pictures: it writes down what it was given."""
    path = folder / "browser"
    path.write_text('#!/bin/sh\necho "$@" >> "%s"\n' % (folder / "shown"))
    path.chmod(0o755)
    return {"BROWSER": str(path), "LC_ALL": "C.UTF-8"}


def shown(folder):
    path = folder / "shown"
    return wait_until(lambda: path.is_file() and path.read_text().splitlines(), what="a picture that is shown")


def kept(folder):
    """{ending: path} of what is in .profile_data; .PID.prof is an ending, too."""
    found = sorted((folder / ".profile_data").iterdir())
    return {re.sub(r"^[a-z]+_\d{8}_\d{6}", "", path.name): path for path in found}


@pytest.mark.parametrize("output", [None, "x.fah", "x.prof"])
def test_all_that_is_asked_for(program, local_python, output, tmp_path):
    """cpu --save --vis --pretty, and with -o the same: kept for pstats, drawn, shown, and the tree printed."""
    options = ["--save", "--vis", "--pretty"] + (["-o", output] if output else [])
    result = calls(local_python, tmp_path, [TARGETS / "times.py"], options, name="cpu", env=browser(tmp_path))
    assert result.status == 0, result
    files = kept(tmp_path)
    assert sorted(files) == [".fah", ".prof", ".svg"], files
    assert shown(tmp_path) == [str(files[".svg"])]
    assert all(name in files[".svg"].read_text() for name in ("<svg", "nap", "recursive"))
    said = plain(local_python, ["-c", SAY, str(files[".prof"])], tmp_path)  # by the pstats of the Python that ran it
    assert said.status == 0 and re.search(r"^ +2 .*times\.py:6\(nap\)$", said.out, re.M), said
    assert re.search(r"^.*─ .* nap  times\.py:6  \(2 calls", result.out, re.M) and "Ordered by" not in result.out, result
    assert "kept in .profile_data/" in result.err
    for path in [files[".fah"]] + ([tmp_path / output] if output else []):
        said = run([BINARY, "stats", path, "--limit", "nap"], tmp_path)
        assert re.search(r"^ +2 .*times\.py:6\(nap\)$", said.out, re.M), said


def test_a_capture_is_no_reason_for_silence(program, local_python, tmp_path):
    """What a report would say on stderr is said with -o x.fah, too; nothing is printed."""
    result = calls(local_python, tmp_path, [TARGETS / "beside.py"], ["-o", "x.fah"])
    known = local_python.version >= (3, 12)
    words = "took all numbers of sys.monitoring" if known else "set a profile function of its own"
    assert result.status == 0 and words in result.err and "Ordered by" not in result.out, result
    nothing = tmp_path / "nothing"
    nothing.write_text("#!/bin/sh\nexec true\n")
    nothing.chmod(0o755)
    result = run([BINARY, "calls", "-o", "y.fah", "--python", nothing, "-c", "pass"], tmp_path)
    assert result.status == 0 and "no call of the code was told" in result.err, result


def test_each_process(program, local_python, tmp_path):
    """The files of processes add up to that of --subprocesses; each is drawn, and the first is shown."""
    target = TARGETS / "family.py"
    both = calls(local_python, tmp_path, [target], ["--subprocesses", "-o", "whole"])
    options = ["--per-process", "--save", "--vis", "-o", "part"]
    result = calls(local_python, tmp_path, [target], options, env=browser(tmp_path))
    assert both.status == result.status == 0, (both, result)
    whole = {name: value[0] for name, value in by_name(stats_of(tmp_path / "whole"), "family.py").items()}
    pids, sums = [path.name[5:] for path in tmp_path.glob("part.*")], {}
    for pid in pids:
        for name, value in by_name(stats_of(tmp_path / ("part." + pid)), "family.py").items():
            sums[name] = sums.get(name, 0) + value[0]
    assert sums == whole and whole["leaf"] == 3668 and len(pids) == 3, (sums, whole)
    files = kept(tmp_path)
    assert set(files) == {".fah"} | {"." + pid + end for pid in pids for end in (".prof", ".svg")}, files
    drawn = [path for ending, path in files.items() if ending.endswith(".svg")]
    (first,) = shown(tmp_path)
    assert "boot" in open(first).read(), "the process that was started first"
    assert [path for path in drawn if os.path.join(".profile_data", path.name) not in result.err] == [tmp_path / first]
    for pid in pids:
        assert stats_of(files[".%s.prof" % pid]) == stats_of(tmp_path / ("part." + pid))


def test_a_module(program, python, tmp_path):
    """-m: a module and a package, with arguments that look like ours."""
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    text = "import sys\ndef f():\n    return 1\nfor _ in range(7):\n    f()\nprint(sys.argv[1:])\n"
    for name, file in (("package", "package/__main__.py"), ("module", "module.py")):
        (tmp_path / file).write_text(text)
        result = calls(python, tmp_path, ["-m", name, "-o", "--save"], ["-o", name + ".prof"])
        assert (result.status, result.out, result.err) == (0, "['-o', '--save']\n", ""), result
        assert by_name(stats_of(tmp_path / (name + ".prof")), os.path.basename(file))["f"][:2] == (7, 7)


RAW = """
import time
def leaf(x):
    return x
def work():
    for i in range(100000):
        leaf(i)
begun = time.perf_counter()
work()
print(time.perf_counter() - begun)
"""


def test_raw(program, local_python, tmp_path):
    """What it costs to be told is in --raw's times, as the program's own clock has it, and in no others."""
    (tmp_path / "raw.py").write_text(RAW)

    def share(*options):
        result = calls(local_python, tmp_path, ["raw.py"], ["-o", "x.prof", *options])
        assert result.status == 0, result
        return by_name(stats_of(tmp_path / "x.prof"), "raw.py")["work"][3] / float(result.out)

    raw = [share("--raw") for _ in range(2)]
    assert max(raw) <= 1.001 and max(raw) > 0.98, raw
    seen = []
    while not seen or min(seen) > 0.95:  # where others are busy, most of it is neither's
        assert len(seen) < 9, seen
        seen.append(share())
