"""Shares that a run shows, and what the program's own clocks say, as observations with their chance.

Two ways, since they fail for different reasons. By the capture: the CPU of samples, each given to
the outermost unit on its stack, against the thread's CPU clock. By the report: what a user reads,
shares of wall time, against the wall clock.
"""

import json
import math
import os
import re
import subprocess
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Dict, List, Optional

from support import capture, report
from support.run import TARGETS, capture_of, environment, inspect, profile

FOLDER = TARGETS / "truth"
PERIOD = 0.004  # of the default clock: what CPU a run needs for so many samples
SYSTEM = 2
NATIVE = 1
RUNNING = 3  # mask of the kind of a sample
SYSTEM_PART = 128
IN_TREE = re.compile(r"^[\s│|]*[├└|`]+─*-*\s*(?P<name>\S.*?)\.{2,}\s*(?P<share>[\d.]+)%\s*$")

# on every Python also in the short form
EVERYWHERE = ("loops", "calls", "lines", "bytecode_lines", "pure_calls", "c_calls", "freeing")
SINCE = {"freeing": (3, 11)}  # programs whose truth older ones cannot be asked for
ELSEWHERE = (
    "holding",
    "dropping",
    "extension",
    "depths",
    "recursion",
    "faults",
    "syscalls",
    "periodic",
    "short_threads",
    "beginnings",
    "fifty_threads",
    "processes",
    "generators",
    "coroutines",
    "made_code",
)
# Points that a program may be off where the sampling itself leans, which no interval covers; what is
# found above that is a new defect. A clock that is bound to the kernel's tick sees work in step with
# the tick, by its own timers or because a busy kernel hands out cores at ticks, at one phase only.
# Threads of 3 ms have no other. (Where a tick finds them is chance, so `beginnings` is off by little; but where cores are
# handed out at ticks, threads begin there: 16 points were seen with ten programs a core. By a drawn time it was 24 anywhere.)
BOTH_CLOCKS = {"short_threads": 30.0, "beginnings": 18.0}
BOUND_TO_TICK = {"periodic": 60.0, **BOTH_CLOCKS}


@dataclass
class Truth:
    """What the program said of itself: its processes' words, added up."""

    units: Dict[str, dict]
    lines: Dict[str, float]
    cpu: float
    system: float
    words: List[dict]

    def word(self, name, default=None):
        for words in self.words:
            if name in words:
                return words[name]
        return default


def read(path: Path) -> Truth:
    words = [json.loads(line) for line in path.read_text().splitlines()]
    assert words, "the program said nothing to %s" % path
    units: Dict[str, dict] = {}
    lines: Dict[str, float] = {}
    for said in words:
        for name, entry in said["units"].items():
            into = units.setdefault(name, {"cpu": 0.0, "wall": 0.0, "system": 0.0, "with": []})
            for key in ("cpu", "wall", "system"):
                into[key] += entry[key]
            into["with"] += [other for other in entry["with"] if other not in into["with"]]
        for name, cpu in said["lines"].items():
            lines[name] = lines.get(name, 0.0) + cpu
    return Truth(
        units,
        lines,
        sum(said["cpu"] for said in words),
        sum(said["system"] for said in words),
        words,
    )


@dataclass
class Seen:
    """One share: shown and true, in parts of 1, and how many samples it rests on."""

    program: str
    python: str
    what: str
    shown: float
    true: float
    samples: float

    @property
    def error(self) -> float:
        return 100 * (self.shown - self.true)

    @property
    def z(self) -> float:
        """How far the share is from the truth, in the standard deviations of the interval that the
        report states: 1.96 at its ends. Exactly, the signed root of the deviance 2 n KL(shown ||
        true), for which P(|z| > x) <= 2 exp(-x^2 / 2) whatever n and the share are (Chernoff); a
        plain quotient has no such bound where a function has three samples."""
        return math.copysign(
            math.sqrt(2 * self.samples * divergence(self.shown, self.true)), self.shown - self.true
        )

    def nearer(self, room: float) -> "Seen":
        """The same with a truth that is nearer by as much as is allowed to be wrong."""
        away = self.shown - self.true
        return replace(self, true=self.true + math.copysign(min(room, abs(away)), away))

    def __str__(self):
        return "%s on %s, %s: shown %.2f %%, true %.2f %% (%.0f samples, z %.1f)" % (
            self.program,
            self.python,
            self.what,
            100 * self.shown,
            100 * self.true,
            self.samples,
            self.z,
        )


