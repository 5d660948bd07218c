"""What test_leaks.py says is lost, judged by another tool: memray has it live at the end too, at that line, as many bytes.

memray records every block, and what it lists when the program has ended is what was never given back. Each program of
test_leaks.py runs under both. Takes three minutes: only with --full.
"""

import json
import subprocess
import sys
from collections import defaultdict

import pytest
from support.run import BINARY, FULL, TIMEOUT, profile, run
from test_leaks import INNOCENT, LEAKING, LOOP

pytestmark = pytest.mark.skipif(not FULL, reason="SKIP: only with --full (FAH_FULL)")
SHARE = 0.02  # of a line's bytes: memray's own frames ask for some, and a collection may come a little later
SMALL = 300000  # bytes: less is not worth a word
INTERVALS = 2  # ours are 95 %: twice as wide is one in 10,000

# In a process of its own. What the program holds is held until memray has ended; arenas, which are mapped for
# Python's blocks, are not counted beside those.
RECORD = """
import sys

import memray

text, program, recording = open(sys.argv[1]).read(), {"__name__": "__main__"}, sys.argv[2]
code = compile(text.replace("time.sleep(0.005)", "pass"), sys.argv[1], "exec")
with memray.Tracker(recording, trace_python_allocators=True):
    exec(code, program)
"""
READ = """
import json, sys

import memray

live = []
for record in memray.FileReader(sys.argv[1]).get_leaked_allocation_records(merge_threads=True):
    lines = [line for _name, file, line in record.stack_trace() if file.endswith("/program.py")]
    if lines and record.allocator != memray.AllocatorType.MMAP:
        live.append((lines[0], record.size))
json.dump(live, sys.stdout)
"""


def live_by_memray(folder):
    """Bytes that were never given back, by line of the program."""
    recording = str(folder / "memray.bin")
    for text, args in ((RECORD, [str(folder / "program.py"), recording]), (READ, [recording])):
        done = subprocess.run([sys.executable, "-c", text, *args], stdout=subprocess.PIPE, timeout=TIMEOUT, check=True)
    out = defaultdict(int)
    for line, size in json.loads(done.stdout):
        out[line] += size
    return out


def live_by_us(python, folder):
    """The same with the half width of its interval; and the lines that are said to leak."""
    result = profile(python, ["program.py"], folder, options=("-q", "--memory", "--precision=10"))
    assert result.status == 0, result
    said = run([str(BINARY), "summarize", str(result.folder), "--json"], folder)
    lines = [
        line for line in json.loads(said.out)["heap"]["lines"] if line["file"].endswith("/program.py")
    ]
    live = {line["line"]: (line["live_bytes"], line["live_interval"]) for line in lines}
    return live, [line["line"] for line in lines if "leak_likelihood" in line]


def compare(python, folder, program):
    """Every line, and the lines that leak."""
    pytest.importorskip("memray", reason="SKIP: memray is not installed")
    (folder / "program.py").write_text(program.lstrip("\n") + LOOP, encoding="utf-8")
    ours, leaking = live_by_us(python, folder)
    referee = live_by_memray(folder)
    for line in set(ours) | set(referee):
        bytes_, interval = ours.get(line, (0, 0))
        allowed = SMALL + SHARE * referee[line] + INTERVALS * interval
        assert abs(bytes_ - referee[line]) <= allowed, (line, bytes_, interval, dict(referee))
    return leaking, referee


@pytest.mark.parametrize("name", LEAKING)
def test_lost(program, system_python, tmp_path, name):
    text = LEAKING[name].lstrip("\n")
    leaking, referee = compare(system_python, tmp_path, text)
    marked = [i + 1 for i, line in enumerate(text.splitlines()) if line.endswith("# lost")]
    assert set(marked) <= set(leaking)
    for line in leaking:
        assert referee[line] > SMALL, (line, dict(referee))


@pytest.mark.parametrize("name", INNOCENT)
def test_innocent(program, system_python, tmp_path, name):
    leaking, referee = compare(system_python, tmp_path, INNOCENT[name])
    assert not leaking, dict(referee)
