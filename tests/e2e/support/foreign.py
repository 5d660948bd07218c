"""Children of other kinds, compiled from targets/foreign/hello.c; a small root for chroot."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import List, Optional

from support.run import TARGETS

SOURCE = TARGETS / "foreign" / "hello.c"
KINDS = {
    "glibc": ["gcc"],
    "glibc static": ["gcc", "-static"],
    "glibc static-pie": ["gcc", "-static-pie"],
    "musl": ["musl-gcc"],
    "musl static": ["musl-gcc", "-static"],
    "asan": ["gcc", "-fsanitize=address"],
    "i386": ["gcc", "-m32"],
    "i386 static": ["gcc", "-m32", "-static"],
    "no pie": ["gcc", "-no-pie"],
}


def build(kind: str, folder: Path) -> Optional[str]:
    """The path of the program, or None where this machine cannot build it."""
    path = folder / ("hello-" + kind.replace(" ", "-"))
    command = KINDS[kind] + ["-o", str(path), str(SOURCE)]
    if not path.exists():
        if shutil.which(command[0]) is None:
            return None
        if subprocess.call(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) != 0:
            return None
    return str(path)


def libraries(program: str) -> List[str]:
    """What a dynamic glibc program needs, its loader included."""
    out = subprocess.run(["ldd", program], stdout=subprocess.PIPE, universal_newlines=True).stdout
    return re.findall(r"(/\S+) \(0x", out)


def small_root(folder: Path, programs: List[str]) -> Path:
    """A root file system with these programs in /bin and nothing else."""
    root = folder / "root"
    (root / "bin").mkdir(parents=True)
    for program in programs:
        shutil.copy(program, root / "bin" / os.path.basename(program))
        for library in libraries(program):
            place = root / library.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, place)
    return root