def divergence(p: float, q: float) -> float:
    """Kullback and Leibler's, of two coins."""
    p, q = min(max(p, 0.0), 1.0), min(max(q, 1e-12), 1 - 1e-12)
    both = ((p, q), (1 - p, 1 - q))
    return max(0.0, sum(a * math.log(a / b) for a, b in both if a > 0))


def limit(count: int, chance: float) -> float:
    """The |z| that the largest of so many observations exceeds with less than this chance."""
    return math.sqrt(2 * math.log(2 * count / chance))


def pearson_limit(freedom: float, chance: float) -> float:
    """What a chi squared exceeds with less than this chance (Laurent and Massart's bound)."""
    x = -math.log(chance)
    return freedom + 2 * math.sqrt(freedom * x) + 2 * x


def interval(share: float, samples: float) -> float:
    """Half the 95 % interval that the report states for a share, in parts of 1: Wilson's, the
    farther end. Written anew from its definition, not from the tool's code."""
    if samples <= 0:
        return 1.0
    z2 = 1.96 * 1.96
    centre = (share + z2 / (2 * samples)) / (1 + z2 / samples)
    wide = 1.96 * math.sqrt(share * (1 - share) / samples + z2 / (4 * samples**2))
    wide /= 1 + z2 / samples
    return max(centre + wide - share, share - (centre - wide))


@dataclass
class Run:
    program: str
    python: str
    truth: Truth
    capture: capture.Capture
    text: str  # the summary
    table: str  # the lines
    shares: List[Seen] = field(default_factory=list)  # functions, by the capture and the report
    lines: List[Seen] = field(default_factory=list)
    kinds: List[Seen] = field(default_factory=list)
    said: str = ""  # what `inspect` says of the capture, of programs that wait


def run(
    program: str, python, seconds: float, tmp_path: Path, env=None, options=(), **rest
) -> Run:
    """The program under the tool with these options, judged. rest: as for support.run.profile."""
    said = tmp_path / "truth.json"
    env = dict(env or {}, FAH_TRUTH=str(said))
    result = profile(
        python,
        [str(FOLDER / (program + ".py")), "%g" % seconds],
        tmp_path,
        options=options,
        env=env,
        **rest,
    )
    assert result.status == 0, result
    return judge(program, python.name, read(said), result)


def judge(program: str, python: str, truth: Truth, result) -> Run:
    folder = capture_of(result).parent
    it = Run(
        program,
        python,
        truth,
        capture.read(folder / "profile.fah"),
        (folder / "profile_summary.txt").read_text(encoding="utf-8"),
        (folder / "profile_results.txt").read_text(encoding="utf-8"),
    )
    it.shares = by_capture(it) + by_report(it)
    it.lines = by_line(it)
    it.kinds = by_kind(it)
    if truth.word("waits"):
        it.said = inspect(folder / "profile.fah").out
    return it


def leaning(it):
    """Those points, or None where chance alone is to blame."""
    bound = it.capture.meta["clock"] == "thread-cpu"
    return (BOUND_TO_TICK if bound else BOTH_CLOCKS).get(it.program)


def effective(weights) -> float:
    total = sum(weights)
    return total * total / sum(w * w for w in weights) if total else 0.0


def unit_of(it: Run, node: int) -> Optional[str]:
    """The outermost unit on a stack; remembered by node."""
    known = it.__dict__.setdefault("units_by_node", {0: None})
    if node not in known:
        parent, function, _line = it.capture.nodes[node]
        name = it.capture.functions[function].name
        known[node] = unit_of(it, parent) or (name if name in it.truth.units else None)
    return known[node]


def cpu_of_units(it: Run) -> Dict[str, float]:
    shown = dict.fromkeys(it.truth.units, 0.0)
    for _thread, _time, cpu, _flags, node in it.capture.samples:
        unit = unit_of(it, node)
        if unit:
            shown[unit] += cpu
    return shown


