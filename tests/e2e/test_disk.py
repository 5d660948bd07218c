"""A full disk: the target lives on, and the report says how much was dropped."""

import os
import re

import pytest

from support import capture
from support.run import BINARY, TARGETS, inspect, run, run_folder

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="SKIP: mounting needs root")
DISKFULL = str(TARGETS / "diskfull.py")


def on_small_disk(size, command, cwd, hz=2000):
    """Runs with a tmpfs of that size at ./small, then copies what is on it to ./kept."""
    script = (
        "mount -t tmpfs -o size=%s,mode=0755 tmpfs small && \"$@\"; status=$?; "
        "cp -r small/. kept/; exit $status" % size
    )
    for name in ("small", "kept"):
        (cwd / name).mkdir()
    return run(
        ["unshare", "-m", "--propagation", "private", "sh", "-c", script, "sh"] + command,
        cwd,
        env={"FIXINGAHOLE_TEST_HZ": str(hz)},
    )


def profile(python, args, *options):
    return [str(BINARY), "profile", "-o", "small", "--python", python.path] + list(options) + args


def losses(folder, said):
    """How many records were not written: by the capture's END, which inspect must tell as well."""
    it = capture.read(folder / "profile.fah")
    assert it.complete and it.cut == 0, said
    if it.lost_records:
        told = r"(?m)^  %s records? \(.+\) for which the disk had no room$" % counted(it)
        assert re.search(told, said.out), said
    else:
        assert re.search(r"(?m)^Missing +nothing$", said.out), said
    return it


def counted(it):
    return format(it.lost_records, ",")


@pytest.mark.parametrize("size, seconds", [("300k", 0.5), ("3m", 1.0)])
def test_the_disk_fills_while_it_is_recorded(program, local_python, size, seconds, tmp_path):
    """Where little room was promised, and where so much was that it takes long to fill."""
    command = profile(local_python, [DISKFULL, "small", str(seconds)])
    result = on_small_disk(size, command, tmp_path, hz=5000)
    assert result.status == 8 and result.stdout.startswith(b"worked on a full disk\n"), result
    # where the capture took what the program gave back, no room may be left for the results
    incomplete = r"fixingahole: the results in .* are not complete: No space left on device; .*\n"
    assert not result.err or (size == "300k" and re.fullmatch(incomplete, result.err)), result
    folder = run_folder(tmp_path / "kept")
    assert folder is not None, result
    said = inspect(folder / "profile.fah")
    assert said.status == 0, said
    it = losses(folder, said)
    assert it.lost_records > 0 and it.lost_bytes > 0, said
    told = r"(?m)^%s records? \(.+\) could not be written for want of space\.$" % counted(it)
    assert re.search(told, result.out), result
    if not result.err:
        kept = (folder / "profile_summary.txt").read_text(encoding="utf-8")
        assert re.search(told, kept), kept
    assert "work" in it.names(), said
    if size != "300k":  # there was room for some
        assert it.samples, said


def test_quiet_stays_quiet_on_a_full_disk(program, system_python, tmp_path):
    command = profile(system_python, [DISKFULL, "small", "0.5"], "-q")
    result = on_small_disk("300k", command, tmp_path, hz=5000)
    assert (result.status, result.stdout, result.stderr) == (
        8,
        b"worked on a full disk\n",
        b"",
    ), result
    folder = run_folder(tmp_path / "kept")
    assert losses(folder, inspect(folder / "profile.fah")).lost_records > 0, "it was not full"


@pytest.mark.parametrize("size", ["4k", "16k", "64k", "100k", "1m"])
def test_a_disk_too_small_from_the_start(program, system_python, size, tmp_path):
    """A clear refusal before the program starts; where the little that it writes fits, nothing is lost."""
    script = tmp_path / "script.py"
    script.write_text("s = sum(i for i in range(10**6))\nprint('it ran')\nraise SystemExit(4)\n")
    result = on_small_disk(size, profile(system_python, [str(script)]), tmp_path)
    if size in ("100k", "1m"):
        assert result.status == 4 and result.stdout.startswith(b"it ran\n"), result
        folder = run_folder(tmp_path / "kept")
        it = losses(folder, inspect(folder / "profile.fah"))
        assert it.lost_records == 0 and it.samples and result.err == "", result
        assert "want of space" not in result.out, result
    else:
        assert (result.status, result.stdout) == (2, b""), result
        assert re.fullmatch(r"fixingahole: .*: No space left on device; .*\n", result.err), result
        assert not list((tmp_path / "kept").rglob("*.fah*")), "nothing may be left behind"


def test_plain_run_of_the_victim(system_python, tmp_path):
    """The victim itself is sound: on a small disk it does what it says."""
    (tmp_path / "small").mkdir()
    result = run(
        [
            "unshare",
            "-m",
            "--propagation",
            "private",
            "sh",
            "-c",
            "mount -t tmpfs -o size=1m tmpfs small && exec \"$@\"",
            "sh",
            system_python.path,
            DISKFULL,
            "small",
            "0",
        ],
        tmp_path,
    )
    assert (result.status, result.stdout, result.stderr) == (
        8,
        b"worked on a full disk\n",
        b"",
    ), result


