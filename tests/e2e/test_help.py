"""Help, man page and completion come from one table: every option is in each of them."""

import os
import re
import shutil
import subprocess

import pytest
from support.pythons import REPO
from support.run import BINARY, run
from support.terminal import Terminal


def said(tmp_path, *args):
    result = run([str(BINARY)] + list(args), tmp_path)
    assert result.status == 0 and result.stderr == b"" and result.stdout, result
    return result.out


def commands(tmp_path):
    text = said(tmp_path, "--help")
    found = re.findall(r"^  ([a-z]+) {2,}\S", text.split("\n\n")[2], re.M)
    assert {"profile", "inspect"} <= set(found), text
    return found


def topics(tmp_path):
    text = said(tmp_path, "help").split("topics, for fixingahole help TOPIC:\n")[1]
    found = re.findall(r"^  ([a-z-]+) +(\S.*)", text.split("\n\n")[0], re.M)
    assert len(found) > 8, text
    return dict(found)


def options_of(tmp_path, command):
    return sorted(
        set(re.findall(r"^  (?:-\w+, )?(--[a-z-]+)", said(tmp_path, command, "--help"), re.M))
    )


def test_the_options_of_profile(program, tmp_path):
    found = options_of(tmp_path, "profile")
    assert {
        "--module",
        "--code",
        "--rate",
        "--python",
        "--output-directory",
        "--quiet",
        "--help",
    } <= set(found), found


@pytest.mark.parametrize("way", [["--help"], ["-h"], ["help"]])
def test_help_of_the_program(program, way, tmp_path):
    assert said(tmp_path, *way) == said(tmp_path, "--help")


def test_help_of_each_command(program, tmp_path):
    for command in commands(tmp_path):
        text = said(tmp_path, command, "--help")
        assert text == said(tmp_path, "help", command)
        assert text.startswith("usage: fixingahole %s" % command)
        assert max(map(len, text.splitlines())) <= 110


def test_topics(program, tmp_path):
    for topic, summary in topics(tmp_path).items():
        text = said(tmp_path, "help", topic)
        assert text.startswith("%s: %s\n\n" % (topic, summary)) and text.endswith("\n"), text
        assert max(map(len, text.splitlines())) <= 110 and not re.search(r" $|\n\n\n", text, re.M), text
        assert topic not in commands(tmp_path)
    assert "\n    [tool.fixingahole]\n    root = " in said(tmp_path, "help", "settings")
    assert "  speedscope  " in said(tmp_path, "help", "formats")


@pytest.mark.parametrize(
    "words, says",
    [
        (["help", "setings"], "no command or topic 'setings'; nearest: settings; "),
        (["help", "proflie"], "; nearest: profile; "),
        (["help", "exit_status"], "; nearest: exit-status; "),
        (["help", "xyzzyxyzzy"], "'xyzzyxyzzy'; fixingahole help lists them"),
        (["proflie", "x.py"], "no command 'proflie'; nearest: profile; "),
        (["sumarise"], "; nearest: summarize; "),
        (["settings"], "settings is no command but a topic: fixingahole help settings"),
        (["one\ntwo"], "no command 'one\\ntwo'; fixingahole help lists them"),
    ],
)
def test_no_such_command_or_topic(program, words, says, tmp_path):
    result = run([str(BINARY)] + words, tmp_path)
    assert result.status == 2 and result.stdout == b"" and says in result.err, result
    assert result.err.count("\n") == 1, result


def test_what_topics_say_of_options_is_there(program, tmp_path):
    """An option, topic or file that a topic names exists."""
    known = set(commands(tmp_path)) | set(topics(tmp_path))
    options = {option for command in commands(tmp_path) for option in options_of(tmp_path, command)}
    for topic in topics(tmp_path):
        text = said(tmp_path, "help", topic)
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", text):
            assert option in options | {"--version", "--size"}, (topic, option)
        for word in re.findall(r"\bfixingahole help ([a-z-]+)", text):
            assert word in known, (topic, word)
        for path in re.findall(r"\bdoc/\w+\.md", text):
            assert (REPO / path).is_file(), (topic, path)