def by_capture(it: Run) -> List[Seen]:
    """CPU of the samples. Not where threads are so short that some have no sample: the report's
    model makes up for those, the bare samples don't."""
    if it.truth.word("threads") == "in turns":
        return []
    shown = cpu_of_units(it)
    weights = [sample[2] for sample in it.capture.samples]
    total, count = sum(weights), effective(weights)
    # What no unit has, start and end, is as little in both.
    true_total = sum(unit["cpu"] for unit in it.truth.units.values())
    units_total = sum(shown.values())
    return [
        Seen(
            it.program,
            it.python,
            name + " (CPU)",
            shown[name] / units_total,
            unit["cpu"] / true_total,
            count * units_total / total,
        )
        for name, unit in it.truth.units.items()
        if unit["cpu"] > 0.01 * true_total
    ]


def tree(text: str) -> Dict[str, float]:
    """`Functions by Module`: all functions of the report with their shares, in parts of 1."""
    found: Dict[str, float] = {}
    for line in report.ANSI.sub("", text).splitlines():
        match = IN_TREE.match(line)
        if match:
            name = match.group("name")
            found[name] = found.get(name, 0.0) + float(match.group("share")) / 100
    return found


def belongs(shown: str, unit: str, others: List[str]) -> bool:
    """A unit has its own functions' time: comprehensions (before 3.12), lambdas."""
    return shown in others or shown == unit or shown.startswith(unit + ".<locals>.")


def stated_samples(text: str) -> float:
    """How many equal samples would give the interval that the report states. On a machine without
    a core to spare few samples may stand for most of the time, and the report says so."""
    match = re.search(r"shares are known to ±([\d.]+) points", text)
    assert match, text
    return (98 / max(0.1, float(match.group(1)))) ** 2


def by_report(it: Run) -> List[Seen]:
    """Shares of wall time, of units that share no function with others."""
    if it.truth.word("shared"):
        return []
    # who sleeps all the time and finds no core when it awakes stands between two lines: whose that time is nobody knows
    without_core = re.search(r"[Nn]o core (\d+)%", it.text)
    if it.program == "periodic" and without_core and int(without_core.group(1)) > 20:
        return []
    shown_all = tree(it.text)
    wall = report.seconds(it.text, "Total Wall Time")
    count = min(stated_samples(it.text), effective([s[2] for s in it.capture.samples]))
    outside = it.truth.word("outside", ())  # charged to their callers
    shown = {
        name: sum(share for shown, share in shown_all.items() if belongs(shown, name, unit["with"]))
        for name, unit in it.truth.units.items()
        if name not in outside
    }
    if it.truth.word("threads"):
        # All want the GIL: whoever has it runs alone, so wall time is divided as the CPU is.
        # Threads in turns are short: what they want of a core no sample says.
        key, scale = "cpu", sum(unit["cpu"] for unit in it.truth.units.values())
        whole = sum(shown.values())
    else:
        key, scale, whole = "wall", wall, 1.0
    return [
        Seen(
            it.program,
            it.python,
            name + " (report)",
            shown[name] / whole,
            it.truth.units[name][key] / scale,
            count,
        )
        for name in shown
    ]


def marked_lines(program: str) -> Dict[int, str]:
    """The lines that have a truth, by number: those with the comment `line: NAME`."""
    text = (FOLDER / (program + ".py")).read_text().splitlines()
    found = {}
    for number, line in enumerate(text, 1):
        match = re.search(r"# line: (\w+)", line)
        if match:
            found[number] = match.group(1)
    return found


def by_line(it: Run) -> List[Seen]:
    """CPU of the innermost line of the program's file, of those that have a truth."""
    numbers = marked_lines(it.program)
    if not it.truth.lines:
        return []
    cpu = dict.fromkeys(numbers.values(), 0.0)
    weights = []
    file = it.program + ".py"
    for _thread, _time, spent, _flags, node in it.capture.samples:
        for function, line in it.capture.path(node):
            if os.path.basename(function.file) == file:
                if line in numbers:
                    cpu[numbers[line]] += spent
                    weights.append(spent)
                break
    whole, true = sum(cpu.values()), sum(it.truth.lines.values())
    return [
        Seen(
            it.program,
            it.python,
            "line " + name,
            cpu[name] / whole,
            it.truth.lines[name] / true,
            effective(weights),
        )
        for name in cpu
    ]


