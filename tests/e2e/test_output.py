"""Where our own output goes: it changes neither the program's status nor a file that is read."""

import os
import subprocess

import pytest
from support import run as tool
from support.run import BINARY

SEVEN = """import sys
def work():
    return sum(i * i for i in range(300000))
for _ in range(3):
    work()
sys.exit(%d)
"""


def into_closed_pipe(words, cwd, **options):
    """The status, as a shell has it, and what is said on stderr, where nobody reads stdout."""
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [str(BINARY)] + [str(word) for word in words],
        cwd=str(cwd),
        env=tool.environment(),
        stdin=subprocess.DEVNULL,
        stdout=write,
        stderr=subprocess.PIPE,
        timeout=tool.TIMEOUT,
        **options,
    )
    os.close(write)
    return done.returncode if done.returncode >= 0 else 128 - done.returncode, done.stderr.decode()


@pytest.mark.parametrize(
    "words",
    [
        ["profile", "--python", "{python}"],
        ["profile", "--output-file", "-", "--python", "{python}"],
        ["calls", "--python", "{python}"],
        ["calls", "--pretty", "--python", "{python}"],
        ["lines", "-q", "-v", "-f", "work", "--python", "{python}"],
        ["record", "-q", "-f", "folded", "-o", "-", "--", "{python}"],
    ],
    ids=lambda words: "-".join(word for word in words[:2]),
)
@pytest.mark.parametrize("status", [0, 7])
def test_status_is_the_programs_when_nobody_reads(program, system_python, tmp_path, words, status):
    (tmp_path / "it.py").write_text(SEVEN % status)
    words = [word.format(python=system_python.path) for word in words]
    ended, err = into_closed_pipe(words + ["it.py"], tmp_path)
    assert ended == status, err
    # an export that went nowhere leaves its recording, and says so
    assert "Broken pipe" not in err and ("kept" in err) == (words[0] == "record"), err


def test_a_series_is_whole_when_nobody_reads(program, system_python, tmp_path):
    (tmp_path / "it.py").write_text(SEVEN % 0)
    words = ["profile", "--repeat", "2", "--python", system_python.path, "it.py"]
    assert into_closed_pipe(words, tmp_path) == (0, "")
    assert len(list(tmp_path.glob("performance/it/*/function_stats.json"))) == 1


@pytest.mark.parametrize("ignored", [False, True])
def test_the_program_has_sigpipe_as_we_had_it(program, system_python, tmp_path, ignored):
    """A handler of ours ends with the exec; ignored stays ignored."""
    pipe = 1 << 12
    shell = tmp_path / "python"
    shell.write_text("#!/bin/sh\ngrep Sig /proc/self/status >&2\nexec %s \"$@\"\n" % system_python.path)
    shell.chmod(0o755)
    (tmp_path / "it.py").write_text("pass\n")
    how = {"restore_signals": not ignored}  # Python itself ignores it
    for words in (["profile", "--python", shell, "it.py"], ["record", "-q", "--", shell, "it.py"]):
        status, err = into_closed_pipe(words, tmp_path, **how)
        masks = dict(line.split(":\t") for line in err.splitlines() if line.startswith("Sig"))
        assert status == 0 and bool(int(masks["SigIgn"], 16) & pipe) == ignored, err
        assert not int(masks["SigBlk"], 16) & pipe and not int(masks["SigCgt"], 16) & pipe, err


@pytest.mark.parametrize(
    "words",
    [
        ["profile", "--output-file", "{out}", "it.py"],
        ["calls", "-o", "{out}", "it.py"],
        ["lines", "-f", "work", "-o", "{out}", "it.py"],
        ["record", "-o", "{out}", "--", "{python}", "it.py"],
        ["record", "-f", "svg", "-o", "{out}", "--", "{python}", "it.py"],
        ["record", "-o", "{out}", "--", "./it.py"],
    ],
    ids=lambda words: "-".join(word for word in words[:3]),
)
@pytest.mark.parametrize("out", ["it.py", "other/../it.py", "hard.py"])
def test_the_script_is_not_replaced(program, system_python, tmp_path, words, out):
    script = tmp_path / "it.py"
    script.write_text("#!%s\nopen('ran', 'w')\n" % system_python.path)
    script.chmod(0o755)
    (tmp_path / "other").mkdir()
    os.link(str(script), str(tmp_path / "hard.py"))
    was = script.read_bytes()
    words = [word.format(out=out, python=system_python.path) for word in words]
    result = tool.run([str(BINARY)] + words, tmp_path)
    assert result.status == 2 and result.err.count("\n") == 1 and "name another file" in result.err, result
    assert script.read_bytes() == was and not (tmp_path / "ran").exists(), result
    assert not list(tmp_path.glob("performance/*/*")), result