@pytest.mark.parametrize("size", ["4k", "256k", "1200k"])
def test_no_room_for_the_agents_segments(program, local_python, size, tmp_path):
    """The folders that a session may live in are all full or tiny: the program is not harmed."""
    script = tmp_path / "script.py"
    script.write_text(
        "import os\nfor _ in range(4):\n    if os.fork() == 0:\n"
        "        s = sum(i for i in range(10**6))\n        os._exit(0)\n    os.wait()\n"
        "s = sum(i for i in range(10**6))\nprint('it ran')\nraise SystemExit(4)\n"
    )
    mounts = "".join(
        "mount -t tmpfs -o size=%s tmpfs %s && " % (size, folder)
        for folder in ("/dev/shm", "/run", "/var/tmp")
    )
    command = [str(BINARY), "profile", "--python", local_python.path, str(script)]
    result = run(
        ["unshare", "-m", "--propagation", "private", "sh", "-c", mounts + 'exec "$@"', "sh"]
        + command,
        tmp_path,
        env={"FIXINGAHOLE_TEST_HZ": "2000"},
    )
    if result.status == 2:
        assert result.stdout == b"" and len(result.err.splitlines()) == 1, result
    else:
        assert result.status == 4 and result.stdout.startswith(b"it ran\n"), result
        assert len(result.out) > len("it ran\n"), "no report"


SMALL_MEMORY = "mount -t tmpfs -o size=64m tmpfs /dev/shm && "


def private(mounts, command, cwd, env):
    return run(
        ["unshare", "-m", "--propagation", "private", "sh", "-c", mounts + 'exec "$@"', "sh"]
        + command,
        cwd,
        env=dict(env, FIXINGAHOLE_TEST_HZ="1000"),
    )


def test_the_memory_of_a_container_is_left_to_the_program(program, local_python, tmp_path):
    """Docker gives 64 MB: a program that uses all of it gets all of it, and is recorded."""
    script = tmp_path / "script.py"
    script.write_text(
        "import os\n"
        "with open('/dev/shm/mine', 'wb') as f:\n"
        "    os.posix_fallocate(f.fileno(), 0, 60 << 20)\n"
        "def work():\n    return sum(i for i in range(3 * 10**6))\n"
        "work()\nprint('it ran')\n"
    )
    command = [str(BINARY), "profile", "-q", "--python", local_python.path, str(script)]
    result = private(SMALL_MEMORY, command, tmp_path, {})
    assert (result.status, result.out, result.err) == (0, "it ran\n", ""), result
    it = capture.read(run_folder(tmp_path / "performance") / "profile.fah")
    assert "work" in it.names() and not it.meta["session"].startswith("/dev/shm/")


def test_a_folder_too_small_for_a_segment_is_passed_over(program, system_python, tmp_path):
    """Small memory and a TMPDIR that holds no segment: the next folder is taken."""
    script = tmp_path / "script.py"
    script.write_text("def work():\n    return sum(i for i in range(3 * 10**6))\nwork()\n")
    command = [str(BINARY), "profile", "-q", "--python", system_python.path, str(script)]
    (tmp_path / "tiny").mkdir()
    mounts = SMALL_MEMORY + "mount -t tmpfs -o size=100k tmpfs tiny && "
    result = private(mounts, command, tmp_path, {"TMPDIR": "tiny"})
    assert (result.status, result.err) == (0, ""), result
    it = capture.read(run_folder(tmp_path / "performance") / "profile.fah")
    assert "work" in it.names() and "/tiny/" not in it.meta["session"]


def test_the_session_folder_fills_in_the_middle(program, local_python, tmp_path):
    """The folder of the segments is full when children come: the program and they run on."""
    script = tmp_path / "script.py"
    script.write_text(
        "import os, time\n"
        "def burn(seconds):\n"
        "    end = time.process_time() + seconds\n"
        "    while time.process_time() < end:\n        sum(range(100))\n"
        "burn(0.1)\n"
        "f = os.open('small/filler', os.O_WRONLY | os.O_CREAT)\n"
        "try:\n    while True:\n        os.write(f, b'x' * 65536)\n"
        "except OSError as e:\n    print(e.errno)\n"
        "for _ in range(3):\n"
        "    if os.fork() == 0:\n        burn(0.05)\n        os._exit(0)\n"
        "    print(os.wait()[1])\n"
        "burn(0.1)\n"
        "os.close(f)\nos.unlink('small/filler')\n"
        "if os.fork() == 0:\n    burn(1.3)\n    os._exit(0)\n"
        "print(os.wait()[1])\n"
    )
    (tmp_path / "small").mkdir()
    command = [str(BINARY), "profile", "-q", "--python", local_python.path, str(script)]
    mounts = "mount -t tmpfs -o size=8m,mode=0755 tmpfs small && "
    result = private(mounts, command, tmp_path, {"FIXINGAHOLE_SESSION_DIR": "small"})
    assert (result.status, result.out, result.err) == (0, "28\n0\n0\n0\n0\n", ""), result
    it = capture.read(run_folder(tmp_path / "performance") / "profile.fah")
    assert it.complete
    # the program itself had its segment before; the last child came when there was room again
    assert len([p for p in it.processes[1:] if p.samples > 50]) == 2, it.processes