def by_kind(it: Run) -> List[Seen]:
    """Python, native and system of the processes, by CPU: system against rusage, and units that are
    native or Python by construction."""
    kinds = [0.0, 0.0, 0.0]
    by_unit: Dict[str, List[float]] = {}
    for (_thread, _time, cpu, flags, node), system in zip(it.capture.samples, it.capture.systems):
        kind = flags & RUNNING
        parts = by_unit.setdefault(unit_of(it, node) or "", [0.0, 0.0, 0.0])
        for into in (kinds, parts):
            into[SYSTEM] += system
            into[kind] += cpu - system
    weights = [sample[2] for sample in it.capture.samples]
    total, count = sum(weights), effective(weights)
    shown, all_system = kinds[SYSTEM] / total, it.truth.system / it.truth.cpu
    # rusage has the system calls of our handlers too, the samples only what the program did; and
    # it counts ticks, so both are samples.
    own = sum(one.handlers.sum for one in it.capture.health.values()) / 1e9 / it.truth.cpu
    true = max(min(shown, all_system), all_system - own)
    seen = [Seen(it.program, it.python, "system", shown, true, count / 2)]
    for word, kind in (("native", NATIVE), ("python", 0)):
        for name in it.truth.word(word, ()):
            parts = by_unit.get(name, [0.0, 0.0, 0.0])
            user = parts[0] + parts[NATIVE]
            if kind == 0 and sum(parts):
                whole, unit = sum(parts), it.truth.units[name]
                # Python that calls nothing has none of the kernel's; but whoever waits for the GIL asks for it
                # every 5 ms, which with fifty threads is a tenth. Each of those threads runs one unit alone, so
                # the kernel's own figures are the unit's; they count ticks, so both are samples.
                at_once = it.truth.word("threads") == "at once"
                seen.append(
                    Seen(
                        it.program,
                        it.python,
                        "user of " + name,
                        user / whole,
                        1 - unit["system"] / unit["cpu"] if at_once else 1.0,
                        count * whole / total / (2 if at_once else 1),
                    )
                )
            if user:
                seen.append(
                    Seen(
                        it.program,
                        it.python,
                        "%s of %s" % (word, name),
                        parts[kind] / user,
                        1.0,
                        count * user / total,
                    )
                )
    return seen


def waiting_lines() -> Dict[str, int]:
    """The lines of waits.py that wait, by what they wait for."""
    text = (FOLDER / "waits.py").read_text()
    found = re.findall(r"# wait: (.+)", text)
    return {name: text[: text.index("# wait: " + name)].count("\n") + 1 for name in found}


def wrong_waits(it: Run, stacks: bool, room: float) -> List[str]:
    """What the report says was waited, of what the program's own clock says, each within so many points
    of the wall time: by the summary, by line and by `inspect`. A thread that is woken may want a core
    for a while, which is no waiting: the kernel's count of that is taken off the least. Without
    stacks a lock cannot be told, and no line is known."""
    wall = report.seconds(it.text, "Total Wall Time")
    main = report.threads(it.said)[it.truth.words[0]["pid"]]
    truth = it.truth.word("waits")
    all_shown, shown = report.waited(it.text)
    rows = {row.line: row.waiting for row in report.rows(it.table)}
    lines = waiting_lines()
    wrong = []

    def judge(what, seen, true, more=0.0):
        if not true - main.no_core - room * wall <= seen <= true + more + room * wall:
            wrong.append("%s: %.3f s of %.3f" % (what, seen, true))

    judge("in all", all_shown * wall / 100, sum(truth.values()), wall - sum(truth.values()))
    judge("thread", main.waited, sum(truth.values()), wall - sum(truth.values()))
    for name, true in truth.items():
        told = name if stacks or name != "lock" else "unknown"
        # starting threads and a child is waiting too, for locks and a pipe; so are importing, and opening and
        # closing what is written, for the disk. The line has none of that
        more = wall if told in ("lock", "unknown", "pipe", "disk") else 0.0
        judge("summary, " + name, shown.get(told, 0.0) * wall / 100, true, more)
        judge("thread, " + name, main.reasons.get(told, 0.0), true, more)
        if stacks:
            judge("line, " + name, rows.get(lines[name], 0.0) * wall / 100, true)
    if abs(main.states - main.wall) > 0.01 * main.wall + 0.002:
        wrong.append("its states are %.3f s of %.3f" % (main.states, main.wall))
    return wrong


@lru_cache(maxsize=None)
def spin_library(folder: str) -> str:
    """The tests' own native library."""
    place = Path(folder) / "spin.so"
    subprocess.run(
        ["cc", "-O1", "-shared", "-fPIC", "-o", str(place), str(FOLDER / "spin.c")],
        check=True,
        env=environment(),
    )
    return str(place)
