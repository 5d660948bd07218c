"""tools/pythons and tools/gen-offsets on a machine that has little: each thing that is missing is said aloud."""
import os
import re
import shutil
import subprocess
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
# What the scripts need; neither pyenv, debootstrap, apt-get nor anything that fetches.
BASICS = ("bash", "env", "dirname", "readlink", "id", "awk", "cut", "find", "grep", "sort", "sed", "mkdir", "paste",
          "python3", "cc", "as", "ld")
VERSIONS = ["3.%d" % minor for minor in range(8, 16)]


def run(command, tmp_path, **env):
    """With an empty PYENV_ROOT and cache, and little in PATH."""
    bare = tmp_path / "bin"
    if not bare.exists():
        for name in ("bin", "pyenv", "cache"):
            (tmp_path / name).mkdir()
        for name in BASICS:
            where = "/usr/bin/python3" if name == "python3" else shutil.which(name)
            assert where, "this machine has no %s" % name
            (bare / name).symlink_to(where)
    full = {"PATH": str(bare), "HOME": str(tmp_path), "PYENV_ROOT": str(tmp_path / "pyenv"),
            "FIXINGAHOLE_CACHE": str(tmp_path / "cache"), **env}
    return subprocess.run([str(part) for part in command], cwd="/", env=full, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=120)


def missing(done):
    return re.findall(r"(?m)^pythons: SKIP: no CPython (3\.\d+) here", done.stderr)


def of_this_machine():
    return [version for version in VERSIONS if os.access("/usr/bin/python" + version, os.X_OK)]


def test_each_missing_version_is_said(tmp_path):
    for options in ([], ["--make"]):
        done = run([REPO / "tools" / "pythons", *options], tmp_path)
        assert done.returncode == 0, done
        listed = [line.split("\t") for line in done.stdout.splitlines()]
        assert [".".join(line[1].split(".")[:2]) for line in listed] == of_this_machine(), done
        assert missing(done) == [v for v in VERSIONS if v not in of_this_machine()] != [], done
        for suite in ("trixie", "bullseye"):
            assert "SKIP: no %s root (a second build of a version)" % suite in done.stderr, done
    for suite in ("forky", "trixie", "bullseye"):
        assert "pythons: %s: cannot be made: " % suite in done.stderr, done
    assert not list((tmp_path / "cache").rglob("*")), "nothing half-made may be left"


def test_a_missing_version_fails_where_ci_is_set(tmp_path):
    done = run([REPO / "tools" / "pythons"], tmp_path, CI="1")
    assert done.returncode == 1 and missing(done), done
    assert "pythons: CI is set: a missing version is a failure" in done.stderr, done


def test_offsets_without_headers_are_skipped_aloud(tmp_path):
    done = run([REPO / "tools" / "gen-offsets", "--check"], tmp_path)
    assert done.returncode == 0, done
    said = re.findall(r"(?m)^SKIP: no headers of (3\.\d+)", done.stderr)
    asked = re.match(r"offsets of (.*); opcodes of ", done.stdout)[1]
    had = [".".join(version.split(".")[:2]) for version in asked.split(", ") if version]
    assert sorted(said + had) == sorted(VERSIONS) and "3.8" in said, done