def test_a_capture_is_not_replaced_by_what_is_made_of_it(program, system_python, tmp_path):
    (tmp_path / "it.py").write_text(SEVEN % 0)
    capture = tool.capture_of(tool.profile(system_python, ["it.py"], tmp_path))
    was = capture.read_bytes()
    link = tmp_path / "x.svg"
    os.link(str(capture), str(link))
    for words in (["export", "-f", "folded", "-o", capture, capture], ["flame", "-o", link, capture.parent]):
        result = tool.run([str(BINARY)] + words, tmp_path)
        assert result.status == 2 and "name another file" in result.err, result
        assert capture.read_bytes() == was
    calls = [str(BINARY), "calls", "--python", system_python.path, "-o", "x.pstats", "it.py"]
    assert tool.run(calls, tmp_path).status == 0
    was = (tmp_path / "x.pstats").read_bytes()
    result = tool.run([str(BINARY), "stats", "x.pstats", "-o", "./x.pstats"], tmp_path)
    assert result.status == 2 and "name another file" in result.err, result
    assert (tmp_path / "x.pstats").read_bytes() == was


def test_views_end_quietly_when_nobody_reads(program, system_python, tmp_path):
    """By the signal, as other tools do."""
    (tmp_path / "it.py").write_text(SEVEN % 0)
    result = tool.profile(system_python, ["it.py"], tmp_path)
    capture = tool.capture_of(result)
    for words in (["tree"], ["flame"], ["summarize"], ["inspect"], ["stats"], ["export", "-f", "folded"]):
        assert into_closed_pipe(words + [capture], tmp_path) == (128 + 13, ""), words
        # where the signal is ignored the write fails: no word of that either
        assert into_closed_pipe(words + [capture], tmp_path, restore_signals=False) == (2, ""), words


@pytest.mark.parametrize(
    "module, place, path, kept",
    [
        ("pk", "pk/__main__.py", None, "__main__.py"),
        ("pk", "pk.py", None, "pk.py"),
        ("pk.sub.tool", "pk/sub/tool.py", None, "tool.py"),
        ("pk", "lib/pk/__main__.py", "none:lib", "__main__.py"),
        ("pk", "lib/pk.py", "none:lib", "pk.py"),
        ("timeit", None, None, None),
    ],
)
def test_a_copy_of_a_modules_code(program, some_python, tmp_path, module, place, path, kept):
    """Of the user's own: as the interpreter finds it first. Else there is none."""
    if place:
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        if "/" in place and not place.startswith("lib/pk.py"):
            (tmp_path / place).with_name("__init__.py").write_text("")
        (tmp_path / place).write_text("print('it ran', __file__)\n")
    env = {"PYTHONPATH": path} if path else {}
    result = tool.profile(some_python, ["--module", module, "-n", "1", "pass"], tmp_path, env=env)
    assert result.status == 0, result
    code = [found.name for found in result.folder.iterdir() if found.suffix == ".py"]
    assert code == ([kept] if kept else []), code
    if kept:
        assert (tmp_path / place).name in result.out and "it ran" in (result.folder / kept).read_text()


def test_a_modules_code_is_not_replaced(program, system_python, tmp_path):
    (tmp_path / "pk.py").write_text("open('ran', 'w')\n")
    words = ["profile", "--python", system_python.path, "--output-file", "pk.py", "--module", "pk"]
    result = tool.run([str(BINARY)] + words, tmp_path)
    assert result.status == 2 and "name another file" in result.err, result
    assert not (tmp_path / "ran").exists()
