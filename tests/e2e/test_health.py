"""What recording costs, as the capture and `inspect --health` say; and a budget that is kept."""

import itertools
import math
import re

from support import capture
from support.run import capture_of, inspect, profile

# Two functions that share the CPU three to one, by the thread's own clock.
SHARES = """
import sys, time

def large(end):
    while time.thread_time() < end:
        pass

def small(end):
    while time.thread_time() < end:
        pass

for turn in range(int(sys.argv[1])):
    large(time.thread_time() + 0.0075)
    small(time.thread_time() + 0.0025)
print("done")
"""


def run(python, folder, turns, hz, options=()):
    script = folder / "shares.py"
    script.write_text(SHARES)
    result = profile(python, [str(script), str(turns)], folder, options=options, hz=hz)
    assert result.status == 0 and "done" in result.out, result
    return result, capture.read(capture_of(result))


def seconds(it, name):
    """CPU of the samples inside that function, and of all; and how many samples that is worth."""
    inside = total = squares = 0
    for _thread, _time, cpu, _flags, node in it.samples:
        total += cpu
        squares += cpu * cpu
        if any(function.name == name for function, _line in it.path(node)):
            inside += cpu
    return inside, total, total * total / squares


def test_health_adds_up(program, some_python, tmp_path):
    result, it = run(some_python, tmp_path, 60, 1000)
    (health,) = it.health.values()
    taken = it.agent_samples + sum(it.agent_drops.values())
    for hist in (health.handlers, health.gaps):
        count = sum(hist.buckets)
        assert 0 <= hist.max <= hist.sum <= count * hist.max, hist
        # the sum lies between what the buckets allow
        low = sum(n * capture.bucket_from(i) for i, n in enumerate(hist.buckets))
        assert low <= hist.sum, (low, hist)
        last = max(i for i, n in enumerate(hist.buckets) if n)
        assert hist.max >= capture.bucket_from(last), hist
    assert sum(health.handlers.buckets) == taken, (health, taken)
    assert taken - sum(health.gaps.buckets) <= len(it.threads), "one a thread has none before it"
    assert health.handlers.sum > taken * 1000, "a sample in less than a microsecond"
    assert health.intervals == taken * 1_000_000, health
    assert int(it.meta["collector_cpu_ns"]) > 100_000

    said = inspect(capture_of(result), "--health")
    assert said.status == 0, said
    found = re.search(r"Handlers ([\d,]+): half within ([\d.]+) us, .*, longest ([\d.]+) us", said.out)
    assert found, said
    assert int(found[1].replace(",", "")) == taken
    assert abs(float(found[3]) - health.handlers.max / 1000) < 0.06
    half, seen = float(found[2]) * 1000, 0
    for i, n in enumerate(health.handlers.buckets):
        seen += n
        if seen * 2 >= taken:
            assert capture.bucket_from(i) - 100 <= half <= capture.bucket_from(i + 1) + 100, (half, i)
            break
    cost = re.search(
        r"^Cost +([\d.]+)% of a core: ([\d.]+)% in the program's handlers(?:, ([\d.]+)% in counting calls)?"
        r", ([\d.]+)% in the profiler",
        said.out,
        re.M,
    )
    assert cost and abs(float(cost[1]) - sum(float(part or 0) for part in cost.groups()[1:])) < 0.025, said
    assert (cost[3] is not None) == (some_python.version >= (3, 12)), said
    assert "Budget" not in said.out and "lowered" not in result.out


def test_budget_is_kept(program, some_python, tmp_path):
    """At 5 kHz samples take several percent; half a percent is granted for all."""
    (tmp_path / "free").mkdir()
    _, free = run(some_python, tmp_path / "free", 100, 5000)
    (tmp_path / "kept").mkdir()
    result, kept = run(some_python, tmp_path / "kept", 300, 5000, options=["--budget", "0.5"])
    (health,) = kept.health.values()
    # by the interval in force, whatever the machine left of the cores
    assert health.intervals > 3 * 200_000 * sum(health.handlers.buckets), health
    # of a core: the clock of the tests goes on while the thread has none. The first samples are
    # taken before it is known what they cost
    assert health.handlers.sum <= 0.006 * kept.wall_ns, (health.handlers.sum, kept.wall_ns)
    assert sum(hist.handlers.sum for hist in free.health.values()) > 0.006 * free.wall_ns
    said = re.search(r"rate\s+lowered\s+to\s+([\d.,]+)\s+Hz\s+to\s+stay\s+within\s+the\s+budget\s+of\s+0.50%", result.out)
    assert said and float(said[1].replace(",", "")) < 2500, result.out
    assert re.search(r"^Budget +0.50% of a core; rate lowered", inspect(capture_of(result), "--health").out, re.M)
    # fewer samples, but what each stands for is its CPU: the shares are right
    inside, total, worth = seconds(kept, "large")
    assert worth > 30, worth
    sigma = math.sqrt(0.75 * 0.25 / worth)
    assert abs(inside / total - 0.75) < 4 * sigma + 0.01, (inside / total, worth)


