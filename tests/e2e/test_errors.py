"""Our own refusals: one clear line, the right status, nothing left behind."""

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from support import run as tool
from support.run import BINARY, run


def refused(command, cwd, status, *words, env=None):
    """One line on stderr that has the words, nothing on stdout, nothing new in the folder."""
    before = tree(cwd)
    result = run([str(BINARY)] + command, cwd, env=env)
    assert result.status == status, result
    assert result.stdout == b"", result
    lines = result.err.splitlines()
    assert len(lines) == 1, result
    for word in words:
        assert word in lines[0], result
    assert tree(cwd) == before, "left behind: %s" % (set(tree(cwd)) - set(before))
    return lines[0]


def tree(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text("print('it ran')\n")
    return "script.py"


def test_no_such_file(program, tmp_path):
    refused(["profile", "absent.py"], tmp_path, 2, "absent.py")


def test_a_folder(program, tmp_path):
    (tmp_path / "folder.py").mkdir()
    refused(["profile", "folder.py"], tmp_path, 2, "folder.py")


def test_a_folder_with_main_is_a_program_to_python_but_not_to_us(program, tmp_path):
    """A package folder must be a clear line either way: run, or refused; never a half report."""
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__main__.py").write_text("print('app')\n")
    result = run([str(BINARY), "profile", "-q", "app"], tmp_path)
    assert (result.status, result.stdout) in ((0, b"app\n"), (2, b"")), result


def as_nobody(folder, *words):
    """A copy of the program, run in the folder as a user to whom nothing there belongs."""
    folder.chmod(0o755)
    become = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    return run(become + [str(tool.copy_tool(folder / "tool"))] + list(words), folder)


@pytest.mark.skipif(os.getuid() != 0, reason="SKIP: only root can become nobody")
def test_unreadable_file(program, system_python):
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        (top / "script.py").write_text("print('it ran')\n")
        (top / "script.py").chmod(0)
        (top / "cells.ipynb").write_text("{}")
        (top / "cells.ipynb").chmod(0)
        (top / "out").mkdir()
        (top / "out").chmod(0o777)
        for script in ("script.py", "cells.ipynb"):
            result = as_nobody(top, "profile", "-o", "out", "--python", system_python.path, script)
            assert result.status == 2 and result.stdout == b"", result
            assert result.err == "fixingahole: %s: Permission denied\n" % script, result
        assert not list((top / "out").iterdir())


@pytest.mark.parametrize("kind", ["absent", "not executable", "a folder", "a text file"])
def test_bad_python(program, kind, script, tmp_path):
    python = tmp_path / "my-python"
    if kind == "a folder":
        python.mkdir()
    elif kind != "absent":
        python.write_text("hello\n")
        python.chmod(0o644 if kind == "not executable" else 0o755)
    before = tree(tmp_path)
    result = run([str(BINARY), "profile", "--python", str(python), script], tmp_path)
    assert result.status == 1 and result.stdout == b"", result
    assert len(result.err.splitlines()) == 1 and "my-python" in result.err, result
    assert tree(tmp_path) == before


def test_no_python_at_all(program, script, tmp_path):
    (tmp_path / "bin").mkdir()
    line = refused(["profile", script], tmp_path, 1, "python", env={"PATH": str(tmp_path / "bin")})
    assert "PATH" in line or "--python" in line


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["nonsense"],
        ["profile"],
        ["profile", "--rate"],
        ["profile", "--rate", "zero", "script.py"],
        ["profile", "--rate", "0", "script.py"],
        ["profile", "--rate", "-5", "script.py"],
        ["profile", "--rate", "1e9", "script.py"],
        ["profile", "--module"],
        ["profile", "--code"],
        ["profile", "-o"],
        ["profile", "--nonsense", "script.py"],
        ["inspect"],
        ["inspect", "--nonsense", "x"],
        ["inspect", "a", "b"],
        ["--nonsense"],
    ],
)
def test_usage(program, command, script, tmp_path):
    before = tree(tmp_path)
    result = run([str(BINARY)] + command, tmp_path)
    assert result.status == 2, result
    # without a word, the help is the answer
    assert bool(result.stdout) == (not command) and bool(result.stderr) == bool(command), result
    assert tree(tmp_path) == before
    if len(command) > 1:
        assert len(result.err.splitlines()) <= 2, result


@pytest.mark.parametrize(
    "content",
    # (a file shorter than a head that agrees with one is a capture cut there, and opens)
    [b"not a capture\n" * 9, b"n", b"FAHCAP\n\n", b"FAHCAP\r\n\xff\xff\0\0\0\0\0\0", None],
)
def test_inspect_of_something_else(program, content, tmp_path):
    if content is not None:
        (tmp_path / "it.fah").write_bytes(content)
    result = run([str(BINARY), "inspect", "it.fah"], tmp_path)
    assert result.status != 0 and result.status < 126 and result.stdout == b"", result
    assert len(result.err.splitlines()) == 1 and "it.fah" in result.err, result


