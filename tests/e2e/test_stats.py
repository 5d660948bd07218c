"""`stats`: what pstats prints of Python's own stats files, against pstats itself; what it writes, read by others."""

import json
import os
import re
import subprocess
import sys

import pytest
from support.pythons import REPO
from support.run import BINARY, TARGETS, plain, run
from support.terminal import Terminal

SAY = REPO / "tests" / "e2e" / "support" / "say_pstats.py"
CONSUMERS = SAY.with_name("consumers.py")
ENV = {"TZ": "UTC", "PYTHONHASHSEED": "0"}

SORTS = (["time"], ["cumulative"], ["calls", "name"], ["nfl"], ["stdname"], ["pcalls", "filename", "line"], ["f", "l", "na"],
         ["module"], ["to"], ["cumul"], ["ncalls", "stdname"])
LIMITS = ([10], [0.1], ["json"], [0.5, "p", 7], [0], [0.0], ["there is no such name"], [r"\d+\(f"], [r"[\w.]+\.py:\d+\("],
          ["{built"], ["(?i)FIB"], ["<lambda>|it's"], ["*"], [r"\bfib\b"], ["ö"], [10000], [0.00001], [1 / 3])


@pytest.fixture(scope="module")
def files(program, some_python, tmp_path_factory):
    """Stats files that this Python made: of cProfile, of profile, and one that 3.15's sampler could have made."""
    folder = tmp_path_factory.mktemp("stats")
    for name, options in (("new", []), ("old", ["--old"])):
        done = plain(some_python, [str(TARGETS / "profiled.py"), name, *options], folder, env=ENV)
        assert done.status == 0, done
    sampled = ("import marshal; f = ('a.py', 1, 'f'); g = ('a.py', 5, 'g')\n"
               "marshal.dump({f: (0, 7, 0.0, 0.7, {}), g: (7, 7, 0.7, 0.7, {f: 7}), ('__sampled__',): True}, open('sampled', 'wb'))")
    assert plain(some_python, ["-c", sampled], folder).status == 0
    return folder


def ours(folder, case):
    command = [BINARY, "stats", *case["files"]]
    for key in case["sort"]:
        command += ["--sortby", key]
    for limit in case.get("limits", []):
        command += ["--limit", str(limit)]
    command += ["--strip-dirs"] if case.get("strip") else []
    command += ["--reverse"] if case.get("reverse") else []
    command += ["--callers", "--callees"] if case.get("calls") else []
    done = run(command, folder, env=ENV)
    assert done.status == 0, done
    return done.stdout.decode()


def theirs(python, folder, cases):
    done = plain(python, [str(SAY)], folder, env=ENV, stdin=json.dumps(cases).encode())
    assert done.status == 0, done
    return json.loads(done.stdout)


def test_text_is_that_of_pstats(files, some_python):
    cases = []
    for name in ("new", "old"):
        for sort in SORTS:
            cases.append({"files": [name], "sort": sort})
            cases.append({"files": [name], "sort": sort, "strip": True, "reverse": True, "calls": True})
        for limits in LIMITS:
            cases.append({"files": [name], "sort": ["time"], "limits": limits, "calls": True})
        cases.append({"files": [name, name], "sort": ["cumulative"], "strip": True, "calls": True})
    if some_python.version >= (3, 15):
        cases += [{"files": ["sampled"], "sort": ["time"], "calls": True}, {"files": ["sampled"], "sort": ["calls"]}]
    for case, text in zip(cases, theirs(some_python, files, cases)):
        assert ours(files, case) == text, case
    assert "fib" in text or "a.py" in text  # there was something to compare
    capitals = dict(cases[0], sort=["TIME"])
    assert ours(files, capitals) == ours(files, cases[0])


def test_as_it_is_typed(files, some_python):
    """The words of those who use it, to the letter: --file, keys in capitals, a limit with callers."""
    cases = [
        ("", {"sort": ["cumulative"]}),
        ("--sortby TIME --limit 5", {"sort": ["time"], "limits": [5]}),
        ("--sortby TIME --limit 10 --callers", {"sort": ["time"], "limits": [10], "callers": True}),
    ]
    for file in ("new", "old"):
        texts = theirs(some_python, files, [dict(case, files=[file]) for _, case in cases])
        for (words, _), text in zip(cases, texts):
            done = run([BINARY, *("stats --file %s %s" % (file, words)).split()], files, env=ENV)
            assert (done.status, done.out, done.err) == (0, text, ""), (words, done)
    assert "was called by..." in text and "List reduced" in text


def test_files_that_are_written(files, some_python):
    """They are what was read, to this Python."""
    cases = []
    for name in ("new", "old", "sampled"):
        done = run([BINARY, "stats", name, "-o", name + ".out"], files)
        assert done.status == 0 and not done.stdout, done
        cases.append({"same": [name, name + ".out"]})
    assert theirs(some_python, files, cases) == [True] * len(cases)
    assert theirs(some_python, files, [{"same": ["new", "old.out"]}]) == [False]


SCRIPT = """help
sort time
stats 5
stats 0.05 json
callers fib
callees 3
reverse
stats 3
strip
stats 3
sort
sort cum
sort cumulative name
callers 3

add new
stats 2
add nothing
stats 1.5 2
stats * 1
!ls
foo bar
? nothing
read nothing
read
stats 1
"""


def test_shell_through_a_pipe(files, some_python):
    for script in (SCRIPT, "sort calls\nquit\nstats 3\n", ""):
        for path in ("new", "nothing"):
            want = plain(some_python, ["-m", "pstats", path], files, env=ENV, stdin=script.encode())
            got = run([BINARY, "stats", "-i", path], files, env=ENV, stdin=script.encode())
            assert (got.status, got.out) == (want.status, want.out), got


