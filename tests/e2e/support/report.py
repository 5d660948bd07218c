"""Reading a report as a person does: the summary's lists, the line table's columns."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Dict, List

RANKED = re.compile(
    r"^\s*\d+\.\s+(?P<name>\S.*?)\s+(?P<share>[\d.]+)%\s+\((?P<file>.*):(?P<line>\d+)\)\s*$", re.M
)
ANSI = re.compile(r"\x1b\[[0-9;]*m")
COUNTED = re.compile(r"^Samples: ([\d,]+)", re.M)


@dataclass
class Ranked:
    name: str
    share: float
    file: str
    line: int


def top(text: str) -> Dict[str, Ranked]:
    """The `Top N Functions by Total Runtime`."""
    found = {}
    for match in RANKED.finditer(ANSI.sub("", text)):
        entry = Ranked(
            match.group("name"),
            float(match.group("share")),
            match.group("file"),
            int(match.group("line")),
        )
        found[entry.name] = entry
    return found


def seconds(text: str, label: str) -> float:
    match = re.search(re.escape(label) + r"\D*?([\d.]+)\s*(ms|s|seconds)\b", text)
    assert match, "no %r in\n%s" % (label, text)
    return float(match.group(1)) / (1000 if match.group(2) == "ms" else 1)


@dataclass
class Row:
    line: int
    python: float
    native: float
    system: float
    waiting: float  # 0 where the table has no such column
    source: str

    @property
    def total(self) -> float:
        return self.python + self.native + self.system


def rows(text: str) -> List[Row]:
    """The rows of the line tables that have a number."""
    found, columns = [], 4
    for line in ANSI.sub("", text).splitlines():
        cells = [cell.strip() for cell in re.split(r"[│|]", line)]
        if cells[0] == "Line":
            columns = 5 if cells[4] == "waiting" else 4
        cells = re.split(r"[│|]", line, maxsplit=columns)
        if len(cells) == columns + 1 and cells[0].strip().isdigit():
            shares = [float(cell.strip().rstrip("%").lstrip("<") or 0) for cell in cells[1:columns]]
            found.append(Row(int(cells[0]), *(shares + [0.0])[:4], source=cells[columns]))
    return found


WAITED = re.compile(r"Waited (\d+)% \(([^)]*)\)")
REASON = re.compile(r"([A-Za-z][A-Za-z ]*) ([\d.]+)")


def reasons(text: str) -> Dict[str, float]:
    """`socket 30, GIL 11`: what was waited for."""
    return {name: float(number) for name, number in REASON.findall(text)}


def waited(text: str):
    """The summary's line: percent of the wall time, in all and by reason."""
    match = WAITED.search(" ".join(ANSI.sub("", text).split()))
    return (float(match.group(1)), reasons(match.group(2))) if match else (0.0, {})


@dataclass
class Thread:
    tid: int
    name: str
    wall: float
    cpu: float
    no_core: float
    waited: float
    reasons: Dict[str, float]

    @property
    def states(self) -> float:
        return self.cpu + self.no_core + self.waited


THREAD = re.compile(
    r"^ +(\d+)  (\S.*?) +([\d.]+)s +([\d.]+)s +([\d.]+)s +([\d.]+)s(?:  (.*))?$", re.M
)


def threads(text: str) -> Dict[int, Thread]:
    """The threads that `inspect` lists, by id."""
    found = {}
    for match in THREAD.finditer(text):
        tid, name, *seconds = match.groups()[:6]
        found[int(tid)] = Thread(
            int(tid), name, *map(float, seconds), reasons=reasons(match.group(7) or "")
        )
    return found


def width(text: str) -> int:
    """Columns on a terminal."""
    total = 0
    for char in ANSI.sub("", text):
        if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
            continue
        total += 2 if unicodedata.east_asian_width(char) in "WF" else 1
    return total
