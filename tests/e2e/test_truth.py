"""Shares against the programs' own clocks (tests/targets/truth), all of them judged together.

What is asked of one share. A report states a 95 % interval, so one share in 20 may lie outside and
with hundreds of shares some will. So every share gives a z, its distance from the truth in standard
deviations of that interval (support/truth.py), and the limits are set for all programs, functions
and Pythons at once. Three tests share the chance of one false alarm in 10,000 runs equally:

  each      the largest |z| of N shares. P(|z| > x) <= 2 exp(-x^2 / 2), so by Bonferroni the limit is
            sqrt(2 ln(2 N / chance)): about 6 for 1,500 shares. Finds what is grossly wrong.
  pooled    the z of one function added up over the Pythons, by the root of their number: finds an
            error of half a standard deviation that is the same everywhere, which no single run shows.
  all       Pearson's chi squared over all runs (sum of (1 - p) z^2, one degree less than functions in
            each run), by Laurent and Massart's bound: finds intervals that are too narrow throughout.

Truth is taken in the very run, by CPU clocks, so a busy machine changes nothing; runs are as long in
CPU, not in wall time. What the shares are not independent in (they add up to 1, samples are spread more
evenly than by chance) makes the alarm rarer than said, never more frequent.

The short form has about 250 samples a run. FAH_FULL: 10,000 samples (40 s of CPU, at a rate that was
asked for) on the oldest, the system's and the newest Python, where moreover no share may be off by more
than 2 points, and no more of them by 1 than chance allows; on the others up to 1,000, at the rate that the
default budget allows.
"""

import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from bisect import bisect
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import parameter
from support import capture, pythons, report, truth
from support.pythons import REPO, Python
from support.run import FULL, capture_of, copy_tool, plain, profile, run, run_folder

CHANCE = 1e-4 / 3  # of a false alarm, for each of the three
TOLERANCE = 2.0  # points: lines, and the examples' functions that run for long at a time
NEIGHBOURS = 7.0  # points: lines of bytecode_lines from 3.14 on, as `help certainty` says
KINDS = 3.0  # points: Python, native and system
EVERYWHERE, ELSEWHERE, leaning = truth.EVERYWHERE, truth.ELSEWHERE, truth.leaning


def seconds(program, python):
    if not FULL:
        return 3.0 if program == "short_threads" else 1.0
    return 40.0 if python in pythons.one_of_each_kind() else 4.0


def cases():
    few = pythons.one_of_each_kind()
    for python in pythons.versions():
        for program in EVERYWHERE + ELSEWHERE:
            if python.version < truth.SINCE.get(program, ()):
                continue
            if FULL or program in EVERYWHERE or python in few:
                yield program, python


class Runs:
    """Every case once, two at a time, started when the first is asked for."""

    def __init__(self, top: Path):
        self.top, self.pool, self.started = top, ThreadPoolExecutor(2), {}
        self.library = truth.spin_library(str(top))

    def start(self):
        for program, python in cases():
            if not parameter(python).marks:
                self.started[program, python] = self.pool.submit(self.one, program, python)

    def one(self, program, python):
        """A line's truth may be the difference of two clocks. Where a machine that stood still makes that less than
        nothing, the run knows no truth, and is made again."""
        for attempt in range(3):
            it = self.attempt(program, python, self.top / ("%s-%s-%d" % (program, python.name, attempt)))
            if all(line.true > -0.02 for line in it.lines):
                break
        return it

    def attempt(self, program, python, folder):
        folder.mkdir()
        length = seconds(program, python)
        it = truth.run(
            program,
            python,
            length,
            folder,
            env={"FAH_TRUTH_LIBRARY": self.library},
            options=["--rate", "250"] if length >= 40 else [],
            timeout=2000,
        )
        shutil.rmtree(str(folder))
        return it

    def get(self, program, python):
        if not self.started:
            self.start()
        return self.started[program, python].result()

    def all(self):
        if not self.started:
            self.start()
        return [future.result() for future in self.started.values()]


@pytest.fixture(scope="module")
def runs(program):
    with tempfile.TemporaryDirectory() as top:
        os.chmod(top, 0o755)
        it = Runs(Path(top))
        yield it
        for future in it.started.values():
            future.cancel()
        it.pool.shutdown()


