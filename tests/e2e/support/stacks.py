"""Is every recorded stack one that the program can have had?

The victims in tests/targets say of each function who may call it (see victim.py); code made at run
time carries its number in its file name and its functions' names. A stack with a pair that
cannot be, a line outside its function, or a wrong outermost frame is impossible.
"""

import ast
import re
from functools import lru_cache
from pathlib import Path
from typing import Dict, List, Optional, Set, Tuple

from support.capture import TRUNCATED, Capture, Function
from support.run import TARGETS

FROM = re.compile(r"#\s*from:\s*(.*)$")
MADE = re.compile(r"(?:<made-(\d+)>|made_(\d+)\.py)$")
# Outermost frames that are the interpreter's own doing: names, or all of a file, that its C code
# calls: a thread's start, the interpreter's end, a sub-interpreter's start, weak references.
ROOTS = {"_bootstrap": "threading.py", "_shutdown": "threading.py", "_python_exit": "thread.py"}
ROOT_FILES = (
    "<frozen importlib._bootstrap>",
    "<frozen importlib._bootstrap_external>",
    "/codecs.py",
    "<frozen codecs>",
    "/encodings/__init__.py",
    "/encodings/utf_8.py",
    "/_weakrefset.py",
)
# Who may call a function of numbered code, by its name without the number.
MADE_PAIRS = {
    "outer": {"call_made", "call_outer", "<module>"},
    "middle": {"outer"},
    "inner": {"middle", "method", "<genexpr>"},
    "method": {"call_method"},
    "Holder": {"<module>"},
    "<genexpr>": {"outer"},
}


LIBRARY_ROOT = " outermost, in the middle of the run"


class Rules:
    """What one victim's comments allow."""

    def __init__(self, source: str):
        self.callers: Dict[int, Set[str]] = {}
        self.ends: Dict[Tuple[str, int], int] = {}
        for number, line in enumerate(source.splitlines(), 1):
            match = FROM.search(line)
            if match:
                self.callers[number] = {part.strip() for part in match.group(1).split(",")}
        names = {
            ast.Lambda: "<lambda>",
            ast.GeneratorExp: "<genexpr>",
            ast.ListComp: "<listcomp>",
            ast.SetComp: "<setcomp>",
            ast.DictComp: "<dictcomp>",
        }
        self.length = len(source.splitlines())
        for node in ast.walk(ast.parse(source)):
            name = (
                getattr(node, "name", None)
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
                else names.get(type(node))
            )
            if name:
                key = (name, node.lineno)
                self.ends[key] = max(node.end_lineno, self.ends.get(key, 0))

    def unannotated(self) -> List[Tuple[str, int]]:
        return sorted(key for key in self.ends if key[1] not in self.callers)


@lru_cache(maxsize=None)
def rules_of(path: str) -> Rules:
    return Rules(Path(path).read_text())


def victim_of(file: str) -> Optional[str]:
    """The victim's source, where the function is one of a victim's."""
    path = Path(file)
    return str(path) if path.parent == TARGETS and path.suffix == ".py" else None


def matches(allowed: Set[str], caller: Function, same_file: bool) -> bool:
    if "any" in allowed or (same_file and caller.name in allowed):
        return True
    return any(
        rule in allowed
        for rule in ("%s@%s" % (caller.name, Path(caller.file).name), "%s@*" % caller.name)
    )


def made_number(function: Function) -> Optional[str]:
    match = MADE.search(function.file)
    return match and (match.group(1) or match.group(2))


def check_made(function: Function, number: str, caller: Optional[Function]) -> Optional[str]:
    """Numbered code: one number in the file's name, the function's name and the caller's."""
    stem, _, suffix = function.name.rpartition("_")
    if function.name == "<module>":
        return None
    if function.name == "<genexpr>":
        stem = "<genexpr>"
    elif suffix != number:
        return "%s in %s" % (function.name, function.file)
    if caller is None:
        return "%s outermost" % function.name
    name = caller.name
    if made_number(caller) is not None:
        if made_number(caller) != number:
            return "%s of %s called by %s of %s" % (function.name, function.file, name, caller.file)
        name = name.rpartition("_")[0] or name
    if name not in MADE_PAIRS.get(stem, ()):
        return "%s called by %s" % (function.name, caller.name)
    return None


