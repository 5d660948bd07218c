"""Libraries that the tests make: of C; of known calls (tests/targets/languages.cc and .rs), and the program of those."""

import subprocess
from pathlib import Path
from typing import Iterable, List, Set, Tuple

from support.run import TARGETS

CXX = {
    "frame pointers": ["-O2", "-fno-omit-frame-pointer"],
    "none": ["-O2", "-fomit-frame-pointer"],
    "debug information": ["-O2", "-g"],
    "stripped": ["-O2", "-s", "-fvisibility=hidden"],
}
# What through() calls, from Python's frame on: Rust, which calls C++.
IN_RUST = ["rust_chain", "languages::demo::outer::<u32>", "languages::demo::spin"]
IN_CXX = IN_RUST[:2] + ["cxx_chain", "shapes::Walker::walk", "shapes::spin<long>"]


def build_c(path: Path, sources: Iterable[str], *options: str) -> str:
    """Of tests/targets; it can be loaded beside older C libraries. Returns where it is."""
    command = ["cc", "-include", str(TARGETS / "any_glibc.h"), *options, "-shared", "-fPIC", "-o", str(path)]
    subprocess.run([*command, *(str(TARGETS / name) for name in sources), "-lpthread"], check=True)
    return str(path)


def build_cxx(folder: Path, how: str) -> Path:
    """The C++ runtime is in it: other roots may have an older one."""
    path = folder / ("libcxx-%s.so" % how.replace(" ", "-"))
    command = ["g++", "-shared", "-fPIC", "-static-libstdc++", "-static-libgcc", *CXX[how]]
    subprocess.run([*command, "-o", str(path), str(TARGETS / "languages.cc")], check=True)
    return path


def build_rust(folder: Path) -> Path:
    path = folder / "librust.so"
    command = ["rustc", "--crate-type", "cdylib", "--crate-name", "languages", "-O", "-Csymbol-mangling-version=v0"]
    subprocess.run([*command, "-o", str(path), str(TARGETS / "languages.rs")], check=True)
    return path


def script(cxx: Path, rust: Path, seconds: float) -> str:
    """languages.py as a program that needs no arguments."""
    words = [str(cxx), str(rust), str(seconds)]
    return "import sys\nsys.argv[1:] = %r\n" % words + (TARGETS / "languages.py").read_text()


def in_native_code(stacks: Iterable[List[str]], function: str = "through") -> Set[Tuple[str, ...]]:
    """What of their functions stands below that one where one of the two that work is innermost. Names have no brackets."""
    found = set()
    for names in stacks:
        if function in names and names[-1] in (IN_RUST[-1], IN_CXX[-1]):
            below = names[names.index(function) :]
            found.add(tuple(n for n in below if n in IN_RUST + IN_CXX))
    return found


def do_not_load(result) -> bool:
    """Built here, they may need a newer C library than another root has."""
    return result.status == 1 and b"`GLIBC_" in result.stderr