def pytest_generate_tests(metafunc):
    if "case" in metafunc.fixturenames:
        asked = {
            "test_lines": truth.marked_lines,
            # its samples stand for so unequal times that CPU and wall time differ
            "test_stated_interval": lambda name: name != "periodic",
        }.get(metafunc.function.__name__, lambda name: True)
        metafunc.parametrize(
            "case",
            [
                pytest.param(
                    (name, python), id=name + "-" + python.name, marks=parameter(python).marks
                )
                for name, python in cases()
                if asked(name)
            ],
        )


def is_long(it):
    return len(it.capture.samples) >= 9000


def too_far(seen, limit):
    return [str(one) for one in seen if abs(one.z) > limit]


def test_functions(runs, case):
    """Each share by itself: `each` above; never above 100 %; and 2 points at 10,000 samples."""
    it = runs.get(*case)
    count = 10 * sum(1 for _ in cases())  # no run has more shares than 10
    if leaning(it):
        wrong = [str(one) for one in it.shares if abs(one.error) > leaning(it)]
    else:
        wrong = too_far(it.shares, truth.limit(count, CHANCE))
        if is_long(it):
            wrong += [str(one) for one in it.shares if abs(one.error) > 2.0]
        elif it.program in EVERYWHERE and seconds(*case) >= 40:
            wrong.append("%d samples are too few to judge by" % len(it.capture.samples))
    assert not wrong, "\n".join(wrong) + "\n" + it.text
    shares = truth.tree(it.text)
    assert shares and max(shares.values()) <= 1 and sum(shares.values()) <= 1.001, it.text
    for name, part in it.truth.word("constructed", {}).items():
        # The clocks themselves, against what was built.
        whole = sum(unit["cpu"] for unit in it.truth.units.values())
        assert abs(it.truth.units[name]["cpu"] / whole - part) < 0.03, (name, it.truth)


def test_jointly(runs):
    """`pooled` and `all` above, over every program and Python."""
    everything = [it for it in runs.all() if not leaning(it)]
    by_unit = {}
    squares = freedom = 0.0
    for it in everything:
        by_cpu = [one for one in it.shares if one.what.endswith("(CPU)")]
        squares += sum((1 - one.true) * one.z**2 for one in by_cpu)
        freedom += max(0, len(by_cpu) - 1)
        for one in it.shares:
            by_unit.setdefault((one.program, one.what), []).append(one)
    pooled = {
        key: sum(one.z for one in seen) / math.sqrt(len(seen)) for key, seen in by_unit.items()
    }
    limit = truth.limit(len(pooled), CHANCE)
    wrong = [
        "%s %s: pooled z %.1f\n  %s" % (*key, z, "\n  ".join(map(str, by_unit[key])))
        for key, z in pooled.items()
        if abs(z) > limit
    ]
    assert not wrong, "\n".join(wrong)
    assert squares < truth.pearson_limit(freedom, CHANCE), (squares, freedom)
    # None of this may pass for want of something to judge.
    assert len(everything) > len(EVERYWHERE) and freedom > 2 * len(everything)


@pytest.mark.skipif(not FULL, reason="runs of 10,000 samples are for --full")
def test_one_point(runs):
    """At 10,000 samples shares are within 1 point, but for as many as chance must put beyond it: for a
    share of a quarter 1 point is 2.3 deviations. More than that, and something leans."""
    seen = [one for it in runs.all() if is_long(it) and not leaning(it) for one in it.shares]
    seen = [one for one in seen if one.what.endswith("(CPU)")]
    beyond = [one for one in seen if abs(one.error) > 1.0]
    expected = sum(
        math.erfc(0.01 / math.sqrt(one.true * (1 - one.true) / one.samples) / math.sqrt(2))
        for one in seen
        if 0 < one.true < 1
    )
    # P(Poisson(expected) >= n) <= exp(-expected) (e expected / n)^n, for n above it
    n = len(beyond)
    if n > expected:
        chance = math.exp(n - expected) * (expected / n) ** n
        assert chance > CHANCE, "%.1f expected:\n%s" % (expected, "\n".join(map(str, beyond)))
    assert len(seen) > 50
    assert statistics.median(abs(one.error) for one in seen) < 0.5


