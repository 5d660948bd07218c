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
    shutil.copytree(tree, broken, symlinks=True, ignore=shutil.ignore_patterns("build", ".venv"))
    (broken / "src" / "core" / "load.c").write_text("#error the reason\n")
    done = run([broken / "fixit", "--version"])
    assert done.returncode == 1
    assert done.stdout == ""
    assert "the reason" in done.stderr


def run_bare(tree, tmp_path, sudo=None):
    """As nobody, with little in PATH and nothing that builds; sudo: the text of a script of that name."""
    bare = tmp_path / "bin"
    bare.mkdir()
    for name in BASICS:
        where = shutil.which(name)
        assert where, "this machine has no %s" % name
        (bare / name).symlink_to(where)
    if sudo:
        (bare / "sudo").write_text("#!%s\n%s" % (bare / "bash", sudo))
        (bare / "sudo").chmod(0o755)
    fresh = tmp_path / "fresh"
    shutil.copytree(tree, fresh, symlinks=True, ignore=shutil.ignore_patterns("build", ".venv"))
    command = [bare / "bash", fresh / "fixit", "profile", fresh / "examples" / "advanced.py"]
    if os.geteuid() == 0:
        # pytest's folders are root's alone; the user of this test must be able to pass through.
        for path in tmp_path.parents:
            if path.stat().st_uid == 0 and "pytest-of-" in str(path):
                path.chmod(path.stat().st_mode | 0o055)
        tmp_path.chmod(tmp_path.stat().st_mode | 0o055)
        for path in (fresh, tmp_path):
            shutil.chown(path, 65534, 65534)
        command = [shutil.which("setpriv"), "--reuid=65534", "--regid=65534", "--clear-groups", *command]
    return run(command, env={"PATH": str(bare), "HOME": str(tmp_path)})


# The second one wants a password.
@pytest.mark.parametrize("sudo", [None, "exit 1\n"])
def test_missing_packages_without_root(tree, tmp_path, sudo):
    done = run_bare(tree, tmp_path, sudo)
    lines = [line for line in done.stderr.splitlines() if "apt-get install" in line]
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("sudo apt-get update && sudo apt-get install")
    for package in ("gcc", "meson", "ninja-build"):
        assert " %s" % package in lines[0]


def test_missing_packages_with_sudo(tree, tmp_path):
    """sudo without a password is used, asked for nothing, and what came of it is looked at."""
    log = tmp_path / "asked"
    done = run_bare(tree, tmp_path, 'printf "%%s\\n" "$*" >>"%s"\n' % log)
    assert (done.returncode, done.stdout) == (1, ""), done
    asked = log.read_text().splitlines()
    assert asked[0] == "-n true", asked
    install = "-n env DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends "
    assert asked[1].startswith(install) and len(asked) == 2, asked
    assert {"gcc", "meson", "ninja-build"} <= set(asked[1][len(install) :].split()), asked
    assert "fixit: installing gcc " in done.stderr, done
    assert "fixit: still missing after the installation: gcc " in done.stderr, done


def venv_with_numpy():
    """The one that ./check has made, or another of its: making one takes the network."""
    for venv in (REPO / ".venv", REPO / "build-check" / "venv"):
        python = venv / "bin" / "python3"
        if python.exists() and run([python, "-c", "import numpy"]).returncode == 0:
            return venv.resolve()
    return None


def test_the_first_command_of_the_readme(tree, tmp_path, no_tools):
    """With its venv there: through a symlink, from a folder of somebody else's with a space in it."""
    made = venv_with_numpy()
    if made is None:
        pytest.skip("SKIP: no venv with numpy here")
    venv = tree / ".venv"
    shutil.copytree(made, venv, symlinks=True)
    (venv / ".stamp").write_text("%s\n" % venv)
    elsewhere = tmp_path / "some where"
    elsewhere.mkdir()
    link = tree.parent / "link to fixit"
    script = os.path.relpath(tree / "examples" / "advanced.py", elsewhere)
    done = run([link, "profile", script, "--scale", "0.05"], cwd=elsewhere, env=no_tools)
    assert (done.returncode, done.stderr) == (0, ""), done
    for name in ("data_serialization", "matrix_operations", "Finished in ", "Functions by Module:"):
        assert name in done.stdout, done
    assert "fixit profile '%s' --scale 0.05\n" % script in done.stdout, done
    captures = list(elsewhere.glob("performance/advanced/*/profile.fah"))
    assert len(captures) == 1, done
    said = run([link, "inspect", captures[0]])
    assert "%s/bin/python3" % venv in said.stdout, said
    # who has a venv of his own open keeps it
    own = tmp_path / "own" / "bin"
    own.mkdir(parents=True)
    (own / "python").symlink_to("/usr/bin/python3")
    env = dict(no_tools, VIRTUAL_ENV=str(own.parent))
    done = run([link, "profile", tree / "examples" / "basic.py", "--scale", "0.05"], cwd=elsewhere, env=env)
    assert done.returncode == 0, done
    said = run([link, "inspect", next(elsewhere.glob("performance/basic/*/profile.fah"))])
    assert "%s/python" % own in said.stdout, said
