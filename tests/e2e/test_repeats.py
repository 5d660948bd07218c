"""`profile --repeat`, `summarize` and `stats`: several runs, a run again, and scalene's files."""

import datetime
import json
import math
import os
import re
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

from support.pythons import REPO
from support.run import BINARY, copy_tool, finish, profile, run, start, wait_until

# CPU by the thread's own clock, so that a busy machine changes nothing of it; how often it ran is in a file.
WORK = """
import pathlib, sys, time

def steady():
    end = time.thread_time() + 0.08
    while time.thread_time() < end:
        pass

def rest():
    end = time.thread_time() + 0.04
    while time.thread_time() < end:
        pass

count = pathlib.Path("count")
n = int(count.read_text()) if count.exists() else 0
count.write_text(str(n + 1))
steady()
rest()
print("run", n)
sys.exit(3 if n == int(sys.argv[1]) else 0)
"""
UNSTEADY = """
import pathlib, time

def lucky(n):
    end = time.thread_time() + 0.03 + 0.15 * n
    while time.thread_time() < end:
        pass

count = pathlib.Path("count")
n = int(count.read_text()) if count.exists() else 0
count.write_text(str(n + 1))
lucky(n)
"""
SCALENE = REPO / "tests" / "unit" / "import" / "scalene-2.4.json"


def summarize(*args, cwd):
    return run([str(BINARY), "summarize"] + [str(arg) for arg in args], cwd)


def series(python, folder, options, fails_at=-1, **rest):
    (folder / "work.py").write_text(WORK)
    return profile(python, ["work.py", str(fails_at)], folder, options=options, hz=500, **rest)


def stats_of(folder):
    return json.loads((folder / "function_stats.json").read_text())


def by_name(program):
    return {function["name"]: function for function in program["functions"]}


def repository(folder):
    (folder / "work.py").write_text("# not yet\n")
    git(folder, "init", "-q", "-b", "topic")
    git(folder, "add", "work.py")
    git(folder, "commit", "-q", "-m", "first")


def git(folder, *args):
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "-C", str(folder)] + identity + list(args), check=True, timeout=60)


def test_a_series(program, some_python, tmp_path):
    repository(tmp_path)
    index = (tmp_path / ".git" / "index").read_bytes()
    result = series(some_python, tmp_path, ["-r", "3"])
    assert result.status == 0 and result.stderr == b"", result
    assert result.out.startswith("run 0\nrun 1\nrun 2\nStatistics of 3 runs: work.py -1 "), result
    assert {path.name for path in result.folder.iterdir()} == {
        "function_stats.json",
        "run_1",
        "run_2",
        "run_3",
    }
    for path in result.folder.glob("run_*"):
        assert {file.name for file in path.iterdir()} == {
            "work.py",
            "profile.fah",
            "profile_results.txt",
            "profile_summary.txt",
        }
    (it,) = stats_of(result.folder)["programs"]
    commit = subprocess.check_output(["git", "-C", str(tmp_path), "rev-parse", "HEAD"], text=True)
    known = {"commit": commit.strip(), "branch": "topic", "dirty_files": ["work.py"]}
    assert it["git"] == (known if not some_python.foreign else None), it
    assert (tmp_path / ".git" / "index").read_bytes() == index
    assert it["n"] == 3 and [r["status"] for r in it["runs"]] == [0, 0, 0]
    assert it["python"] == ".".join(map(str, some_python.version))

    # each number is that of the runs themselves
    seen = {}
    for path in sorted(result.folder.glob("run_*")):
        one = json.loads(summarize(path, "--json", cwd=tmp_path).out)
        for function in one["functions"]:
            seen.setdefault(function["name"], []).append(sum(function["seconds"].values()))
    for name in ("steady", "rest"):
        mine, values = by_name(it)[name], seen[name]
        assert len(values) == mine["n"] == 3
        mean = sum(values) / 3
        sd = math.sqrt(sum((value - mean) ** 2 for value in values) / 2)
        assert mine["seconds"]["mean"] == pytest.approx(mean)
        assert mine["seconds"]["sd"] == pytest.approx(sd, abs=1e-9)
        assert mine["seconds"]["min"] == pytest.approx(min(values))
        assert mine["seconds"]["max"] == pytest.approx(max(values))
        assert (" %.3f ± " % mean) in result.out, result


