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
    source: str

    @property
    def total(self) -> float:
        return self.python + self.native + self.system


def rows(text: str) -> List[Row]:
    """The rows of the line tables that have a number."""
    found = []
    for line in ANSI.sub("", text).splitlines():
        cells = re.split(r"[│|]", line, maxsplit=4)
        if len(cells) == 5 and cells[0].strip().isdigit():
            shares = [float(cell.strip().rstrip("%").lstrip("<") or 0) for cell in cells[1:4]]
            found.append(Row(int(cells[0]), *shares, source=cells[4]))
    return found


def width(text: str) -> int:
    """Columns on a terminal."""
    total = 0
    for char in ANSI.sub("", text):
        if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
            continue
        total += 2 if unicodedata.east_asian_width(char) in "WF" else 1
    return total
