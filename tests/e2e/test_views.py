"""`tree` on captures of every Python: a known chain, its numbers, and what else an argument may be."""

import json

import pytest
from support.run import BINARY, profile, run

CHAIN = """\
import time


class Outer:
    def call(self):
        return middle()


def middle():
    return (lambda: inner("grüße"))()


def inner(text):
    end, n = time.process_time() + 0.35, 0
    while time.process_time() < end:
        n += sum(range(100))
    return n


Outer().call()
"""


def view(folder, *args, **env):
    return run([str(BINARY)] + [str(arg) for arg in args], folder, env=env)


def calls_of(folder, capture, *options):
    result = view(folder, "tree", capture, "--json", *options)
    assert result.status == 0 and result.stderr == b"", result
    return json.loads(result.out)


def seconds(times):
    return sum(times.values())


def path_of(calls, call):
    by_id = {one["id"]: one for one in calls}
    names = []
    while call["caller"] is not None:
        names.insert(0, call["name"])
        call = by_id[call["caller"]]
    return names


@pytest.fixture(scope="module")
def captured(program, system_python, tmp_path_factory):
    folder = tmp_path_factory.mktemp("views")
    (folder / "chain.py").write_text(CHAIN, encoding="utf-8")
    return profile(system_python, ["chain.py"], folder).folder


def test_the_known_chain(program, python, tmp_path):
    (tmp_path / "chain.py").write_text(CHAIN, encoding="utf-8")
    folder = profile(python, ["chain.py"], tmp_path).folder
    tree = calls_of(tmp_path, folder)
    wanted = ["<module>", "Outer.call", "middle", "middle.<locals>.<lambda>", "inner"]
    found = [call for call in tree["calls"] if path_of(tree["calls"], call) == wanted]
    assert len(found) == 1, [path_of(tree["calls"], call) for call in tree["calls"]]
    # All of the program's own work is below inner; nothing is more than the whole.
    whole = seconds(tree["calls"][0]["total_s"])
    assert seconds(found[0]["total_s"]) > 0.5 * whole, tree
    assert whole <= tree["wall_s"] * 1.0001
    for call in tree["calls"][1:]:
        assert call["kind"] in ("python", "waiting", "no python"), call
    with_native = calls_of(tmp_path, folder, "--native")
    assert any(call["kind"] == "native" for call in with_native["calls"])
    assert seconds(with_native["calls"][0]["total_s"]) == pytest.approx(whole)
    text = view(tmp_path, "tree", folder).out
    assert "inner (chain.py:13)" in text and "Interval (95%)" in text, text


def test_what_a_capture_may_be(captured, tmp_path):
    whole = view(tmp_path, "tree", captured).out
    assert "inner" in whole
    assert view(tmp_path, "tree", captured / "profile.fah").out == whole
    said = view(tmp_path, "inspect", captured)
    assert said.status == 0 and said.out == view(tmp_path, "inspect", captured / "profile.fah").out
    assert "chain.py" in said.out, said
    data = (captured / "profile.fah").read_bytes()
    (tmp_path / "cut.fah.partial").write_bytes(data[: len(data) * 2 // 3])
    for name in ("cut.fah.partial", "cut.fah"):
        cut = view(tmp_path, "tree", name)
        assert cut.status == 0 and "The capture has no end" in cut.out, cut
        assert view(tmp_path, "inspect", name).status == 0
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "profile.fah.partial").write_bytes(data[: len(data) * 2 // 3])
    assert view(tmp_path, "tree", "run").out == view(tmp_path, "tree", "cut.fah").out


@pytest.mark.parametrize(
    "args, words",
    [
        ((), "which capture"),
        (("nothing.fah",), "No such file"),
        (("empty",), "there is no profile.fah in this folder"),
        (("text.fah",), "not a Fixing-A-Hole capture"),
        (("zero.fah",), "not a Fixing-A-Hole capture"),
        (("a", "b"), "one capture at a time"),
        (("a", "--min", "many"), "a percentage is needed"),
        (("a", "--depth", "0"), "a number is needed"),
        (("a", "--deep"), "unknown option"),
    ],
)
def test_refusals(program, tmp_path, args, words):
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.fah").write_text("this is a text\n")
    (tmp_path / "zero.fah").touch()
    commands = ["tree"] if any(arg.startswith("-") for arg in args) else ["tree", "flame", "inspect"]
    for command in commands:
        result = view(tmp_path, command, *args)
        assert result.status == 2 and result.stdout == b"", result
        assert words in result.err and result.err.count("\n") == 1, result


def test_stdout_that_is_full(captured, tmp_path):
    """It is what failed, not the capture that was read."""
    views = ["tree", "tree --json", "flame", "inspect", "summarize"]
    printed = ["--help", "--version", "help record", "help --completion bash", "help --man"]
    for words in ["%s '%s'" % (view, captured) for view in views] + printed:
        result = run(["sh", "-c", "'%s' %s >/dev/full" % (BINARY, words)], tmp_path)
        assert result.status == 2 and result.err.startswith("fixingahole: stdout: No space left"), (words, result)
        assert result.err.count("\n") == 1, result


def test_terminals(captured, tmp_path):
    plain = view(tmp_path, "tree", captured, LC_ALL="C")
    assert plain.stdout.isascii() and b"\x1b" not in plain.stdout
    colour = view(tmp_path, "tree", captured, FORCE_COLOR="1")
    assert "\x1b[31m" in colour.out and "└" not in plain.out
    narrow = view(tmp_path, "tree", captured, COLUMNS="50").out.split("\n\n", 1)[1]
    assert max(map(len, narrow.splitlines())) <= 50, narrow