# Calls all the time, and functions that are new all the time.
CALLS = """
import sys, time

def leaf(x):
    return x + 1

def calls(n):
    for x in range(n):
        leaf(x)

end = time.thread_time() + float(sys.argv[1])
while time.thread_time() < end:
    calls(3000)
    new = {"leaf": leaf}
    exec("def new(x): return leaf(x)", new)
    for x in range(100):
        new["new"](x)
"""


def test_a_budget_holds_for_counting_too(program, python, tmp_path):
    """Calls are counted for half of what was granted at most; samples have the rest."""
    if python.version < (3, 12):
        return  # nothing is counted
    (tmp_path / "calls.py").write_text(CALLS)

    def counting(options):
        """What part of its CPU that took."""
        folder = tmp_path / ("with%s" % "".join(options))
        folder.mkdir()
        result = profile(python, [str(tmp_path / "calls.py"), "1.5"], folder, options=options)
        it = capture.read(capture_of(result))
        (health,) = it.health.values()
        return health.told / sum(cpu for _thread, _time, cpu, *_ in it.samples)

    free, kept = counting([]), counting(["--budget", "0.4"])
    assert kept < 0.002 * 1.2 < free / 2, (kept, free)


def test_default_budget(program, system_python, tmp_path):
    """Nobody asked for a rate: all samples for some seconds, then no more than 1 % for all. The work
    needs deep stacks, which take longest to read."""
    script = tmp_path / "deep.py"
    script.write_text(
        "import sys, time\n"
        "def deep(n):\n"
        "    if n: return deep(n - 1)\n"
        "    end = time.thread_time() + 0.01\n"
        "    while time.thread_time() < end: pass\n"
        "end = time.thread_time() + float(sys.argv[1])\n"
        "while time.thread_time() < end: deep(500)\n"
    )

    def within(it, begin, end):
        """Samples of that part of the CPU."""
        used = list(itertools.accumulate(cpu for _thread, _time, cpu, *_ in it.samples))
        return sum(begin < cpu <= end for cpu in used)

    def taken(options, seconds):
        folder = tmp_path / ("of %d" % seconds)
        folder.mkdir()
        result = profile(system_python, [str(script), str(seconds)], folder, options=options)
        assert result.status == 0, result
        return result, capture.read(capture_of(result))

    result, it = taken([], 7)
    (health,) = it.health.values()
    begin, end = within(it, 0, 1e9), within(it, 5e9, 7e9)
    assert begin > 150, begin
    lowered = re.search(r"rate\s+lowered\s+to\s+([\d.]+)\s+Hz", result.out)
    usual = health.handlers.sum / sum(health.handlers.buckets)
    if 250 * usual > 0.011e9:  # what the rate would cost, in ns a second
        assert lowered and end < 0.8 * 2 * begin, (begin, end, usual)
        assert end * usual < 0.013 * 2e9, (end, usual)
        assert "by default" in inspect(capture_of(result), "--health").out
    elif 250 * usual < 0.005e9:
        assert not lowered, (usual, result.out)
    # a rate that was asked for is kept
    result, it = taken(["--rate", "250"], 4)
    assert "lowered" not in result.out, result.out
    assert within(it, 2e9, 4e9) > 300


def test_budget_that_is_none(program, local_python, tmp_path):
    for value in ("much", "", "-1", "0", "0.001", "101", "1%%", "nan"):
        result = profile(local_python, ["x.py"], tmp_path, options=["--budget", value])
        assert result.status == 2, result
        assert "--budget %s is no percentage" % value in result.err, result
    for value in ("1", "0.5%", "100"):
        result = profile(local_python, ["--code", "pass"], tmp_path, options=["-q", "--budget", value])
        assert result.status == 0, result
