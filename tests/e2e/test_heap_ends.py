"""Memory, where the program does not end as it should: what it held is there."""

import os
import subprocess
from pathlib import Path

import pytest
from support import capture
from support.heap import Memory
from support.run import capture_of, plain, profile, profile_command
from test_same_behaviour import script

MEMORY = ["-q", "--memory"]

KILLED = """
import os, signal

kept = [bytes(1000003) for _ in range(150)]
end = os.times()[0] + 0.1
while os.times()[0] < end:
    pass
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_killed(program, python, tmp_path):
    result = profile(python, [script(tmp_path, KILLED)], tmp_path, MEMORY)
    assert result.status == 128 + 9
    memory = Memory(capture.read(capture_of(result)))
    assert abs(memory.most - memory.before - 150 * 1000036) < 1e6
    assert abs(memory.at_end()[4] - 150 * 1000036) < 0.2 * 150e6


REFUSED = """
import resource

resource.setrlimit(resource.RLIMIT_AS, (1 << 30,) * 2)
kept = []
try:
    while True:
        kept.append(bytearray(10000019))
except MemoryError:
    print("no more")
"""


def test_memory_error(program, python, tmp_path):
    """It comes, a few blocks sooner at most: we have memory of our own, in the same limit."""
    path = script(tmp_path, REFUSED + "print(len(kept))\n")
    expected = plain(python, [path], tmp_path)
    result = profile(python, [path], tmp_path, MEMORY)
    assert result.status == 0 and result.out.startswith("no more")
    n, plain_n = int(result.out.split()[-1]), int(expected.out.split()[-1])
    assert plain_n - 12 <= n <= plain_n
    memory = Memory(capture.read(capture_of(result)))
    assert abs(memory.most - memory.before - n * 10000020) < 1.2e7


GROWS = """
kept = []
while True:
    kept.append(bytearray(b"x") * 1000003)
"""
GROUPS = Path("/sys/fs/cgroup/memory")


@pytest.mark.skipif(os.getuid() != 0 or not GROUPS.is_dir(), reason="SKIP: no group to limit memory in")
def test_killed_for_want_of_memory(program, system_python, tmp_path):
    group = GROUPS / ("fixingahole-%d" % os.getpid())
    try:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text("150000000")
    except OSError as error:
        pytest.skip("SKIP: no group to limit memory in: %s" % error)
    try:
        command = profile_command(system_python, [script(tmp_path, GROWS)], MEMORY)
        words = ["sh", "-c", 'echo $$ > %s/tasks; exec "$@"' % group, "sh", *map(str, command)]
        done = subprocess.run(words, cwd=tmp_path, timeout=120)
    finally:
        group.rmdir()
    assert done.returncode == 128 + 9
    (path,) = tmp_path.glob("performance/*/*/profile.fah")
    memory = Memory(capture.read(path))
    assert 80e6 < memory.most < 160e6
    assert memory.at_end()[4] > 70e6