@pytest.mark.parametrize("name", ["periodic", "faults"])
def test_perf_clock_does_not_lean(program, some_python, name, tmp_path):
    """What the tick's phase hides from timers, and what follows long system calls, by perf's clock."""
    it = truth.run(name, some_python, 40.0 if FULL else 2.0, tmp_path, options=["--clock", "perf"])
    if it.capture.meta["clock"] != "perf":
        pytest.skip("SKIP: no perf events here: %s" % it.capture.meta["perf_refused"])
    by_cpu = [one for one in it.shares if one.what.endswith("(CPU)")]
    wrong = too_far(by_cpu, truth.limit(10 * 6, CHANCE))
    assert by_cpu and not wrong, "\n".join(wrong) + "\n" + it.text


def system_of(it):
    """The kernel's part of each unit, as shown."""
    parts = {}
    for (_thread, _time, cpu, flags, node), system in zip(it.capture.samples, it.capture.systems):
        if flags & truth.RUNNING == truth.SYSTEM:
            system = cpu
        of = parts.setdefault(truth.unit_of(it, node), [0, 0])
        of[0] += cpu
        of[1] += system
    return {unit: system / cpu for unit, (cpu, system) in parts.items()}


@pytest.mark.parametrize("options", [["--rate", "1000"], ["--clock", "perf"]], ids=["fast", "perf"])
def test_system_between_ticks(program, some_python, options, tmp_path):
    """Between ticks the kernel says its part as smoothed sums: system calls are system all the same, and what stands
    beside them, or beside page faults where samples are near enough to each other, is not."""
    for name in ("kernel", "syscalls"):
        (tmp_path / name).mkdir()
        it = truth.run(name, some_python, 2.0, tmp_path / name, options=options)
        if it.capture.meta["clock"] != "perf":
            pytest.skip("SKIP: no perf events here: %s" % it.capture.meta["perf_refused"])
        shown = system_of(it)
        for unit in it.truth.word("kernel", ()):
            assert shown[unit] > 0.9, (shown, it.table)
        if name == "syscalls" or options[0] == "--rate":
            assert shown["compute"] < 0.1, (shown, it.table)
        total = [one for one in it.kinds if one.what == "system"]
        assert abs(total[0].nearer(KINDS / 100).z) < truth.limit(100, CHANCE), total


def test_stated_interval(runs, case):
    """What the report says of its certainty is the interval that the samples give."""
    it = runs.get(*case)
    match = re.search(r"shares are known to ±([\d.]+) points", it.text)
    assert match, it.text
    samples = truth.effective([sample[2] for sample in it.capture.samples])
    # Of the part of the run that samples divide: at least what CPU there was.
    busy = min(1.0, it.truth.cpu / report.seconds(it.text, "Total Wall Time"))
    assert float(match.group(1)) > 80 * truth.interval(0.5, samples) * busy, (samples, it.text)


def test_lines(runs, case):
    """Lines of constructed shares: within 2 points, and chance."""
    it = runs.get(*case)
    limit = truth.limit(10 * sum(1 for _ in cases()), CHANCE)
    assert it.lines
    # A truth that is the difference of two clocks is known to a point or so itself, where cores are shared to several;
    # and no better than two such differences agree
    room = min(8.0, 400 * it.truth.word("known_to", 0.0) + 100 * it.truth.word("apart", 0.0))
    room += NEIGHBOURS if case[0] == "bytecode_lines" and case[1].version >= (3, 14) else TOLERANCE
    far = [one for one in it.lines if abs(one.error) > room]
    wrong = [str(one) for one in far if is_long(it) or abs(one.z) > limit]
    assert not wrong, "\n".join(wrong) + "\n" + it.table


def test_kinds(runs, case):
    """Python, native and system: units that are all one kind, and the process by rusage."""
    it = runs.get(*case)
    limit = truth.limit(10 * sum(1 for _ in cases()), CHANCE)
    wrong = []
    for one in it.kinds:
        if one.what == "system" and it.program == "periodic":
            continue  # the kernel's own count sees the ticks' phase only
        far = abs(one.nearer(KINDS / 100).z) > limit
        # plainly, where chance makes less of it: three deviations of the samples that judge it
        sure = is_long(it) and not leaning(it) and 300 / math.sqrt(max(1.0, 4 * one.samples)) < KINDS
        if far or (sure and abs(one.error) > KINDS):
            wrong.append(str(one))
    assert not wrong, "\n".join(wrong) + "\n" + it.table