def test_a_series_from_elsewhere(program, system_python, tmp_path):
    """The repository is that of the script, untracked files are changes; the output file has the table of all runs."""
    repo, here = tmp_path / "repo", tmp_path / "here"
    repo.mkdir()
    here.mkdir()
    repository(repo)
    (repo / "notes").mkdir()
    (repo / "notes" / "a.txt").write_text("not tracked")
    (repo / ".git" / "info" / "exclude").write_text("*.log\n")
    (repo / "x.log").write_text("ignored")
    (repo / "work.py").write_text("# changed\n")
    (repo / "new.py").write_text(UNSTEADY)
    before = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
    words = ["-r", "3", "--output-file", "table.txt"]
    result = profile(system_python, [repo / "new.py"], here, options=words, hz=500)
    assert result.status == 0 and result.stderr == b"", result
    after = datetime.datetime.now(datetime.timezone.utc)
    it = stats_of(result.folder)
    times = [it["utc_date"]] + [one["utc_date"] for one in it["programs"][0]["runs"]]
    dates = [datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=datetime.timezone.utc) for text in times]
    assert all(before <= date <= after for date in dates) and dates[1:] == sorted(dates[1:]), (before, times, after)
    (it,) = it["programs"]
    assert it["git"]["branch"] == "topic" and it["git"]["dirty_files"] == ["work.py", "new.py", "notes/"], it["git"]

    table = (here / "table.txt").read_text()
    assert table.startswith("Statistics of 3 runs: ") and "Profile Summary" not in table, table
    assert rows_of(table) == rows_of(result.out) != [], (table, result)
    # its time differs from run to run by more than samples make
    assert by_name(it)["lucky"]["unstable"], it
    assert re.search(r"^ 1\. lucky .* unstable$", table, re.M), table

    one = summarize("performance", "-n", "1", cwd=here)
    assert one.status == 0 and rows_of(one.out) == rows_of(table)[:1], one
    few = summarize("performance", "-t", "99", cwd=here)
    assert few.status == 0 and "Statistics of 3 runs: " in few.out and rows_of(few.out) == [], few
    result = profile(system_python, [repo / "new.py"], here, options=["-r", "2", "--output-file=-"], hz=500)
    assert result.status == 0 and result.out.count("Statistics of 2 runs: ") == 1, result
    assert not (here / "-").exists() and "Profile Summary" not in result.out, result


def rows_of(table):
    """Up to the places, for which 80 columns have no room."""
    return re.findall(r"^ *\d+\. .* ± [ \d.]+", table, re.M)


def test_the_first_failure_ends_it(program, system_python, tmp_path):
    repository(tmp_path)
    nowhere = {"PATH": "/nonexistent"}
    result = series(system_python, tmp_path, ["--repeat", "5"], fails_at=1, env=nowhere)
    assert result.status == 3, result
    assert result.out.startswith("run 0\nrun 1\nStatistics of 1 run: "), result
    assert result.err.count("\n") == 1 and "run 2 of 5 ended with status 3" in result.err, result
    assert not (result.folder / "run_3").exists()
    (it,) = stats_of(result.folder)["programs"]
    assert it["n"] == 1 and it["runs"][1]["left_out"] == "failed"
    assert it["git"] is None, "a repository, but no git to ask"

    shutil.rmtree(tmp_path / "performance")
    (tmp_path / "count").unlink()
    result = series(system_python, tmp_path, ["-q", "-r", "2"], fails_at=0)
    assert (result.status, result.out, result.err) == (3, "run 0\n", ""), result
    assert not (result.folder / "function_stats.json").exists()


