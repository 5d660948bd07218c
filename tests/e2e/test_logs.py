"""logs.log: what a program logs and warns of, and the program none the wiser."""

import re
from pathlib import Path

from support.run import BINARY, TARGETS, plain, profile, run

FOLDER = TARGETS / "logs"
DRIVER = FOLDER / "each.py"
CASES = sorted(path.stem for path in FOLDER.glob("*.py") if path != DRIVER)
LEVELS = {"DEBUG": 10, "TRACE": 15, "INFO": 20, "WARNING": 30, "Level 33": 33, "ERROR": 40, "CRITICAL": 50}
EXPECTED = re.compile(r"# log: (Level \d+|\S+) (\S+): (.*)")
LINE = re.compile(
    r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} (Level \d+|\S+) (\S+) \((.*?):(\d+)(, process \d+)?\): (.*)"
)
KEPT = ("-q",)  # from WARNING on: nobody has to ask
ENV = {"PYTHONWARNINGS": None}  # else the interpreter imports warnings by itself


def script(folder, text, name="script.py"):
    path = folder / name
    path.write_text(text)
    return str(path)


def lines_of(result):
    """(level, name, file, line, text) of each entry of logs.log; none where there is no file."""
    path = result.folder / "logs.log"
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    assert text, "an empty file is left"
    found = [LINE.match(line) for line in text.splitlines()]
    return [match.group(1, 2, 3, 4, 6) for match in found if match]


def expected_of(case, least):
    text = (FOLDER / (case + ".py")).read_text()
    return [found for found in EXPECTED.findall(text) if LEVELS[found[0]] >= LEVELS[least]]


def same(python, args, cwd, options=KEPT, profiled=None, env=ENV):
    expected = plain(python, args, cwd, env=env)
    result = profile(python, profiled or args, cwd, options, env=env)
    assert result.out == expected.out
    assert result.err == expected.err
    assert result.status == expected.status
    return result


def held_against_plain(python, level, folder):
    """All the programs, in one run: the same bytes, and every record that they say is kept."""
    result = same(python, [str(DRIVER)] + CASES, folder, ["-q", "-l", level])
    wanted = [entry for case in CASES for entry in expected_of(case, level)]
    kept = []
    for name, logger, file, line, text in lines_of(result):
        assert file.endswith(".py") or file == "<string>"
        kept.append((name, logger, re.sub(r"\S+\.py:\d+:", "FILE:LINE:", text)))
    assert kept == wanted


def test_programs_are_the_same_and_their_logs_are_kept(program, python, tmp_path):
    held_against_plain(python, "DEBUG", tmp_path)


def test_only_from_the_level_on(program, system_python, tmp_path):
    held_against_plain(system_python, "WARNING", tmp_path)


def test_the_summary_says_where_and_how_many(program, system_python, tmp_path):
    text = "import warnings\nfor i in range(%d): warnings.warn(str(i))\n"
    for number, said in ((6, "6 warnings"), (1, "1 warning")):
        folder = tmp_path / str(number)
        folder.mkdir()
        script(folder, text % number)
        result = profile(system_python, ["script.py"], folder, [], env=ENV)
        place = result.folder.relative_to(folder) / "logs.log"
        line = "Check logs %s (%s)" % (place, said)
        assert line in result.out.splitlines()
        assert line in (result.folder / "profile_summary.txt").read_text().splitlines()
        assert len(lines_of(result)) == number


def test_nothing_is_left_where_nothing_was_said(program, system_python, tmp_path):
    path = script(tmp_path, "import logging\nlogging.info('below the level')\nprint('out')\n")
    result = same(system_python, [path], tmp_path)
    assert not (result.folder / "logs.log").exists()
    assert "Check logs" not in (result.folder / "profile_summary.txt").read_text()


