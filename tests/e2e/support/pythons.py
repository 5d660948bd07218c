"""The Pythons that tests run on: from tools/pythons, or from FAH_PYTHONS in the same form."""

import os
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import List, Tuple

REPO = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Python:
    name: str
    version: Tuple[int, ...]
    root: str  # "/", or the root file system that the path is in
    path: str  # as seen inside that root

    @property
    def foreign(self) -> bool:
        return self.root != "/"


def parse(text: str) -> List[Python]:
    found = []
    for line in text.splitlines():
        if not line.strip():
            continue
        name, version, root, path = line.split("\t")
        numbers = tuple(int(part) for part in version.split(".")[:3])
        found.append(Python(name, numbers, root, path))
    return found


@lru_cache(maxsize=None)
def available() -> Tuple[Python, ...]:
    """All of them. What is missing, tools/pythons says; where CI is set it fails."""
    text = os.environ.get("FAH_PYTHONS")
    if text is None:
        run = subprocess.run(
            [str(REPO / "tools" / "pythons")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
        )
        if run.returncode != 0:
            raise RuntimeError("tools/pythons: status %d\n%s" % (run.returncode, run.stderr))
        text = run.stdout
    found = parse(text)
    if not found:
        raise RuntimeError("no Python to test with: tools/pythons named none")
    return tuple(found)


@lru_cache(maxsize=None)
def versions() -> Tuple[Python, ...]:
    """Each minor version once: the system's, which is static, else the first. With FAH_FULL every build."""
    if os.environ.get("FAH_FULL"):
        return available()
    found = {}
    for python in available():
        if python.version[:2] not in found or python == system():
            found[python.version[:2]] = python
    return tuple(found.values())


@lru_cache(maxsize=None)
def with_jit() -> Tuple[Python, ...]:
    """Those that have CPython's own JIT built in, which PYTHON_JIT=1 switches on. What can't be entered has none."""
    ask = "import sys; sys.exit(not sys._jit.is_available())"
    found = []
    for python in available():
        command = [python.path, "-c", ask]
        if python.foreign:
            command = [str(REPO / "tools" / "in-root"), python.root] + command
        if python.version >= (3, 14) and subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0:
            found.append(python)
    return tuple(found)


def one_of_each_kind() -> Tuple[Python, ...]:
    """For tests that do not depend on the version: the oldest, the system's, the newest."""
    found = sorted(available(), key=lambda python: python.version)
    picked = [found[0], system() or found[len(found) // 2], found[-1]]
    return tuple(dict.fromkeys(picked))


def local() -> Tuple[Python, ...]:
    """The oldest, the system's and the newest of this machine's own root."""
    found = sorted((p for p in available() if not p.foreign), key=lambda python: python.version)
    return tuple(dict.fromkeys(filter(None, [found[0], system(), found[-1]]))) if found else ()


def of_each_way_to_be_told() -> Tuple[Python, ...]:
    """The oldest and the newest here: profile and trace functions, and sys.monitoring."""
    found = local()
    return tuple(dict.fromkeys([found[0], found[-1]])) if found else ()


def system():
    """Debian's own /usr/bin/python3, or None."""
    for python in available():
        if not python.foreign and python.path.startswith("/usr/bin/"):
            return python
    return None