def test_a_summary_again(program, some_python, tmp_path):
    result = series(some_python, tmp_path, [])
    kept = (result.folder / "profile_summary.txt").read_text()
    assert "Without a line's time, or with half of it, it would take:" in kept, kept
    assert kept.splitlines()[2].endswith(" without profiling)"), kept
    printed = result.out[len("run 0\n") :]
    for capture in (result.folder, result.folder / "profile.fah"):
        again = summarize(capture, cwd=tmp_path)
        assert again.status == 0 and again.stderr == b"", again
        assert printed.startswith(again.out) and len(again.out) > 500, again
    one = summarize(result.folder, "-n", "1", cwd=tmp_path).out
    assert "Top 1 Functions" in one and " 2. rest" not in one, one
    few = summarize(result.folder, "-t", "99", cwd=tmp_path).out
    assert "Functions by Total Runtime" not in few and "worth listing" in few, few
    numbers = json.loads(summarize(result.folder, "--json", cwd=tmp_path).out)
    # a busy machine may make waiting for it the bottleneck: the sentence says what the numbers say
    bottleneck = numbers["bottleneck"]
    (said,) = [row for row in kept.splitlines() if "ottleneck: " in row]
    share = "%.1f%%" % (100 * bottleneck["share"])
    assert share in kept[kept.index(said) :].split("\n\n")[0], (said, bottleneck)
    if bottleneck["kind"] == "function":
        assert said.startswith("Bottleneck: %s (work.py:" % bottleneck["function"]), said
    assert 0 < numbers["without_profiling_s"] <= numbers["program_s"] <= numbers["wall_s"]
    line = numbers["lines"][0]
    assert line["run_without_s"] == pytest.approx(numbers["wall_s"] * (1 - line["share"]))
    assert sum(numbers["parts_s"].values()) == pytest.approx(numbers["wall_s"], rel=0.02)
    # a change of folder changes nothing: what was left out is in the capture
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert summarize(result.folder, cwd=elsewhere).out == again.out


def test_scalene(program, tmp_path):
    result = summarize(SCALENE, cwd=tmp_path)
    assert result.status == 0, result
    assert "Finished in 0.602 seconds" in result.out and "Imported from" in result.out, result
    assert "Samples:" not in result.out and "Clock:" not in result.out, result
    for name, share in (("squares", "46.3%"), ("Store.dump", "43.9%"), ("nap", "9.7%")):
        assert any(name in row and share in row for row in result.out.splitlines()), result
    runs = tmp_path / "runs" / "deeper"
    runs.mkdir(parents=True)
    text = SCALENE.read_text()
    for name, elapsed in (("a", "0.6"), ("b", "1.2")):
        scaled = json.loads(text)
        scaled["elapsed_time_sec"] = float(elapsed)
        (runs / (name + ".json")).write_text(json.dumps(scaled))
    (runs / "other.json").write_text("{}")
    (runs / "loop").symlink_to(tmp_path / "runs")
    result = run([str(BINARY), "stats", str(tmp_path / "runs")], tmp_path)
    assert result.status == 0 and result.stderr == b"", result
    assert "Statistics of 2 runs: work.py\n" in result.out, result
    (it,) = stats_of(tmp_path / "runs")["programs"]
    assert it["wall_s"]["mean"] == pytest.approx(0.9)
    dump = by_name(it)["Store.dump"]
    assert dump["seconds"]["mean"] == pytest.approx(0.9 * 0.439161, rel=1e-3)
    assert dump["share"]["sd"] == pytest.approx(0, abs=1e-6)
    assert [r["capture"] for r in it["runs"]] == ["deeper/a.json", "deeper/b.json"]


def test_little_to_show_says_why(program, system_python, tmp_path):
    code = "sum(i * i for i in range(300))"
    args = ["--module", "timeit", "-n", "5000", "-r", "1", code]
    result = profile(system_python, args, tmp_path, options=[], hz=500)
    assert result.status == 0, result
    assert "Nothing of the folders reported" in result.out, result
    assert "outside the folders reported" in result.out and "--detailed" in result.out, result
    assert "Top " in result.out and "(<timeit-src>:" in result.out, result.out
    results = (result.folder / "profile_results.txt").read_text()
    assert "Nothing of the folders reported" in results and "% of time" in results, results
    result = profile(system_python, ["--code", "pass"], tmp_path, options=[])
    assert "There is no sample to show. The run took" in result.out or (
        "This is thin: the run took" in result.out
    ), result