def test_levels_and_records_of_errors(program, system_python, tmp_path):
    text = "import logging, warnings\nwarnings.warn('w')\nfor l in (10, 20, 30, 40, 50): logging.log(l, 'x')\n"
    path = script(tmp_path, text)
    for number, (level, names) in enumerate(
        (
            ("INFO", ["WARNING", "INFO", "WARNING", "ERROR", "CRITICAL"]),
            ("error", ["ERROR", "CRITICAL"]),
            ("CRITICAL", ["CRITICAL"]),
        )
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        result = same(system_python, [path], folder, ["-q", "--log-level", level])
        assert [entry[0] for entry in lines_of(result)] == names
        summary = (result.folder / "profile_summary.txt").read_text()
        errors = 1 if level == "CRITICAL" else 2
        assert ("%d error%s)" % (errors, "" if errors == 1 else "s")) in summary


def test_an_unknown_level(program, system_python, tmp_path):
    result = profile(system_python, [script(tmp_path, "pass"), "-l", "LOUD"], tmp_path)
    assert result.status == 2 and not (tmp_path / "performance").exists()
    assert "there are DEBUG, INFO, WARNING, ERROR, CRITICAL and OFF" in result.err


def test_warnings_as_errors(program, some_python, tmp_path):
    """Ours raises none, and the program's are not shown, so not kept."""
    path = script(
        tmp_path, "import logging, warnings\nlogging.error('kept')\nwarnings.warn('an error')\n"
    )
    result = same(some_python, [path], tmp_path, env={"PYTHONWARNINGS": "error"})
    assert result.status == 1 and "UserWarning: an error" in result.err
    assert [entry[4] for entry in lines_of(result)] == ["kept"]


def test_what_was_imported_before_the_program(program, some_python, tmp_path):
    """By a sitecustomize, or by the interpreter for -W."""
    script(tmp_path, "import logging, warnings\nlogging.getLogger('early')\n", "sitecustomize.py")
    path = script(tmp_path, "import logging, warnings\nlogging.warning('l')\nwarnings.warn('w')\n")
    env = {"PYTHONPATH": str(tmp_path), "PYTHONWARNINGS": "always"}
    result = same(some_python, [path], tmp_path, env=env)
    assert [entry[4] for entry in lines_of(result)] == ["l", "w"]


def test_module_code_and_a_killed_program(program, system_python, tmp_path):
    script(tmp_path, "import logging\nlogging.warning('module')\n", "a_module.py")
    warn = "import warnings; warnings.warn('code')"
    die = "import logging, os; logging.error('last word'); os.kill(os.getpid(), 9)"
    for args, profiled, said in (
        (["-m", "a_module"], ["--module", "a_module"], "module"),
        (["-c", warn], ["--code", warn], "code"),
        (["-c", die], ["--code", die], "last word"),
    ):
        folder = tmp_path / said
        folder.mkdir()
        result = same(system_python, args, folder, profiled=profiled, env=dict(ENV, PYTHONPATH=str(tmp_path)))
        assert [entry[4] for entry in lines_of(result)] == [said]


def test_a_logging_that_is_not_known_is_left_alone(program, system_python, tmp_path):
    """One that somebody has changed: the program has it as it is, and the summary says so."""
    where = "import logging; print(logging.__file__)"
    source = Path(plain(system_python, ["-c", where], tmp_path).out.strip()).read_text()
    changed = source.replace("self.handle(record)\n", "self.handle(record) or print('changed')\n", 1)
    assert changed != source
    (tmp_path / "lib" / "logging").mkdir(parents=True)
    script(tmp_path / "lib" / "logging", changed, "__init__.py")
    path = script(tmp_path, "import logging, warnings\nlogging.error('e')\nwarnings.warn('w')\n")
    result = same(system_python, [path], tmp_path, env=dict(ENV, PYTHONPATH=str(tmp_path / "lib")))
    assert "changed" in result.out
    assert [entry[4] for entry in lines_of(result)] == ["w"]
    summary = (result.folder / "profile_summary.txt").read_text()
    assert "Left as it was, so that its records are missing: logging (_log is not written" in summary


def test_a_long_message_is_cut(program, system_python, tmp_path):
    path = script(tmp_path, "import logging\nlogging.warning('\u00e4' * 100000)\n")
    (text,) = [entry[4] for entry in lines_of(same(system_python, [path], tmp_path))]
    assert text == "\u00e4" * 8192 + " [cut]"


def test_while_the_interpreter_is_taken_apart(program, some_python, tmp_path):
    result = same(some_python, [str(FOLDER / "deleted.py")], tmp_path, ["-q", "-l", "DEBUG"])
    kept = [entry[4] for entry in lines_of(result)]
    assert result.status == 0 and kept[:3] == ["object 1", "object 1", "last"] and len(kept) > 6


NOISY = """
import logging, warnings
class Raises(logging.Handler):
    def emit(self, record):
        raise OSError("disk")
logging.getLogger("a").debug("no %s", [1])
logging.warning("yes")
warnings.warn("w")
"""
WATCHERS = {
    "an audit hook": "import sys\nseen = []\nsys.addaudithook(lambda event, args, to=seen: to.append(event))\n",
    "a trace function": "import sys\nseen = []\ndef watch(frame, event, arg, to=seen):\n"
    "    to.append((event, frame.f_code.co_filename, frame.f_code.co_name, frame.f_lineno))\n"
    "    return watch\nsys.settrace(watch)\n",
    "a profile function": "import sys\nseen = []\ndef watch(frame, event, arg, to=seen):\n"
    "    to.append((event, frame.f_code.co_filename, frame.f_code.co_name))\nsys.setprofile(watch)\n",
}


STOP = "seen = tuple(seen)\nsys.settrace(None)\nsys.setprofile(None)\nfor line in seen:\n    print(line)\n"


def test_who_watches_the_import_sees_nothing_of_ours(program, some_python, tmp_path):
    for number, before in enumerate(WATCHERS.values()):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = script(folder, before + NOISY + STOP)
        plain(some_python, [path], folder, env=ENV)  # so that all is compiled
        result = same(some_python, [path], folder, ["-q", "-l", "DEBUG"])
        if some_python.version < (3, 11) or not number:
            summary = (result.folder / "profile_summary.txt").read_text()
            assert "Left as it was, so that its records are missing: " in summary


RECURSION = """
import logging
log = logging.getLogger("r")
log.setLevel(100)
def down(n):
    log.debug("%s %r", [[[n > 0]]], {"k": (n > 0, [1.5])})
    log.error(ValueError([[1]]), exc_info=True)
    return down(n + 1)
for _ in range(5):
    try:
        down(0)
    except RecursionError as error:
        depth, trace = 0, error.__traceback__
        while trace:
            depth, trace = depth + 1, trace.tb_next
        print(depth)
"""


def test_at_the_limit_of_recursion(program, python, tmp_path):
    """Up to 3.9 an error of ours that is cleared would leave the thread ready to be aborted."""
    same(python, [script(tmp_path, RECURSION)], tmp_path, ["-q", "-l", "DEBUG"])


INTERRUPTED = """
import os, signal, sys, time, traceback
sys.unraisablehook = lambda it: None  # whether a callback is what the signal meets is chance, with us and without
class Timeout(Exception):
    pass
def handler(number, frame):
    raise Timeout
signal.signal(signal.SIGALRM, handler)
for i in range(15):
    pid = os.fork()
    if pid == 0:
        try:
            # again where the interpreter ignores what was raised, as in a callback of a weak reference
            signal.setitimer(signal.ITIMER_REAL, 0.0005 * (i + 1), 0.7)
            import logging
            time.sleep(5)
        except Timeout as error:
            signal.setitimer(signal.ITIMER_REAL, 0)
            for line in traceback.format_tb(error.__traceback__):
                if "fixingahole" in line:
                    print(line)
            import logging
            logging.warning("here")
            os._exit(7)
        os._exit(1)
    print(os.waitpid(pid, 0)[1])
"""


def test_a_signal_while_the_module_is_changed(program, some_python, tmp_path):
    """What the program's handler raises reaches the program, as from any other import."""
    same(some_python, [script(tmp_path, INTERRUPTED)], tmp_path)


def test_allocators_of_debugging(program, some_python, tmp_path):
    """The hook of one that imports neither module stays to the end: the interpreter must not free it."""
    for number, text in enumerate(("print('none')\n", NOISY)):
        folder = tmp_path / str(number)
        folder.mkdir()
        same(some_python, [script(folder, text)], folder, env=dict(ENV, PYTHONDEVMODE="1"))


def test_a_sandbox_that_kills(program, some_python, tmp_path):
    """No system call of ours comes after the filter, up to the end."""
    args = [str(TARGETS / "sandboxed.py"), "prctl"]
    expected = plain(some_python, args + ["quick"], tmp_path)
    result = profile(some_python, args, tmp_path, KEPT)
    assert (result.out, result.status) == (expected.out, 0)


WAYS = {
    "no cache": {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": "nowhere"},
    "a cache elsewhere": {"PYTHONPYCACHEPREFIX": "elsewhere"},
    "optimised": {"PYTHONOPTIMIZE": "2"},
}
READ_FIRST = """
import os, sys
folder = os.path.dirname(os.__file__)
for i in range(3):
    open(os.path.join(folder, "logging", "__init__.py"), "rb").read()
    open(os.path.join(folder, "warnings.py"), "rb").read()
for i in range(100):
    open(os.devnull).close()
import logging, warnings
logging.warning("l")
warnings.warn("w")
"""
TWO_THREADS = """
import threading
threads = [threading.Thread(target=__import__, args=(name,)) for name in ("logging", "warnings")]
for thread in threads: thread.start()
for thread in threads: thread.join()
import logging, warnings
logging.warning("l")
warnings.warn("w")
"""
FORKED = """
import os
if os.fork():
    status = os.wait()[1]
    import warnings
    warnings.warn("w")
    raise SystemExit(status)
import logging
logging.warning("l")
"""
REPLACED = """
import sys, types
class Module(types.ModuleType):
    def warn(self, text):
        print(text)
sys.modules["warnings"] = Module("warnings")
import warnings
warnings.warn("not one")
del sys.modules["warnings"]
import logging, warnings
logging.warning("l")
warnings.warn("w")
"""


def test_ways_to_a_module(program, some_python, tmp_path):
    """However its code is read, and whatever was read before."""
    for way in sorted(WAYS):
        folder = tmp_path / way
        folder.mkdir()
        path = script(folder, "import logging, warnings\nlogging.warning('l')\nwarnings.warn('w')\n")
        for _ in range(2):  # the second finds what the first one compiled
            result = same(some_python, [path], folder, env=dict(ENV, **WAYS[way]))
            assert [entry[4] for entry in lines_of(result)] == ["l", "w"]
    for text in (READ_FIRST, TWO_THREADS, FORKED, REPLACED):
        folder = tmp_path / str(len(text))
        folder.mkdir()
        result = same(some_python, [script(folder, text)], folder)
        assert sorted(entry[4] for entry in lines_of(result)) == ["l", "w"]


OPENED = """
import errno, os, stat
os.umask(0)
for flags, mode in ((os.O_CREAT | os.O_WRONLY, 0o640), (os.O_CREAT | os.O_EXCL, 0o604), (os.O_RDONLY, 0)):
    try:
        fd = os.open("made", flags, mode)
        print(oct(stat.S_IMODE(os.fstat(fd).st_mode)), os.get_inheritable(fd))
        os.close(fd)
    except OSError as error:
        print(errno.errorcode[error.errno])
try:
    fd = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o601)
    print(oct(stat.S_IMODE(os.fstat(fd).st_mode)))
except OSError as error:
    print(errno.errorcode[error.errno])
for path in ("", "nowhere/logging/__init__.py", "made/warnings.py", b"\\xff/warnings.py", "x" * 5000):
    try:
        os.open(path, os.O_RDONLY)
    except OSError as error:
        print(errno.errorcode[error.errno])
os.unlink("made")
"""


def test_files_are_opened_as_they_were(program, python, tmp_path):
    same(python, [script(tmp_path, OPENED)], tmp_path)


def test_the_summary_again(program, system_python, tmp_path):
    """summarize has the line as long as the file is there, and counts it where the capture does not."""
    text = "import logging, warnings\nwarnings.warn('w\\nx')\nlogging.log(33, 'x')\nlogging.error('e')\n"
    result = profile(system_python, [script(tmp_path, text)], tmp_path, KEPT, env=ENV)
    capture = result.folder / "profile.fah"
    line = "Check logs %s (2 warnings, 1 error)" % (result.folder.relative_to(tmp_path) / "logs.log")
    for path in (result.folder, result.folder.relative_to(tmp_path)):
        assert line in run([str(BINARY), "summarize", str(path)], tmp_path).out.splitlines()
    data = capture.read_bytes()
    for key in (b"log_records", b"log_warnings", b"log_errors"):  # as of a run that was killed
        data = data.replace(key, b"x" * len(key))
    (result.folder / "profile.fah.partial").write_bytes(data)
    capture.unlink()
    assert line in run([str(BINARY), "summarize", str(result.folder)], tmp_path).out.splitlines()
    (result.folder / "logs.log").unlink()
    again = run([str(BINARY), "summarize", str(result.folder)], tmp_path)
    assert "Profile Summary" in again.out and "Check logs" not in again.out


def test_nothing_changes_unless_it_is_asked_for(program, system_python, tmp_path):
    path = script(
        tmp_path,
        "import logging\nprint(len(logging.Logger._log.__code__.co_consts))\nlogging.warning('w')\n",
    )
    expected = plain(system_python, [path], tmp_path)
    command = [str(BINARY), "record", "-o", "x.fah", "--", system_python.path, path]
    for result in (
        run(command, tmp_path, system_python),
        same(system_python, [path], tmp_path, ["-q", "--log-level", "OFF"]),
    ):
        assert result.out == expected.out and not list(tmp_path.glob("**/logs.log"))