def own_clocks(python, program, folder, turns, profiled):
    """CPU of each unit in a run of so many turns, by its own clocks; and by the samples, where profiled."""
    said = Path(folder) / "truth.json"
    env = {"FAH_TRUTH": str(said), "FAH_TRUTH_TURNS": str(turns)}
    script = [str(truth.FOLDER / (program + ".py"))]
    how = profile if profiled else plain
    result = how(python, script, Path(folder), env=env)
    assert result.status == 0, result
    words = truth.read(said)
    said.unlink()
    shown = truth.judge(program, python.name, words, result) if profiled else None
    return {name: unit["cpu"] for name, unit in words.units.items()}, shown


def slower(times):
    """Units whose least CPU with us is more than that without, and noise, explain."""
    wrong = []
    for unit in times[False][0]:
        without = sorted(run[unit] for run in times[False])
        least = min(run[unit] for run in times[True])
        noise = (statistics.median(without) - without[0]) / without[0]
        # 2 ms: less than one sample's worth
        if least > without[0] * (1 + max(0.06, 2 * noise)) + 0.002:
            wrong.append("%s: %.4f s, without us %.4f s" % (unit, least, without[0]))
    return wrong


def unlike(name, python, times, shown):
    """Units whose share of all samples is not that of the runs without us: 1 point, and chance."""
    by_samples = [truth.cpu_of_units(it) for it in shown]
    whole = sum(sum(one.values()) for one in by_samples)
    samples = sum(truth.effective([s[2] for s in it.capture.samples]) for it in shown)
    plain_whole = sum(sum(run.values()) for run in times[False])
    seen = [
        truth.Seen(
            name,
            python.name,
            unit + " (without us)",
            sum(cpu[unit] for cpu in by_samples) / whole,
            sum(run[unit] for run in times[False]) / plain_whole,
            samples,
        )
        for unit in times[False][0]
    ]
    return [str(one) for one in seen if abs(one.nearer(0.01).z) > truth.limit(100, CHANCE)]


@pytest.mark.parametrize("name, turns", [("loops", 25), ("calls", 160)])
def test_undisturbed(program, some_python, tmp_path, name, turns):
    """The program's own clocks say the same with us and without: in turns, the least of each, of more rounds where a
    busy machine makes them differ. And what we show is the truth of the runs without us. Counting a function's first
    calls takes some 3 ms, once, so units have to be long beside that."""
    times, shown, rounds = {False: [], True: []}, [], 12 if FULL else 5
    while len(shown) < rounds or (len(shown) < 4 * rounds and slower(times)):
        for profiled in (False, True) if len(shown) % 2 else (True, False):
            own, seen = own_clocks(some_python, name, tmp_path, turns, profiled)
            times[profiled].append(own)
            shown += [seen] if profiled else []
    wrong = slower(times) + unlike(name, some_python, times, shown)
    assert not wrong, (wrong, times)


BURN = "import os, sys; os.sched_setaffinity(0, [int(sys.argv[1])]); print(flush=True)\nwhile True: pass"


def test_crowded(program, some_python, tmp_path):
    """Four others on the same core, and a nap now and then: the wall time is where the program wanted that core, by
    its own clocks, not nobody's. (Of 61 % 16 were shown, and of 23 two.)"""
    core = min(os.sched_getaffinity(0))
    others = [
        subprocess.Popen([sys.executable, "-c", BURN, str(core)], stdout=subprocess.PIPE)
        for _ in range(4)
    ]
    try:
        for other in others:
            other.stdout.readline()
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, [core])
        try:
            it = truth.run("crowded", some_python, 4.0 if FULL else 1.5, tmp_path)
        finally:
            os.sched_setaffinity(0, before)
    finally:
        for other in others:
            other.kill()
            other.wait()
            other.stdout.close()
    by_report = [one for one in it.shares if one.what.endswith("(report)")]
    wrong = too_far([one.nearer(0.05) for one in by_report], truth.limit(100, CHANCE))
    assert by_report and not wrong, "\n".join(wrong) + "\n" + it.text
    true, shown = (sum(getattr(one, key) for one in by_report) for key in ("true", "shown"))
    # who wakes wants a core before it goes on, which no clock of the program's sees: the kernel does
    wanted = it.truth.word("wanted_a_core") / report.seconds(it.text, "Total Wall Time")
    assert true > 0.5 and true - 0.1 < shown < wanted + 0.02, (true, wanted, it.text)