def test_version(program, tmp_path):
    assert re.search(r"\d+\.\d+\.\d+", said(tmp_path, "--version"))


def test_man_page_has_every_command_and_option(program, tmp_path):
    page = said(tmp_path, "help", "--man").replace("\\-", "-")
    for topic, summary in topics(tmp_path).items():
        assert "\n.SS %s: %s\n" % (topic, summary) in page
    for command in commands(tmp_path):
        assert "fixingahole %s" % command in page
        for option in options_of(tmp_path, command):
            if option != "--help":
                assert option in page, "%s of %s is not in the man page" % (option, command)


def test_man_page_is_sound(program, tmp_path):
    if shutil.which("mandoc") is None and shutil.which("man") is None:
        pytest.skip("SKIP: neither mandoc nor man here")
    page = tmp_path / "fixingahole.1"
    page.write_text(said(tmp_path, "help", "--man"))
    tool = (
        ["mandoc", "-T", "lint", "-W", "error"]
        if shutil.which("mandoc")
        else ["man", "--warnings", "-l"]
    )
    done = subprocess.run(tool + [str(page)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 0 and done.stderr == b"", done


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_has_every_command_and_option(program, shell, tmp_path):
    script = said(tmp_path, "help", "--completion", shell)
    assert " ".join(list(commands(tmp_path)) + list(topics(tmp_path))) in script
    for command in commands(tmp_path):
        assert command in script
        for option in options_of(tmp_path, command):
            if option == "--help":
                continue
            form = "-l " + option[2:] if shell == "fish" else option
            assert form in script, "%s of %s is not in the completion for %s" % (
                option,
                command,
                shell,
            )


@pytest.mark.parametrize(
    "command", [["bash", "-n"], ["zsh", "-f", "-n"], ["fish", "-N", "-n"]], ids=lambda c: c[0]
)
def test_completion_is_sound(program, command, tmp_path):
    """The shell itself can read it."""
    if shutil.which(command[0]) is None:
        pytest.skip("SKIP: no %s here" % command[0])
    path = tmp_path / "completion"
    path.write_text(said(tmp_path, "help", "--completion", command[0]))
    done = subprocess.run(command + [str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b""), done


def test_completion_as_fish_does_it(program, tmp_path):
    if shutil.which("fish") is None:
        pytest.skip("SKIP: no fish here")
    path = tmp_path / "fixingahole.fish"
    path.write_text(said(tmp_path, "help", "--completion", "fish"))

    def offered(typed):
        program = "source %s; complete -C '%s'" % (path, typed)
        out = subprocess.check_output(["fish", "-N", "-c", program], cwd=str(tmp_path))
        return {line.split("\t")[0] for line in out.decode().splitlines()}

    assert offered("fixingahole pro") == {"profile"}
    assert offered("fixingahole help --completion ") == {"bash", "zsh", "fish"}
    assert {"--rate", "--repeat"} <= offered("fixingahole profile --r")


def complete(script, words):
    """What bash offers for the last of the words."""
    program = (
        script
        + "\nCOMP_WORDS=(%s)\nCOMP_CWORD=%d\n_fixingahole\nprintf '%%s\\n' \"${COMPREPLY[@]}\"\n"
        % (" ".join("'%s'" % word for word in words), len(words) - 1)
    )
    done = subprocess.run(
        ["bash", "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )
    assert done.returncode == 0 and done.stderr == "", done
    return done.stdout.split()


def test_bash_completes(program, tmp_path):
    script = said(tmp_path, "help", "--completion", "bash")
    assert complete(script, ["fixingahole", "pro"]) == ["profile"]
    assert "--rate" in complete(script, ["fixingahole", "profile", "--"])
    assert complete(script, ["fixingahole", "profile", "--rat"]) == ["--rate"]
    assert complete(script, ["fixingahole", "inspect", "--rec"]) == ["--records"]
    assert complete(script, ["fixingahole", "help", "s"]) == ["summarize", "stats", "scope", "settings"]
    assert complete(script, ["fixingahole", "help", "exit-"]) == ["exit-status"]
    assert complete(script, ["fixingahole", "help", "--com"]) == ["--completion"]
    assert complete(script, ["fixingahole", "profile", "it"]) == []  # bash completes files itself


# By words as bash splits them: '=' is one of its own.
VALUES = [
    (["profile", "--duration"], ["relative", "absolute"]),
    (["profile", "--clock"], ["timer", "perf"]),
    (["record", "--clock"], ["timer", "perf"]),
    (["profile", "--log-level"], ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL", "OFF"]),
    (["profile", "-l"], ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL", "OFF"]),
    (["help", "--completion"], ["bash", "zsh", "fish"]),
    (["graph", "--colour-by"], ["total", "self"]),
    (["graph", "-f"], ["pstats", "callgrind", "folded"]),
    (["tree", "--memory", "="], ["peak", "live", "temporary", "total"]),
    (["profile", "--no-plots", "="], ["matplotlib", "plotly", "seaborn", "bokeh", "all"]),
]


@pytest.mark.parametrize("words, values", VALUES, ids=lambda value: "".join(value[:3]))
def test_bash_completes_values(program, tmp_path, words, values):
    script = said(tmp_path, "help", "--completion", "bash")
    before = ["fixingahole"] + words
    assert complete(script, before + [""]) == values
    assert complete(script, before + [values[0][:2]]) == values[:1]
    if "=" in words:  # the value may be left out, so the next word is none
        assert complete(script, before) == values
        assert complete(script, before[:-1] + [""]) == []
    elif words[1].startswith("--"):
        assert complete(script, before + ["="]) == values
        assert complete(script, before + ["=", values[0][:2]]) == values[:1]
    for shell in ("zsh", "fish"):
        text = said(tmp_path, "help", "--completion", shell)
        assert ("(%s)'" if shell == "zsh" else "-f -a '%s' ") % " ".join(values) in text


def test_formats_are_completed(program, tmp_path):
    """Those that the help lists, of record and export."""
    names = re.findall(r"^  (\w+)", said(tmp_path, "export", "--help").split("\nformats:\n")[1].split("\n\n")[0], re.M)
    assert {"svg", "speedscope", "pprof"} <= set(names)
    script = said(tmp_path, "help", "--completion", "bash")
    for words in (["export", "-f"], ["record", "--format"], ["export", "x.fah", "--format", "="]):
        assert complete(script, ["fixingahole"] + words + [""]) == names


def test_values_that_are_completed_are_taken(program, tmp_path):
    """What an option offers, it takes: the refusal is of the capture or the file that is not there."""
    for words, values in VALUES:
        for value in values:
            option = [words[1] + "=" + value] if "=" in words else [words[1], value]
            result = run([str(BINARY), words[0]] + option + ["absent"], tmp_path)
            if words[0] == "help":
                assert result.status == 0, result
            else:
                assert "absent" in result.err and value not in result.err, result


@pytest.mark.parametrize("name", ["my file.py", "x*y.py", "x[1].py", "it's.py", "a$b.py", 'q"q.py'])
def test_bash_completes_names_of_files(program, tmp_path, name):
    """As they are typed at a real one: spaces, quotes and patterns reach the program as they are."""
    (tmp_path / "complete.sh").write_text(said(tmp_path, "help", "--completion", "bash"))
    here = tmp_path / "here"
    (here / "stats").mkdir(parents=True)
    (here / name).write_text("")
    at = Terminal(["bash", "--norc", "--noprofile", "-i"], here)
    os.write(at.master, b"PS1='$ ' HISTFILE=; . ../complete.sh; fixingahole() { printf '<%s>' \"$@\"; echo; }\n")
    os.write(at.master, b"fixingahole prof\t --output-di\tout " + name[0].encode() + b"\t\n")
    at.until(("<profile><--output-directory><out><%s>" % name).encode())
    # a command is a word, also where there is a folder of that name
    os.write(at.master, b"fixingahole stat\tx\nfixingahole profile --duration=abs\tx\nexit\n")
    at.until(b"<stats><x>")
    at.until(b"<profile><--duration=absolute><x>")
    at.end()
