"""./fixit: set-up, second use, and what it says when it cannot go on.

Works on a copy of the tree under a path with spaces, so the build here is a real first use. Packages
are taken as installed (./check has seen to that); tools/fresh-machine tests their installation.
"""
import os
import shutil
import subprocess
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.xdist_group("fixit")  # one worker, one first build
# What fixit needs of a machine besides the packages of tools/packages.
BASICS = ("bash", "env", "dirname", "readlink", "cat", "find", "grep", "cksum", "tr", "mkdir", "id", "flock",
          "tail", "sed", "mktemp", "rm", "mv", "apt-get")


def run(command, cwd="/", env=None, **options):
    full = {key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"}
    if not os.environ.get("FAH_FULL"):
        full["CFLAGS"] = "-O0 -g0"  # a quarter of the time, and these tests are about the script
    full.update(env or {})
    return subprocess.run([str(part) for part in command], cwd=str(cwd), env=full, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=600, **options)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the sources, built once through a symlink from another directory."""
    top = tmp_path_factory.mktemp("a path") / "with  spaces"
    shutil.copytree(REPO, top, symlinks=True, ignore=shutil.ignore_patterns(
        ".git", "build*", ".venv", "performance", "__pycache__"))
    link = top.parent / "link to fixit"
    link.symlink_to(top / "fixit")
    first = run([link, "--version"])
    assert first.returncode == 0, first.stderr
    assert "building" in first.stderr
    assert first.stdout.strip() != ""
    assert "building" not in first.stdout
    return top


@pytest.fixture
def no_tools(tmp_path):
    """A PATH in front whose meson and ninja fail: what still works has not used them."""
    for name in ("meson", "ninja", "apt-get", "pip"):
        path = tmp_path / name
        path.write_text("#!/bin/sh\necho %s was called >&2\nexit 99\n" % name)
        path.chmod(0o755)
    return {"PATH": "%s:%s" % (tmp_path, os.environ["PATH"])}


def test_second_use_starts_at_once(tree, no_tools):
    again = run([tree / "fixit", "--version"], env=no_tools)
    assert (again.returncode, again.stderr) == (0, "")


def test_second_use_as_seen_from_the_tree(tree, no_tools):
    again = run(["./fixit", "--version"], cwd=tree, env=no_tools)
    assert (again.returncode, again.stderr) == (0, "")


def test_changed_source_is_built_again(tree):
    os.utime(tree / "src" / "report" / "tree.h")
    again = run([tree / "fixit", "--version"])
    assert again.returncode == 0, again.stderr
    assert "building" in again.stderr


@pytest.mark.skipif(not os.environ.get("FAH_FULL"), reason="one more build is for --full")
def test_moved_tree_is_built_again(tree, tmp_path):
    moved = tmp_path / "elsewhere"
    shutil.copytree(tree, moved, symlinks=True)
    again = run([moved / "fixit", "--version"])
    assert again.returncode == 0, again.stderr
    assert "building in %s" % moved in again.stderr


def test_broken_source_is_an_error_with_the_reason(tree, tmp_path):
    broken = tmp_path / "broken"
    shutil.copytree(tree, broken, symlinks=True, ignore=shutil.ignore_patterns("build"))
    (broken / "src" / "core" / "load.c").write_text("#error the reason\n")
    done = run([broken / "fixit", "--version"])
    assert done.returncode == 1
    assert done.stdout == ""
    assert "the reason" in done.stderr


def test_missing_packages_without_root(tree, tmp_path):
    bare = tmp_path / "bin"
    bare.mkdir()
    for name in BASICS:
        where = shutil.which(name)
        assert where, "this machine has no %s" % name
        (bare / name).symlink_to(where)
    fresh = tmp_path / "fresh"
    shutil.copytree(tree, fresh, symlinks=True, ignore=shutil.ignore_patterns("build"))
    command = [bare / "bash", fresh / "fixit", "profile", fresh / "examples" / "advanced.py"]
    if os.geteuid() == 0:
        # pytest's folders are root's alone; the user of this test must be able to pass through.
        for path in tmp_path.parents:
            if path.stat().st_uid == 0 and "pytest-of-" in str(path):
                path.chmod(path.stat().st_mode | 0o055)
        tmp_path.chmod(tmp_path.stat().st_mode | 0o055)
        shutil.chown(fresh, 65534, 65534)
        command = [shutil.which("setpriv"), "--reuid=65534", "--regid=65534", "--clear-groups", *command]
    done = run(command, env={"PATH": str(bare), "HOME": str(tmp_path)})
    lines = [line for line in done.stderr.splitlines() if "apt-get install" in line]
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("sudo apt-get update && sudo apt-get install")
    for package in ("gcc", "meson", "ninja-build"):
        assert " %s" % package in lines[0]
