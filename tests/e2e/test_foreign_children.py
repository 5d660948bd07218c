"""Children that would refuse the preload, or show it, start and print as they do without us."""

import os
import shutil

import pytest
from support import capture, foreign
from support.run import TARGETS, capture_of, plain, profile

SPAWN = str(TARGETS / "spawn.py")


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    return tmp_path_factory.mktemp("foreign")


def same(python, args, cwd, **rest):
    expected = plain(python, [SPAWN] + args, cwd, **rest)
    assert expected.status == 0, expected
    result = profile(python, [SPAWN] + args, cwd, **rest)
    for ours, theirs in zip(result.out.splitlines(), expected.out.splitlines()):
        assert ours == theirs
    assert (result.status, result.out, result.err) == (expected.status, expected.out, expected.err)
    assert capture.read(capture_of(result)).complete
    return result


@pytest.mark.parametrize("kind", sorted(foreign.KINDS))
def test_kind(program, system_python, kind, built, tmp_path):
    path = foreign.build(kind, built)
    if path is None:
        pytest.skip("SKIP: this machine cannot build a program of the kind %s" % kind)
    result = same(system_python, [path, "an argument"], tmp_path)
    assert "hello from a" in result.out and "LD_PRELOAD" not in result.out


@pytest.mark.parametrize("kind", ["musl", "asan", "i386", "glibc static"])
def test_kind_from_other_pythons(program, local_python, kind, built, tmp_path):
    """Versions start children in different ways (vfork, posix_spawn)."""
    path = foreign.build(kind, built)
    if path is None:
        pytest.skip("SKIP: this machine cannot build a program of the kind %s" % kind)
    same(local_python, [path], tmp_path)


@pytest.mark.skipif(os.getuid() != 0, reason="SKIP: only root can give a program away")
@pytest.mark.parametrize("kind", ["glibc", "musl", "i386"])
def test_setuid(program, system_python, kind, built, tmp_path):
    path = foreign.build(kind, built)
    if path is None:
        pytest.skip("SKIP: cannot build")
    owned = str(tmp_path / "owned")
    shutil.copy(path, owned)
    os.chown(owned, 65534, 65534)
    os.chmod(owned, 0o4755)
    for folder in [tmp_path] + list(tmp_path.parents):
        if folder != folder.parent and not os.stat(str(folder)).st_mode & 1:
            os.chmod(str(folder), 0o711)
    result = same(system_python, [owned], tmp_path)
    assert "user 65534" in result.out


@pytest.mark.skipif(os.getuid() != 0, reason="SKIP: only root can chroot")
@pytest.mark.parametrize("kind", ["glibc", "glibc static", "musl static"])
def test_chrooted(program, system_python, kind, built, tmp_path):
    path = foreign.build(kind, built)
    if path is None:
        pytest.skip("SKIP: cannot build")
    root = foreign.small_root(tmp_path, [path])
    result = same(
        system_python, ["--chroot", str(root), "/bin/" + os.path.basename(path)], tmp_path
    )
    assert result.out.count("hello from a") == 3, result


@pytest.mark.parametrize(
    "command",
    [
        ["env"],
        ["/usr/bin/env", "-u", "HOME"],
        ["true"],
        ["false"],
        ["/bin/sh", "-c", "env; echo $0 $$ >/dev/null; kill -9 $$"],
        ["/no/such/program"],
        ["/etc/passwd"],
        ["/"],
    ],
)
def test_command(program, some_python, command, tmp_path):
    same(some_python, command, tmp_path)


def test_scripts(program, some_python, tmp_path):
    """#! lines: the interpreter is what is started, not the script's file."""
    body = "import os, sys\nprint(sorted(os.environ.items()), sys.argv)\n"
    ways = {
        "shell.sh": "#!/bin/sh\nenv | sort\necho \"$0 $@\"\n",
        "python.py": "#!%s\n%s" % (some_python.path, body),
        "env.py": "#!/usr/bin/env python3\n" + body,
    }
    for name, text in sorted(ways.items()):
        path = tmp_path / name
        path.write_text(text)
        path.chmod(0o755)
        same(some_python, [str(path), "an argument"], tmp_path)


def test_a_script_whose_interpreter_is_foreign(program, system_python, built, tmp_path):
    for kind in ("musl", "i386", "asan", "glibc static"):
        interpreter = foreign.build(kind, built)
        if interpreter is None:
            continue
        path = tmp_path / ("script-" + kind.replace(" ", "-"))
        path.write_text("#!%s word\n" % interpreter)
        path.chmod(0o755)
        same(system_python, [str(path)], tmp_path)