def test_help_of_commands_is_our_own(files, system_python):
    """As doc/pstats.md says: the list of commands is pstats', what is said of each is not."""
    want = plain(system_python, ["-m", "pstats", "new"], files, env=ENV, stdin=b"help stats\nhelp sort\n? stats\n")
    got = run([BINARY, "stats", "-i", "new"], files, env=ENV, stdin=b"help stats\nhelp sort\n? stats\n")
    assert got.status == 0 and got.out.count("regular expression") == 2 and got.out != want.out, got
    assert "help COMMAND" in (REPO / "doc" / "pstats.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def one(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("one")
    subprocess.run([sys.executable, str(TARGETS / "profiled.py"), "new"], cwd=str(folder), check=True)
    done = run([BINARY, "stats", "new", "new", "-o", "out"], folder)
    assert done.status == 0, done
    return folder


def test_shell_on_a_terminal(one):
    """Completion, editing, history; and the terminal is as it was."""
    it = Terminal([BINARY, "stats", "-i", "new"], one)
    it.until(b"new% ")
    os.write(it.master, b"so\tti\t\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D\x1b[3~t\r")  # sort time, its t taken and typed again
    os.write(it.master, b"stats 1x\x7f\r")
    it.until(b"Ordered by: internal time")
    os.write(it.master, b"c\t\t")  # several: as far as they agree, then all
    it.until(b"callees  callers")
    os.write(it.master, b"\x15read o\t\r\x1b[A\x1b[A\x01\x1b[C\x03foo\r\x04")  # Ctrl-U; a file; two back, then Ctrl-C; Ctrl-D
    assert it.end() == 0
    text = it.text.decode()
    assert "List reduced from" in text and "<1>" in text
    assert "out% stats 1" in text and "^C" in text  # what two lines back was
    assert "*** Unknown syntax: foo" in text and text.rstrip().endswith("Goodbye.")


def test_what_is_no_stats_file(one):
    (one / "text").write_text("Just some words, and more of them.\n")
    (one / "lines.lprof").write_bytes(b"\x80\x04\x95" + bytes(60))
    (one / "cut").write_bytes((one / "new").read_bytes()[:999])
    (one / "empty").write_bytes(b"")
    words = {"text": "neither a stats file", "lines.lprof": "annotate reads those", "cut": "that is cut",
             "empty": "neither a stats file", "absent": "No such file"}
    for name, why in words.items():
        done = run([BINARY, "stats", name], one)
        assert done.status == 2 and not done.stdout and why in done.err and done.err.count("\n") == 1, done
        done = run([BINARY, "stats", "-i", "new"], one, stdin=("add %s\nread %s\nstats 1\n" % (name, name)).encode())
        assert done.status == 0 and done.out.count(why) == 2 and "List reduced" in done.out, done
    with open("/dev/full", "wb") as full:
        done = subprocess.run([str(BINARY), "stats", "new", "--limit", "1"], cwd=str(one), stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2 and b"No space left" in done.stderr
    golden = str(REPO / "tests" / "golden" / "v1.fah")
    want = run([BINARY, "summarize", golden], one)
    for arguments in ([golden], ["--file", golden], ["--file=" + golden]):  # of samples
        done = run([BINARY, "stats", *arguments], one)
        assert (done.status, done.out, done.err) == (0, want.out, want.err)
    done = run([BINARY, "stats", golden, "--callers"], one)
    assert done.status == 2 and "--callers is for calls" in done.err
    done = run([BINARY, "stats", "new", "--json"], one)
    assert done.status == 2 and "--json is for samples" in done.err


def test_captures_of_calls(one):
    """A capture of `calls` is as good as a stats file, also in a sum."""
    code = "def f():\n  return len('x')\nfor _ in range(7): f()"
    done = run([BINARY, "calls", "-o", "calls.fah", "--python", sys.executable, "-c", code], one)
    assert done.status == 0, done
    assert run([BINARY, "stats", "calls.fah", "-o", "calls.prof"], one).status == 0
    texts = [run([BINARY, "stats", name, "--callers", "--callees"], one) for name in ("calls.fah", "calls.prof")]
    assert [text.status for text in texts] == [0, 0]
    assert [text.out.split("\n", 1)[1] for text in texts] == [texts[0].out.split("\n", 1)[1]] * 2
    assert re.search(r"^ +7 .*<string>:1\(f\)$", texts[0].out, re.M), texts[0]
    both = run([BINARY, "stats", "calls.fah", "calls.prof", "--limit", r"\(f\)"], one)
    assert re.search(r"^ +14 .*<string>:1\(f\)$", both.out, re.M), both


@pytest.mark.parametrize("which", ["gprof2dot", "snakeviz", "tuna"])
def test_others_read_what_is_written(one, which):
    if subprocess.run([sys.executable, "-c", "import " + which], stderr=subprocess.DEVNULL).returncode != 0:
        pytest.skip("SKIP: no %s here; ./check --only setup installs it" % which)
    command = [sys.executable, "-m", "gprof2dot", "-f", "pstats", "-n", "0", "-e", "0"] if which == "gprof2dot" else \
        [sys.executable, str(CONSUMERS), which]
    done = [subprocess.run(command + [name], cwd=str(one), stdout=subprocess.PIPE) for name in ("new", "out")]
    assert done[0].returncode == done[1].returncode == 0
    assert b"fib" in done[1].stdout and b"sp" in done[1].stdout
    if which == "gprof2dot":  # the same graph; two runs of it in one have twice the calls
        assert done[0].stdout.count(b"->") == done[1].stdout.count(b"->") > 20
        assert b"187\xc3\x97" in done[0].stdout and b"374\xc3\x97" in done[1].stdout