def test_what_cannot_be_summarized(program, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "x.json").write_text('{"files": [')
    (tmp_path / "x.fah").write_text("no capture")
    for args, words in (
        (["empty"], "no capture below this folder"),
        (["x.json"], "neither a capture nor a profile of scalene's"),
        (["x.fah"], "x.fah"),
        (["none"], "No such file"),
        ([], "which capture?"),
        (["empty", "-n", "0"], "--number 0"),
        (["empty", "-t", "101"], "--threshold 101"),
    ):
        result = summarize(*args, cwd=tmp_path)
        assert result.status == 2 and result.out == "", result
        assert words in result.err and result.err.count("\n") == 1, result
        # by its other name, which is the one that is told
        result = run([str(BINARY), "stats"] + args, tmp_path)
        assert result.status == 2 and result.err.startswith("fixingahole: stats: "), result
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["empty", "x.fah", "x.json"]


def test_folders_that_cannot_be_read_are_named(program, system_python, tmp_path):
    """Too deep, or with a path that is too long (root may read all else): the rest is summed up."""
    (tmp_path / "it.py").write_text("sum(i * i for i in range(500000))\n")
    profile(system_python, ["it.py"], tmp_path)
    top = tmp_path / "performance"
    deep = top / "deep"
    for _ in range(34):
        deep = deep / "d"
    deep.mkdir(parents=True)
    at = os.open(str(top), os.O_RDONLY)
    for _ in range(18):
        os.mkdir("n" * 250, dir_fd=at)
        below = os.open("n" * 250, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)
    for name in ("summarize", "stats"):
        result = run([str(BINARY), name, "performance"], tmp_path)
        lines = result.err.splitlines()
        assert result.status == 0 and "1 run" in result.out, result
        assert len(lines) == 2 and all(line.startswith("fixingahole: %s: left out: " % name) for line in lines), result
        assert any("too long" in line for line in lines) and any("32 folders deep" in line for line in lines), result


@pytest.mark.skipif(os.getuid() != 0, reason="SKIP: only root can become nobody")
def test_folders_of_others_are_named(program, system_python):
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        top.chmod(0o755)
        (top / "it.py").write_text("sum(i * i for i in range(500000))\n")
        profile(system_python, ["it.py"], top)
        (top / "performance").chmod(0o777)
        (top / "performance" / "closed").mkdir(mode=0o700)
        binary = copy_tool(top / "tool")
        become = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        result = run(become + [str(binary), "stats", "performance"], top)
    assert result.err == "fixingahole: stats: left out: performance/closed: Permission denied\n", result
    assert result.status == 0 and "1 run" in result.out, result


def test_an_interrupt_between_two_runs(program, system_python, tmp_path):
    """When a program has ended, an interrupt is not the program's: that run is whole, and the series ends."""
    (tmp_path / "it.py").write_text(
        "import os\nsum(i * i for i in range(3000000))\nopen('pid', 'w').write(str(os.getpid()))\nos.rename('pid', 'ended')\n"
    )
    words = [str(BINARY), "profile", "--repeat", "50", "--python", system_python.path, "it.py"]
    process = start(words, tmp_path)
    pid = wait_until(lambda: (tmp_path / "ended").exists() and (tmp_path / "ended").read_text(), what="an end")
    while os.path.exists("/proc/%s" % pid):
        pass
    os.killpg(process.pid, signal.SIGINT)
    result = finish(process)
    assert result.status == 130, result
    said = re.fullmatch(r"fixingahole: interrupted after run (\d) of 50: the series ends here\n", result.err)
    assert said and "%s run" % said[1] in result.out, result
    (top,) = tmp_path.glob("performance/it/*")
    assert (top / "function_stats.json").exists()
    assert len(list(top.glob("run_*/profile_summary.txt"))) == int(said[1]), result


def test_repeat_takes_a_number(program, tmp_path):
    (tmp_path / "work.py").write_text(WORK)
    for value in ("0", "-1", "many", "99999"):
        result = run([str(BINARY), "profile", "work.py", "--repeat", value], tmp_path)
        assert result.status == 2 and "--repeat " + value in result.err, result
    assert [path.name for path in tmp_path.iterdir()] == ["work.py"]