def restricted(prefix, python, name, length=1.0):
    """The program below some other command, as the user that may do least, with nowhere to keep what is known of
    native code: all of it is read in the midst of the run."""
    with tempfile.TemporaryDirectory() as top:
        os.chmod(top, 0o755)
        binary = copy_tool(Path(top) / "tool")
        work = Path(top) / "work"
        shutil.copytree(str(truth.FOLDER), str(work))
        for path in [work, *work.iterdir()]:
            os.chown(str(path), 65534, 65534)
        said = work / "truth.json"
        command = [
            str(binary),
            "profile",
            "--python",
            python.path,
            str(work / (name + ".py")),
            str(length),
        ]
        result = run(prefix + command, work, env={"HOME": "/nonexistent", "FAH_TRUTH": str(said)})
        assert result.status == 0, result
        result.folder = run_folder(work / "performance")
        return truth.judge(name, python.name, truth.read(said), result)


SETTINGS = {
    "nobody": ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"],
    "refused": [sys.executable, str(REPO / "tests" / "e2e" / "support" / "refused.py")],
}


def anybody_may_run(python):
    path = Path(python.path).resolve()
    return all(folder.stat().st_mode & 1 for folder in [path, *path.parents])


@pytest.mark.skipif(os.getuid() != 0, reason="SKIP: only root can become nobody")
@pytest.mark.parametrize("name", ["loops", "holding", "calls", "generators", "faults", "lines"])
@pytest.mark.parametrize("setting", list(SETTINGS) + ["both"])
def test_restricted(program, local_python, setting, name):
    """As nobody, and where perf, ptrace and other processes' memory are refused: shares, lines and kinds are right."""
    if name not in ("holding", "lines") and local_python != pythons.system() and not FULL:
        pytest.skip("SKIP: that one on other Pythons than the system's is for --full")
    if setting != "refused" and not anybody_may_run(local_python):
        pytest.skip("SKIP: nobody may not run %s" % local_python.path)
    parts = SETTINGS.values() if setting == "both" else [SETTINGS[setting]]
    it = restricted([word for part in parts for word in part], local_python, name)
    assert len(it.capture.samples) > 100
    limit = truth.limit(10 * 12 * 18, CHANCE)
    wrong = too_far(it.shares, limit)
    wrong += too_far([one.nearer(TOLERANCE / 100) for one in it.lines], limit)
    wrong += too_far([one.nearer(KINDS / 100) for one in it.kinds], limit)
    assert it.kinds and (name != "lines" or it.lines)
    assert not wrong, "\n".join(wrong) + "\n" + it.text


WAITING = 3.2  # of which 1.2 s compute, start and end; and rounding to a percent
ROOM = TOLERANCE / 100 + 0.005


@pytest.fixture(scope="module")
def waiting(program):
    """waits.py on every Python. What waits needs no core, so many at once."""
    with tempfile.TemporaryDirectory() as top, ThreadPoolExecutor(6) as pool:

        def one(python):
            folder = Path(top) / python.name
            folder.mkdir()
            return truth.run("waits", python, WAITING, folder, env={"FAH_TRUTH_DISK": "1"})

        found = [python for python in pythons.versions() if not parameter(python).marks]
        yield {python: pool.submit(one, python) for python in found}


def test_waits(waiting, python):
    """Sleep, lock, socket, pipe, child and disk: summary, line table and `inspect`, by the program's clocks."""
    it = waiting[python].result()
    named = set(it.truth.word("waits")) - {"disk"}
    assert sorted(named) == ["child process", "lock", "pipe", "sleep", "socket"]
    assert sum(it.truth.word("waits").values()) > 0.6 * WAITING
    wrong = truth.wrong_waits(it, True, ROOM)
    assert not wrong, "\n".join(wrong) + "\n" + it.text + it.said + it.table