def check_frame(function: Function, line: int, caller: Optional[Function]) -> Optional[str]:
    number = made_number(function)
    if number is not None:
        return check_made(function, number, caller)
    victim = victim_of(function.file)
    if victim is None:
        if caller is None and function.name != "<module>":
            place = ROOTS.get(function.name)
            ours = place is not None and function.file.endswith(place)
            if not ours and not function.file.endswith(ROOT_FILES):
                return "%s (%s)%s" % (function.name, function.file, LIBRARY_ROOT)
        return None
    rules = rules_of(victim)
    if function.name == "<module>":
        if not 0 <= line <= rules.length:
            return "line %d of a file of %d" % (line, rules.length)
        return None
    end = rules.ends.get((function.name, function.first_line))
    if end is None:
        return "no function %s at line %d of %s" % (function.name, function.first_line, victim)
    if line and not function.first_line <= line <= end:
        return "%s: line %d outside %d-%d" % (function.name, line, function.first_line, end)
    allowed = rules.callers.get(function.first_line, set())
    if caller is None:
        return None if allowed & {"root", "any"} else "%s outermost" % function.name
    if not matches(allowed, caller, caller.file == function.file):
        return "%s called by %s (%s)" % (function.name, caller.name, caller.file)
    return None


def impossible(capture: Capture) -> List[str]:
    """Every stack that cannot be, in words; empty is what the tests want."""
    capture = capture.of_python()
    verdicts: Dict[Tuple[int, bool], Optional[str]] = {}

    def verdict(node: int, whole: bool) -> Optional[str]:
        chain = []
        while node and (node, whole) not in verdicts:
            chain.append(node)
            node = capture.nodes[node][0]
        bad = verdicts.get((node, whole)) if node else None
        for node in reversed(chain):
            parent, function, line = capture.nodes[node]
            if bad is None and (parent or whole):
                caller = capture.functions[capture.nodes[parent][1]] if parent else None
                bad = check_frame(capture.functions[function], line, caller)
            verdicts[node, whole] = bad
        return bad

    ends = last_of_program(capture)
    # Interpreters that come and go have their ends in the middle of the run.
    many = any(f.file.endswith("/targets/interpreters.py") for f in capture.functions[1:])
    found: Dict[str, int] = {}
    for thread, time, _cpu, flags, node in capture.samples:
        bad = verdict(node, not flags & TRUNCATED)
        over = many or time > ends.get(capture.threads[thread][0], 0)
        if bad and bad.endswith(LIBRARY_ROOT) and over:
            continue  # the interpreter's end: exit functions and finalisers have no caller
        if bad:
            text = "%s: %s" % (bad, show(capture, node))
            found[text] = found.get(text, 0) + 1
    return [
        "%d x %s" % (count, text)
        for text, count in sorted(found.items(), key=lambda item: -item[1])
    ]


def last_of_program(capture: Capture) -> Dict[int, int]:
    """By process: the time of the last sample of the program's own code."""
    roots = [""]  # by node: the outermost function's name
    for parent, function, _line in capture.nodes[1:]:
        roots.append(roots[parent] or capture.functions[function].name)
    ends: Dict[int, int] = {}
    for thread, time, _cpu, _flags, node in capture.samples:
        if roots[node] == "<module>":
            process = capture.threads[thread][0]
            ends[process] = max(time, ends.get(process, 0))
    return ends


def show(capture: Capture, node: int) -> str:
    frames = capture.path(node)
    text = ["%s:%d" % (function.name, line) for function, line in frames[:6]]
    return " < ".join(text + (["... %s" % frames[-1][0].name] if len(frames) > 6 else []))
