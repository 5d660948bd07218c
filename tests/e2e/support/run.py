"""Running programs, plain and profiled, on this machine or inside another root."""

import os
import re
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Dict, List, Optional

from support.pythons import REPO, Python

TARGETS = REPO / "tests" / "targets"
BINARY = Path(
    os.environ.get("FIXINGAHOLE_BIN", str(REPO / "build" / "src" / "cli" / "fixingahole"))
)
# Of `profile`, in every test: what looks for harm is run with --memory as well.
ALSO = os.environ.get("FAH_ALSO", "").split()
FULL = bool(os.environ.get("FAH_FULL"))
TIMEOUT = 300  # nothing here takes as long; a hang is a failure, not a wait
AGENT = "libfixingahole-agent*.so"
# What would make a plain run differ from another plain run, or a report from another report.
UNWANTED = (
    "NO_COLOR",
    "FORCE_COLOR",
    "COLUMNS",
    "LINES",
    "PYTHONSTARTUP",
    "PYTHONPATH",
    "PYTHONHOME",
    "LD_PRELOAD",
    "FIXINGAHOLE_TEST_HZ",
    "FIXINGAHOLE_ROOT",
    "FIXINGAHOLE_OUTPUT",
    "FIXINGAHOLE_IGNORE",
    "FIXINGAHOLE_DURATION",
)


@dataclass
class Result:
    status: int  # as a shell shows it: 128+n for a signal
    stdout: bytes
    stderr: bytes
    folder: Optional[Path] = None  # the run folder, where there is one

    @property
    def out(self) -> str:
        return self.stdout.decode("utf-8", "replace")

    @property
    def err(self) -> str:
        return self.stderr.decode("utf-8", "replace")

    def __str__(self) -> str:
        return "status %d\n--- stdout\n%s\n--- stderr\n%s\n---" % (
            self.status,
            self.out[-4000:],
            self.err[-4000:],
        )


def build_root() -> Path:
    """What must be visible inside another root: the build directory, or the installation."""
    resolved = BINARY.resolve()
    return resolved.parents[2] if resolved.parent.name == "cli" else resolved.parents[1]


def environment(extra: Optional[Dict[str, str]] = None) -> Dict[str, str]:
    env = {key: value for key, value in os.environ.items() if key not in UNWANTED}
    env.setdefault("LC_ALL", "C.UTF-8")
    # Of forks in programs with threads, from 3.12 on: a thread that was joined may still be there for the
    # kernel, so the same program warns at times and at times not.
    env.setdefault("PYTHONWARNINGS", "ignore:This process:DeprecationWarning")
    env.update(extra or {})
    return {key: value for key, value in env.items() if value is not None}


def enter(python: Optional[Python], cwd: Path, command: List[str]) -> List[str]:
    """The command that runs `command` where the Python lives. The process stays the same one."""
    if python is None or not python.foreign:
        return command
    binds: List[str] = []
    for folder in ("/tmp", str(REPO), str(build_root()), str(cwd)):
        real = os.path.realpath(folder)
        if not any(real == done or real.startswith(done + "/") for done in binds):
            binds.append(real)
    wrapped = [str(REPO / "tools" / "in-root")]
    for folder in binds:
        wrapped += ["--bind", folder]
    return wrapped + ["--cd", str(cwd), python.root] + command


def start(
    command: List[str],
    cwd: Path,
    python: Optional[Python] = None,
    env=None,
    stdin=subprocess.DEVNULL,
    **options,
) -> subprocess.Popen:
    # A session of its own: no terminal to find, and a group to end whole if a test fails.
    options.setdefault("start_new_session", True)
    return subprocess.Popen(
        enter(python, cwd, [str(part) for part in command]),
        cwd=str(cwd),
        env=environment(env),
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


def finish(process: subprocess.Popen, stdin: Optional[bytes] = None, timeout=TIMEOUT) -> Result:
    try:
        out, err = process.communicate(stdin, timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        raise AssertionError(
            "still running after %d s: %s\n%s\n%s"
            % (timeout, process.args, out[-2000:], err[-2000:])
        )
    status = process.returncode
    return Result(status if status >= 0 else 128 - status, out, err)


def run(
    command: List[str],
    cwd: Path,
    python: Optional[Python] = None,
    env=None,
    stdin: Optional[bytes] = None,
    timeout=TIMEOUT,
    **options,
) -> Result:
    pipe = subprocess.DEVNULL if stdin is None else subprocess.PIPE
    return finish(start(command, cwd, python, env, pipe, **options), stdin, timeout)


def plain(python: Python, args: List[str], cwd: Path, **options) -> Result:
    return run([python.path] + list(args), cwd, python, **options)


def profile_command(python: Optional[Python], args: List[str], options: List[str]) -> List[str]:
    command = [str(BINARY), "profile"] + list(options) + ALSO
    if python is not None:
        command += ["--python", python.path]
    return command + [str(arg) for arg in args]


def profile(
    python: Optional[Python],
    args: List[str],
    cwd: Path,
    options=("-q",),
    hz: Optional[int] = None,
    env=None,
    **rest,
) -> Result:
    """`fixingahole profile OPTIONS --python P ARGS`. With hz: the test clock."""
    env = dict(env or {})
    if hz:
        env["FIXINGAHOLE_TEST_HZ"] = str(hz)
    result = run(profile_command(python, args, list(options)), cwd, python, env=env, **rest)
    result.folder = run_folder(cwd / "performance")
    return result


FOLDER = re.compile(r"\d{8}_\d{6}(?:\D.*)?$")


def run_folder(top: Path) -> Optional[Path]:
    """The one run folder below top; None where there is none."""
    folders = sorted(path for path in top.glob("*/*") if path.is_dir() and FOLDER.match(path.name))
    return folders[-1] if folders else None


def inspect(capture: Path, *options: str, cwd: Optional[Path] = None) -> Result:
    return run([str(BINARY), "inspect", str(capture)] + list(options), cwd or capture.parent)


def capture_of(result: Result) -> Path:
    assert result.folder is not None, "no run folder was made\n%s" % result
    path = result.folder / "profile.fah"
    assert path.is_file(), "no capture in %s: %s\n%s" % (
        result.folder,
        os.listdir(result.folder),
        result,
    )
    return path


def wait_until(test, timeout=120.0, what="the condition"):
    """Polls; the only wait in the tests that is bounded by time."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        value = test()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError("%s did not come within %g s" % (what, timeout))


def copy_tool(folder: Path) -> Path:
    """The program and its agent, copied to where another user may reach them."""
    top = build_root()
    for path in list(top.rglob(AGENT)) + [BINARY.resolve()]:
        place = folder / path.relative_to(top)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, place)
    return folder / BINARY.resolve().relative_to(top)


@lru_cache(maxsize=None)
def starts_in(root: str) -> bool:
    """Whether the program, built against this machine's C library, starts in that root."""
    if root == "/" or not BINARY.exists():
        return True
    inside = Python("probe", (), root, "")
    command = enter(inside, Path("/tmp"), [str(BINARY), "--version"])
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return done.returncode == 0