def test_waits_for_the_disk(waiting, python):
    """What the program neither ran nor wanted a core for, by the kernel, while it wrote and called fsync()."""
    it = waiting[python].result()
    if it.truth.word("no_disk"):
        pytest.skip("SKIP: fsync() returns at once in the folder of the tests")
    true = it.truth.word("waits")["disk"]
    wall = report.seconds(it.text, "Total Wall Time")
    main = report.threads(it.said)[it.truth.words[0]["pid"]]
    row = {row.line: row.waiting for row in report.rows(it.table)}[truth.waiting_lines()["disk"]]
    line, thread = row * wall / 100, main.reasons.get("disk", 0.0)
    # what was not in the machine's memory, such as modules, it waits for elsewhere
    assert true > 0.2 and abs(line - true) < ROOM * wall and thread > true - ROOM * wall, (
        true,
        line,
        it.said,
        it.table,
    )


@pytest.mark.skipif(os.getuid() != 0, reason="SKIP: only root can become nobody")
@pytest.mark.parametrize("setting", list(SETTINGS) + ["both"])
def test_restricted_waits(program, system_python, setting):
    """As nobody the same; where other processes' memory is refused, all but locks and lines."""
    parts = SETTINGS.values() if setting == "both" else [SETTINGS[setting]]
    it = restricted([word for part in parts for word in part], system_python, "waits", WAITING)
    wrong = truth.wrong_waits(it, setting == "nobody", ROOM)
    assert not wrong, "\n".join(wrong) + "\n" + it.text + it.said + it.table
    # looks go on while native code is read, which takes a fifth of a second
    assert int(it.capture.meta["waits_longest_ns"]) < 120e6, it.capture.meta


@pytest.mark.parametrize("shape", ["calls", "entries"])
def test_drops_are_not_systematic(program, python, shape, tmp_path):
    """What was dropped, by its time and the program's log, would not have changed a share: the
    shares of the samples kept are within 1 point of those of all."""
    it = truth.run(
        shape,
        python,
        20.0 if FULL else 2.0,
        tmp_path,
        env={"FAH_TRUTH_LOG": "1"},
        hz=5000,
    )
    log = it.truth.word("log")
    start = int(it.capture.meta["start_mono_ns"])
    begins = [begin for _name, begin, _end in log]

    def unit_at(time):
        index = bisect(begins, time + start) - 1
        name, _begin, end = log[index]
        return name if index >= 0 and time + start <= end else None

    kept = dict.fromkeys(it.truth.units, 0)
    lost = dict(kept)
    strange = 0
    for _thread, time, _cpu, _flags, node in it.capture.samples:
        unit = unit_at(time)
        if unit:
            kept[unit] += 1
            strange += truth.unit_of(it, node) not in (unit, None)
    for _thread, time, _reason, count, _cpu in it.capture.dropped_at:
        unit = unit_at(time)
        if unit:
            lost[unit] += count
    total, all_lost = sum(kept.values()), sum(lost.values())
    assert total > 2000, (kept, it.text)
    assert strange <= 1e-3 * total, "%d of %d samples are in another unit than their time" % (
        strange,
        total,
    )
    for unit in kept:
        before = 100 * (kept[unit] + lost[unit]) / (total + all_lost)
        assert abs(100 * kept[unit] / total - before) <= 1, (unit, kept, lost)
        if all_lost:
            # those dropped by themselves: 1 point, and the chance of so few
            one = truth.Seen(
                shape, python.name, unit, lost[unit] / all_lost, kept[unit] / total, all_lost
            )
            assert abs(one.nearer(0.01).z) <= truth.limit(100, CHANCE), (str(one), kept, lost)


def test_start_is_nobodys(program, some_python, tmp_path):
    """What the interpreter used before the program began is not in its first sample."""
    script = tmp_path / "late.py"
    script.write_text(
        "import time\nbegin = time.process_time()\nwhile time.process_time() < begin + 0.1: pass\n"
        "print(begin, time.process_time() - begin)\n"
    )
    result = profile(some_python, [script], tmp_path)
    before, own = map(float, result.out.split())
    used = sum(sample[2] for sample in capture.read(capture_of(result)).samples) / 1e9
    assert 0.05 < used < own + before / 2, (used, own, before)