def test_output_folder_is_a_file(program, script, tmp_path):
    (tmp_path / "performance").write_text("mine")
    refused(["profile", script], tmp_path, 2, "performance")
    (tmp_path / "out").write_text("mine")
    refused(["profile", "-o", "out", script], tmp_path, 2, "out")
    assert (tmp_path / "out").read_text() == "mine"


def test_script_folder_is_a_file(program, script, tmp_path):
    (tmp_path / "performance").mkdir()
    (tmp_path / "performance" / "script").write_text("mine")
    refused(["profile", script], tmp_path, 2, "performance/script")


def test_symlink_in_the_way(program, script, tmp_path):
    (tmp_path / "performance").symlink_to(tmp_path / "nowhere")
    refused(["profile", script], tmp_path, 2, "performance")
    assert not (tmp_path / "nowhere").exists()
    (tmp_path / "performance").unlink()
    (tmp_path / "performance").mkdir()
    (tmp_path / "performance" / "script").symlink_to(tmp_path / "nowhere")
    refused(["profile", script], tmp_path, 2, "performance/script")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.skipif(os.getuid() != 0, reason="SKIP: mounting needs root")
def test_read_only_output_folder(program, script, tmp_path):
    (tmp_path / "ro").mkdir()
    mount = "mount -t tmpfs -o ro tmpfs %s/ro && exec \"$@\"" % tmp_path
    result = run(
        [
            "unshare",
            "-m",
            "--propagation",
            "private",
            "sh",
            "-c",
            mount,
            "sh",
            str(BINARY),
            "profile",
            "-o",
            "ro",
            script,
        ],
        tmp_path,
    )
    assert result.status == 2 and result.stdout == b"" and len(result.err.splitlines()) == 1, result
    assert "ro" in result.err and "ead-only" in result.err, result


@pytest.mark.skipif(os.getuid() != 0, reason="SKIP: only root can become nobody")
def test_forbidden_output_folder(program, system_python):
    """EPERM: the folder belongs to someone else."""
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        (top / "script.py").write_text("print('it ran')\n")
        result = as_nobody(top, "profile", "--python", system_python.path, "script.py")
        assert (
            result.status == 2 and result.stdout == b"" and len(result.err.splitlines()) == 1
        ), result
        assert "performance" in result.err and "ermission" in result.err
        assert not (Path(top) / "performance").exists()


def test_a_python_too_old_is_refused_and_runs(program, script, tmp_path):
    """3.7 and older have no audit hooks: the program runs, and the report says why it is empty."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    old = sorted(pyenv.glob("versions/3.7.*/bin/python3.7")) + sorted(Path("/usr/bin").glob("python3.7"))
    if not old:
        pytest.skip("SKIP: no CPython 3.7 here")
    for words in (
        ["profile", "--python", str(old[0]), script],
        ["record", "-o", "x.fah", "--", str(old[0]), script],
        ["calls", "--python", str(old[0]), script],
        ["lines", "--python", str(old[0]), "-f", "f", script],
    ):
        result = run([str(BINARY)] + words, tmp_path)
        assert result.status == 0 and result.stdout.startswith(b"it ran\n"), result
        text = " ".join((result.out + result.err).split())
        assert "Python 3.7." in text and "CPython 3.8 to 3.15 is needed" in text, result


def test_a_program_that_is_not_python(program, script, tmp_path):
    """--python may be anything executable: it runs as it would, the report explains itself."""
    result = run([str(BINARY), "profile", "--python", "/bin/cat", script], tmp_path)
    assert result.status == 0 and result.stdout.startswith(b"print('it ran')\n"), result
    assert "CPython 3.8 to 3.15" in " ".join(result.out.split()), "no report"
    for words in (["calls"], ["lines", "-f", "f"]):
        result = run([str(BINARY)] + words + ["--python", "/bin/cat", script], tmp_path)
        assert result.status == 0 and "CPython 3.8 to 3.15 is needed" in result.err, result
    quiet = run([str(BINARY), "profile", "-q", "--python", "/bin/cat", script], tmp_path)
    assert (quiet.stdout, quiet.stderr) == (b"print('it ran')\n", b"")


def test_two_runs_in_one_second_do_not_meet(program, system_python, script, tmp_path):
    command = [str(BINARY), "profile", "-q", "--python", system_python.path, script]
    running = [
        subprocess.Popen(
            command,
            cwd=str(tmp_path),
            env=tool.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(4)
    ]
    for process in running:
        assert process.communicate() == (b"it ran\n", b"")
        assert process.returncode == 0
    folders = list((tmp_path / "performance" / "script").iterdir())
    assert len(folders) == 4, folders
    for folder in folders:
        assert {path.name for path in folder.iterdir()} >= {
            "profile.fah",
            "profile_summary.txt",
            "profile_results.txt",
            "script.py",
        }
