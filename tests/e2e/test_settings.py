"""Which script runs, what the settings say, and what they change in what is left and shown."""

import json
import os
import py_compile
import re
import zipfile

import pytest
from support import report
from support.run import BINARY, plain, run, run_folder

WORK = """\
import json, os, sys, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/..")
print(sys.argv, os.getcwd(), __file__, __name__)


def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        json.dumps(list(range(300)))


work(0.15)
try:
    from helpers.deep import helped
except ImportError:
    pass
else:
    helped(0.15)
"""
HELPER = """\
import time


def helped(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(300))
"""


def tree(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def fixingahole(python, folder, *words, env=None):
    words = [str(word) for word in words]
    if python is not None:
        words[1:1] = ["--python", python.path]
    return run([str(BINARY)] + words, folder, python, env=env)


def refused(folder, *words, lines=1, says=(), env=None):
    """Status 2, the words on stderr, nothing on stdout, nothing made, nothing run."""
    before = tree(folder)
    result = fixingahole(None, folder, "profile", *words, env=env)
    assert result.status == 2 and result.stdout == b"", result
    assert len(result.err.splitlines()) == lines, result
    for word in says:
        assert word in result.err, (word, result)
    assert tree(folder) == before, "left behind: %s" % (set(tree(folder)) - set(before))
    return result.err


@pytest.fixture
def project(tmp_path):
    """A repository: scripts, a package, and what is not to be searched."""
    for name in (
        "wörk dir/wörk.py",
        "one/run.py",
        "two/run.py",
        ".git/wörk.py",
        ".venv/x/wörk.py",
        "old/wörk.py",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(WORK, encoding="utf-8")
    (tmp_path / "helpers").mkdir()
    (tmp_path / "helpers" / "deep.py").write_text(HELPER)
    return tmp_path


def settings(project, text):
    (project / "pyproject.toml").write_text("[tool.fixingahole]\n" + text, encoding="utf-8")


def test_a_name_and_the_settings_of_a_project(program, some_python, project):
    settings(project, 'root = "."\noutput = "res ults/"\nignore = ["old"]\nduration = "absolute"\n')
    result = fixingahole(some_python, project / "two", "profile", "wörk.py", "-i", "../old", "an argument")
    assert result.status == 0 and result.stderr == b"", result
    script = str(project / "wörk dir" / "wörk.py")
    assert result.out.splitlines()[0] == "%s %s %s __main__" % ([script, "an argument"], project / "two", script)
    folder = run_folder(project / "res ults")
    assert folder.parent.name == "wörk", folder
    assert (project / "res ults" / ".gitignore").read_text() == "*\n"
    kept = (folder / "profile_summary.txt").read_text(encoding="utf-8")
    assert re.search(r"^ *\d+\. \S.* \d+\.\d{3}s \(\S+\.py:\d+\)$", kept, re.M), kept
    assert re.search(r"wörk\.py \(\d+ func, \d+\.\d{3}s total\)$", kept, re.M), kept
    assert re.search(r"work\.+\d+\.\d{3}s$", kept, re.M), kept
    assert not re.search(r"work\.+\d+\.\d+%", kept), kept


def test_what_is_reported(program, python, project):
    """Only code below root; -i leaves a folder out, which its callers pay; -d shows the rest."""

    def functions(*options, env=None):
        result = fixingahole(python, project, "profile", *options, "wörk dir/wörk.py", env=env)
        assert result.status == 0 and result.stderr == b"", result
        return {name: cost.share for name, cost in report.top(result.out).items()}

    plain = functions()
    assert {"work", "helped"} <= set(plain) and not any("JSON" in name for name in plain), plain
    # What is asked for is shown, wherever it lies.
    without = functions("-i", "helpers/", "--ignore=wörk dir")
    assert "helped" not in without and "work" in without, without
    assert without["<module>"] > without["work"] / 4, without
    detailed = functions("--detailed", env={"FIXINGAHOLE_IGNORE": "nowhere:helpers"})
    assert any("JSON" in name for name in detailed) and "helped" not in detailed, detailed


def test_options_come_first(program, python, project):
    """Each over what the file and the environment say; of two that exclude each other the last."""
    settings(project, 'root = "one"\noutput = "a"\nignore = ["old"]\nduration = "absolute"\n')
    env = {"FIXINGAHOLE_OUTPUT": "b", "FIXINGAHOLE_DURATION": "absolute"}
    options = "--root . -o res -i old -i .venv -i one --duration relative --clock timer --budget 50 --output-file=r.txt"
    options = options.split() + ["-nt", "--trace"]
    result = fixingahole(python, project, "profile", *options, "wörk.py", "--no-trace", "its own", env=env)
    assert result.status == 0 and result.stderr == b"" and "'its own'" in result.out.splitlines()[0], result
    assert "Stack Trace Summary" not in result.out and "helped" in report.top(result.out), result
    assert run_folder(project / "res") and (project / "r.txt").is_file() and not (project / "b").exists()
    assert "bound to the kernel's tick" in " ".join(result.out.split()), result
    result = fixingahole(python, project, "profile", "wörk dir/wörk.py", "-nt", "-t", "--duration", "absolute")
    assert re.search(r"^Stack Trace Summary\n=+\n\n.*, \(\d\.\d{3}s\)\n  └─ ", result.out, re.M), result


@pytest.mark.parametrize(
    "words, says",
    [
        (["one/run.py", "--module", "json"], "one of FILE, --module and --code"),
        (["--module", "json", "--code", "pass"], "one of FILE, --module and --code"),
        (["--duration", "slow", "one/run.py"], "--duration: there is no duration 'slow'; allowed: relative"),
        (["one/run.py", "--duration"], "--duration needs a value"),
        (["one/run.py", "--root", "absent"], "absent"),
        (["--root", "one/run.py", "one/run.py"], "is no folder"),
        (["--ignore", "", "one/run.py"], "--ignore: its value is empty"),
        (["--ignore", ".", "one/run.py"], "would leave nothing"),
        (["--output-file", "", "one/run.py"], "--output-file"),
        (["--quiet=yes", "one/run.py"], "--quiet takes no value"),
        (["--clock", "sundial", "one/run.py"], "there are timer and perf"),
        (["-nt"], "which script?"),
    ],
)
def test_wrong_options(program, project, words, says):
    refused(project, *words, says=[says])


def test_the_active_virtual_environment(program, local_python, project):
    """Its Python runs, and its packages are not the project's."""
    packages = project / "env" / "lib" / ("python%d.%d" % local_python.version[:2]) / "site-packages"
    packages.mkdir(parents=True)
    (packages / "installed.py").write_text(HELPER)
    (project / "env" / "pyvenv.cfg").write_text("home = %s\n" % os.path.dirname(local_python.path))
    (project / "uses.py").write_text("import sys, installed\nprint(sys.prefix)\ninstalled.helped(0.15)\n")
    env = {"VIRTUAL_ENV": str(project / "env")}
    result = fixingahole(None, project, "profile", "uses.py", env=env)
    assert result.status == 1 and "has no bin/python" in result.err and result.stdout == b"", result
    (project / "env" / "bin").mkdir()
    (project / "env" / "bin" / "python").symlink_to(local_python.path)
    result = fixingahole(None, project, "profile", "uses.py", env=env)
    assert result.status == 0 and result.out.splitlines()[0] == str(project / "env"), result
    assert "helped" not in report.top(result.out) and "<module>" in report.top(result.out), result
    result = fixingahole(None, project, "profile", "-d", "uses.py", env=env)
    assert "helped" in report.top(result.out), result


def test_names_that_are_none(program, project):
    settings(project, "ignore = 'old/'\n")
    listed = refused(project, "run.py", lines=3, says=["2 files", str(project), "  one/run.py\n", "  two/run.py\n"])
    assert "old" not in listed
    # From elsewhere the names are whole, so that they can be typed.
    refused(project / "one", "run.py.py", env={"FIXINGAHOLE_ROOT": str(project)}, says=["nearest: run.py"])
    refused(project, "wrök.py", says=["nearest: wörk dir/wörk.py"])
    refused(project, "run", says=["nearest: one/run.py, two/run.py"])
    refused(project, "./wörk.py", says=["./wörk.py: no such file"])
    refused(project, str(project / "wörk.py"), says=["no such file"])
    # The flag's folders take the place of the settings' own.
    refused(project, "wörk.py", "-i", "wörk dir", "-i", "old", says=["no such file"])
    refused(project, "wörk.py", "-i", "one", lines=3, says=["  old/wörk.py\n", "  wörk dir/wörk.py\n"])


def test_many_of_one_name(program, tmp_path):
    for i in range(23):
        (tmp_path / ("d%02d" % i)).mkdir()
        (tmp_path / ("d%02d" % i) / "run.py").write_text("pass\n")
    said = refused(tmp_path, "run.py", lines=22, says=["there are 23 files of that name", "  d00/run.py\n"])
    assert said.endswith("  d19/run.py\n  and 3 more\n"), said


def test_an_uncaught_exception(program, some_python, tmp_path):
    """As without us; then the summary, of what ran until then."""
    (tmp_path / "it.py").write_text(CALLED + "\n\nbusy(0.1)\nraise ValueError('it is wrong')\n")
    expected = plain(some_python, ["it.py"], tmp_path)
    result = fixingahole(some_python, tmp_path, "profile", "it.py")
    assert result.status == expected.status == 1 and result.stderr == expected.stderr, result
    assert "ValueError: it is wrong" in result.err and "Profile Summary" in result.out, result
    assert "busy" in report.top(result.out) and "The program ended with status 1." in result.out, result
    assert "The program ended with status 1." in (run_folder(tmp_path / "performance") / "profile_summary.txt").read_text()


def test_files_that_are_no_scripts(program, project, system_python):
    (project / "empty.py").write_text("")
    (project / "binary.py").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\2\0\xff\xfe")
    (project / "dangling.py").symlink_to("nowhere")
    (project / "loop.py").symlink_to("loop.py")
    (project / "line\nend.py").mkdir()
    os.mkfifo(str(project / "pipe.py"))
    refused(project, "one", says=["one is a folder"])
    refused(project, ".", says=["is a folder"])
    refused(project, "empty.py", says=["empty.py is empty"])
    refused(project, "binary.py", says=["binary.py is a binary file"])
    refused(project, system_python.path, says=["is a binary file"])
    refused(project, "dangling.py", says=["dangling.py: no such file"])
    refused(project, "loop.py", says=["loop.py"])
    refused(project, "pipe.py", says=["pipe.py is not a regular file"])
    refused(project, "line\nend.py", says=["line\\nend.py is a folder"])
    refused(project, "", says=["name is empty"])


CALLED = """\
import time


def busy(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(300))
"""
CALLS = "\n\ndef main():\n    for _ in range(7):\n        %sbusy(0.03)\n\n\nmain()\n"


def test_behind_a_symlink(program, python, tmp_path):
    """Code has the name it is started by, the settings are of what that leads to: one project."""
    (tmp_path / "real" / "lib").mkdir(parents=True)
    (tmp_path / "work").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real" / "script.py").write_text(CALLED + CALLS % "")
    (tmp_path / "real" / "lib" / "helped.py").write_text(CALLED)
    (tmp_path / "real" / "uses.py").write_text("import helped" + CALLS % "helped.")
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": text}
        for text in (CALLED, "for _ in range(7):\n    busy(0.03)\n")
    ]
    (tmp_path / "real" / "cells.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
    count = "n_calls: 7$" if python.version >= (3, 12) else r"samples: [\d,]+$"
    main = "  └─ %s; main\n     └─ %s; <module>\n        "
    for name, root, function, place in (
        ("script.py", "real", "script.py:4", main % ("script.py:12", "script.py:15")),
        ("uses.py", "real", "helped.py:4", main % ("uses.py:5", "uses.py:8")),
        ("script.py", "work", "script.py:4", main % (r"\S*/link/script.py:12", r"\S*/link/script.py:15")),
        ("cells.ipynb", "real", "cell 1, line 4", "  └─ cells.ipynb, cell 2, line 2; <module>\n     "),
    ):
        env = {"PYTHONPATH": str(tmp_path / "link" / "lib")}
        words = ["profile", tmp_path / "link" / name]
        result = fixingahole(python, tmp_path / root, *words, env=env)
        assert result.status == 0 and result.stderr == b"", result
        assert re.search(r"^ 1\. busy +\d+\.\d% \(" + function, result.out, re.M), result
        pattern = r"^busy, \(\d+\.\d+%\)\n" + place + count
        assert re.search(pattern, result.out, re.M), (pattern, result)


def test_what_python_runs_is_run(program, system_python, tmp_path):
    """A script without an ending, one behind a symlink, one with a dash, a zip file, compiled code."""
    (tmp_path / "script").write_text("print('it ran')\n")
    (tmp_path / "link.py").symlink_to("script")
    (tmp_path / "-dash.py").write_text("print('it ran')\n")
    with zipfile.ZipFile(str(tmp_path / "app.pyz"), "w") as app:
        app.writestr("__main__.py", "print('it ran')\n")
    py_compile.compile(str(tmp_path / "script"), str(tmp_path / "script.pyc"))
    names = [["script"], ["link.py"], ["--", "-dash.py"], ["app.pyz"]]
    if "%d.%d" % os.sys.version_info[:2] == ".".join(map(str, system_python.version[:2])):
        names.append(["script.pyc"])
    for words in names:
        result = fixingahole(system_python, tmp_path, "profile", "-q", *words)
        assert (result.status, result.stdout, result.stderr) == (0, b"it ran\n", b""), (words, result)


@pytest.mark.parametrize(
    "text, line, words",
    [
        ("outptu = 'x'\n", 2, ["outptu", "did you mean output?", "root, output, ignore and duration"]),
        ("root = 'absent'\n", 2, ["absent", "folder"]),
        ("ignore = [\n1]\n", 3, ["an integer", "allowed"]),
        ("duration = 'slow'\n", 2, ["'slow'", "relative", "absolute"]),
        ("root = \n", 2, ["column 8", "a value is missing"]),
    ],
)
def test_wrong_settings(program, project, text, line, words):
    settings(project, text)
    place = "%s:%d: " % (project / "pyproject.toml", line)
    refused(project / "one", "run.py", says=[place] + words)
    version = run([str(BINARY), "--version"], project)
    assert version.status == 2 and version.out.startswith("fixingahole "), version
    assert place in version.err and len(version.err.splitlines()) == 1, version


def test_the_settings_in_force(program, project):
    settings(project, "root = '.'\nignore = ['old']\n")
    env = {"FIXINGAHOLE_OUTPUT": "elsewhere", "FIXINGAHOLE_DURATION": "absolute"}
    result = run([str(BINARY), "--version"], project / "one", env=env)
    file = project / "pyproject.toml"
    assert result.status == 0 and result.stderr == b"", result
    assert result.out.split("Settings:\n")[1].splitlines() == [
        "  root      %s  (%s:2)" % (project, file),
        "  output    %s  (FIXINGAHOLE_OUTPUT)" % (project / "elsewhere"),
        "  ignore    %s, .git, .venv, the output folder  (%s:3)" % (project / "old", file),
        "  duration  absolute  (FIXINGAHOLE_DURATION)",
    ]


def test_output_file(program, system_python, tmp_path):
    (tmp_path / "script.py").write_text("print('it ran')\nprint(sum(i * i for i in range(10**6)))\n")
    (tmp_path / "report.txt").write_text("old")
    result = fixingahole(system_python, tmp_path, "profile", "--output-file", "report.txt", "script.py")
    folder = run_folder(tmp_path / "performance")
    parts = [(folder / name).read_text() for name in ("profile_summary.txt", "profile_results.txt")]
    assert result.status == 0 and (tmp_path / "report.txt").read_text() == "\n".join(parts), result
    result = fixingahole(system_python, tmp_path, "profile", "--output-file=-", "script.py")
    assert "Profile Summary" in result.out and "Function summaries:" in result.out, result
    assert not (tmp_path / "-").exists()
    (tmp_path / "link").symlink_to("report.txt")
    for name in ("performance", "link", "absent/report.txt"):
        refused(tmp_path, "--output-file", name, "script.py", says=[name])


def test_nothing_stays_of_a_run_that_did_not_start(program, project):
    settings(project, "output = 'a/b/c'\n")
    (project / "python").write_text("no program\n")
    (project / "python").chmod(0o755)
    before = tree(project)
    result = run([str(BINARY), "profile", "--python", "./python", "wörk dir/wörk.py"], project)
    assert result.status == 1 and result.stdout == b"", result
    assert tree(project) == before


def test_a_folder_of_the_users_own_is_left_to_git(program, system_python, tmp_path):
    """.gitignore only where the folder is ours: new, or empty."""
    (tmp_path / "script.py").write_text("pass\n")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes").write_text("mine")
    (tmp_path / "bare").mkdir()
    for name in ("full", "bare", "new"):
        assert fixingahole(system_python, tmp_path, "profile", "-q", "-o", name, "script.py").status == 0
        assert (tmp_path / name / ".gitignore").exists() == (name != "full"), name