def test_code_made_again(program, some_python, tmp_path):
    """Code that is made and dropped under one name, with its work on another line each time: the
    interpreter gives it the same addresses, and each of the four lines has its quarter."""
    script = tmp_path / "again.py"
    script.write_text(
        "import time\n"
        "SOURCE = 'end = time.thread_time() + 0.02\\n%swhile time.thread_time() < end: pass\\n'\n"
        "for turn in range(60):\n"
        "    exec(compile(SOURCE % ('\\n' * (turn % 4)), '<made>', 'exec'), {'time': time})\n"
    )
    it = capture.read(capture_of(profile(some_python, [script], tmp_path))).of_python()
    lines = dict.fromkeys(range(2, 6), 0)
    for _thread, _time, cpu, _flags, node in it.samples:
        for function, line in it.path(node)[:1]:
            if function.file == "<made>" and line > 1:
                lines[line] += cpu
    whole = sum(lines.values())
    assert whole > 0.8e9, lines
    assert all(abs(cpu / whole - 0.25) < 0.12 for cpu in lines.values()), lines


def held_against_timers(python, script, tmp_path, env=None, turns=False, scale=None):
    """An example's functions by its own wall clock, as the report shows them. With a scale: long enough that
    chance has no say."""
    args = [str(script), "--scale", str(scale or (1 if FULL else 0.4)), "--json"]
    result = profile(python, args, tmp_path, options=[], env=env)
    assert result.status == 0, result
    first, rest = result.out.split("\n", 1)
    timers = json.loads(first)
    wall = report.seconds(rest, "Total Wall Time")
    top = report.top(rest)
    samples = int(re.search(r"Samples: ([\d,]+)", rest).group(1).replace(",", ""))
    wrong = []
    for name, spent in timers["wall"].items():
        one = truth.Seen(
            script.stem,
            python.name,
            name,
            top[name].share / 100 if name in top else 0.0,
            spent / wall,
            samples,
        )
        # of 800 samples chance makes more of a third than those points: 6 of 40 runs had 2 to 3.5
        limit = truth.limit(100, CHANCE) if turns else 3
        if abs(one.error) > TOLERANCE and (scale or abs(one.z) > limit):
            wrong.append(str(one))
    assert not wrong, "%s\n%s\n%s" % ("\n".join(wrong), timers, rest)
    return top, timers


def numpy_python():
    """The Python that runs these tests has numpy (tests/requirements.txt); a system one will do."""
    for path in (sys.executable, "/usr/bin/python3", str(REPO / ".venv" / "bin" / "python3")):
        if (
            subprocess.call(
                [path, "-c", "import numpy"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            == 0
        ):
            return Python("numpy", sys.version_info[:3], "/", path)
    return None


ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def test_numpy(program, tmp_path):
    python = numpy_python()
    if python is None:
        pytest.skip("SKIP: no Python with numpy here")
    it = truth.run("arrays", python, 40.0 if FULL else 2.0, tmp_path, env=ONE_THREAD)
    wrong = too_far(it.shares, truth.limit(100, CHANCE))
    limit = truth.limit(100, CHANCE)
    wrong += too_far([one.nearer(KINDS / 100) for one in it.kinds if one.what != "system"], limit)
    assert not wrong, "\n".join(wrong) + "\n" + it.text


ADVANCED = REPO / "examples" / "advanced.py"
LONG = 7  # times 6 s: 10,000 samples, of which chance makes half a point


def test_advanced(program, tmp_path):
    python = numpy_python()
    if python is None:
        pytest.skip("SKIP: no Python with numpy here")
    # One thread: the example times itself by the wall clock.
    scale = LONG if FULL else None
    top, timers = held_against_timers(python, ADVANCED, tmp_path, env=ONE_THREAD, scale=scale)
    assert set(timers["wall"]) == {
        "matrix_operations",
        "monte_carlo_simulation",
        "statistical_analysis",
        "fourier_analysis",
        "recursive_computation",
        "data_serialization",
    }
    assert set(timers["wall"]) <= set(top)


@pytest.mark.skipif(not FULL, reason="40 s each")
def test_advanced_elsewhere(program, build, tmp_path):
    """With the numpy of other releases of Debian."""
    if not build.foreign or plain(build, ["-c", "import numpy"], tmp_path).status != 0:
        pytest.skip("no numpy of its own")
    held_against_timers(build, ADVANCED, tmp_path, env=ONE_THREAD, scale=LONG)


def test_basic(program, some_python, tmp_path):
    held_against_timers(some_python, REPO / "examples" / "basic.py", tmp_path, turns=True)
