"""Programs that are hard to watch without harm: each does, prints and returns what it does alone."""

import ctypes
import fcntl
import math
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from support import capture
from support import run as tool
from support.run import TARGETS, capture_of, inspect, plain, profile, profile_command
from test_same_behaviour import same, script

HARM = TARGETS / "harm"
JEMALLOC = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
RATES = pytest.mark.parametrize("hz", [None, 5000])
ROOT_ONLY = pytest.mark.skipif(os.getuid() != 0, reason="SKIP: only root can do that")


def rate(hz):
    return {"FIXINGAHOLE_TEST_HZ": str(hz)} if hz else {}


ALONE = {}


def said_alone(python, words, cwd, env=None, **rest):
    """What a program says without us: for another rate it need not be run again."""
    key = (python.name, tuple(words), tuple(sorted((env or {}).items())))
    if key not in ALONE:
        ALONE[key] = plain(python, words, cwd, env=env, **rest)
    return ALONE[key]


def recorded(result):
    """Who is not recorded is not harmed either: a run without samples, or whose agent refused, shows nothing."""
    it = capture.read(capture_of(result))
    assert it.reasons == [], "an agent refused"
    assert it.samples, "nothing was sampled"


def unharmed(python, name, cwd, *args, hz=None, env=None, **rest):
    """That program of tests/targets/harm, plain and profiled; and it was recorded."""
    both = dict(env or {}, PYTHONWARNINGS="ignore")
    words = [str(HARM / name)] + list(args)
    if not rest:
        rest = {"expected": said_alone(python, words, cwd, both)}
    result = same(python, words, cwd, env=dict(both, **rate(hz)), **rest)
    recorded(result)
    return result


def limited(words, python, name, cwd, *args):
    """The same under `words COMMAND`."""
    command = [str(HARM / name)] + list(args)
    expected = tool.run(words + [python.path] + command, cwd, python)
    result = tool.run(words + profile_command(python, command, ["-q"]), cwd, python)
    result.folder = tool.run_folder(cwd / "performance")
    assert (result.status, result.out, result.err) == (
        expected.status,
        expected.out,
        expected.err,
    ), "plain:\n%s\nprofiled:\n%s" % (expected, result)
    return result


# Children


@RATES
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(program, some_python, method, hz, tmp_path):
    result = unharmed(some_python, "pools.py", tmp_path, method, hz=hz)
    it = capture.read(capture_of(result))
    assert len(it.processes) - 1 >= 3, "the workers were not recorded"


@RATES
def test_fork_storm(program, some_python, hz, tmp_path):
    unharmed(some_python, "forkstorm.py", tmp_path, "60", hz=hz)


def test_large_environment_and_small_stack(program, local_python, tmp_path):
    """A child's environment is not laid out on the stack of the thread that starts it."""
    result = unharmed(local_python, "manyvars.py", tmp_path, "12000")
    assert result.out.split() == ["0", "0", "0", "12000", "0"] * 3
    # some fork first, and may be sampled before they exec
    known = [p for p in capture.read(capture_of(result)).processes[1:] if not p.forked & 1]
    assert len(known) == 4, "such a child is followed"


def test_arguments_at_the_limit(program, local_python, tmp_path):
    """What just fits into an exec still does: our variables stay out where they don't fit."""
    result = limited(["prlimit", "--stack=1048576"], local_python, "arglimit.py", tmp_path)
    assert min(int(size) for size in result.out.split()) > 200000


# Stacks and limits


@pytest.mark.parametrize("size", ["4096", "8192", "65536"])
def test_alternate_stack(program, some_python, size, tmp_path):
    """faulthandler sets one of 8 kB, in the middle of the heap."""
    expected = plain(some_python, [str(HARM / "altstack.py"), size, "0"], tmp_path)
    result = unharmed(some_python, "altstack.py", tmp_path, size, "0.3", expected=expected)
    assert result.out == "0\nlives\n"
    assert capture.read(capture_of(result)).samples


def test_thread_with_little_stack_left(program, local_python, tmp_path):
    """A handler takes what the kernel puts on the stack, and next to nothing more. (Not on 3.15: its own margin is more
    than these stacks have.)"""

    def deepest(size):
        low, high = 1, 256
        while high - low > 1:
            middle = (low + high) // 2
            words = [str(HARM / "smallstack.py"), str(middle), str(size)]
            low, high = (middle, high) if plain(local_python, words, tmp_path).status == 0 else (low, middle)
        return low

    low = deepest(32768)
    level = 32768 / (deepest(65536) - low)  # 0.7 to 0.9 kB
    signal_frame = ctypes.CDLL(None).getauxval(51) or 2048  # AT_MINSIGSTKSZ: by the CPU, 3.4 kB with AVX-512
    spare = math.ceil((signal_frame + 512) / level)
    result = None
    for _ in range(3):
        result = unharmed(local_python, "smallstack.py", tmp_path, str(low - spare))
    assert result.out == "lives\n"
    assert capture.read(capture_of(result)).samples


def test_deep_c_stacks(program, some_python, tmp_path):
    unharmed(some_python, "deepc.py", tmp_path)
    unharmed(some_python, "deepc.py", tmp_path, hz=500)


LIMITS = {
    "stack of 256 kB": ["prlimit", "--stack=262144"],
    "endless stack": ["prlimit", "--stack=unlimited"],
    "8 descriptors": ["prlimit", "--nofile=8"],
    "no locked memory": ["prlimit", "--memlock=0"],
    "no pending signals": ["prlimit", "--sigpending=0"],
    "files of 200 kB": ["prlimit", "--fsize=200000"],
    "files of 1.1 MB": ["prlimit", "--fsize=1100000"],
    "addresses as they are": ["setarch", "-R"],
    "old address layout": ["setarch", "-L"],
    "80 MB of addresses": ["prlimit", "--as=80000000"],
}
# where nothing can be recorded, and what the summary says of that
UNRECORDED = {
    "8 descriptors": "the profiler may not open enough files (ulimit -n)",
    "files of 200 kB": "files may have 200.000 kB here (ulimit -f), and a recording needs one of 1.094 MB",
}


@pytest.mark.parametrize("limit", LIMITS)
def test_limits(program, system_python, limit, tmp_path):
    """It is recorded, or the summary says which limit is in the way."""
    result = limited(LIMITS[limit], system_python, "limited.py", tmp_path)
    if limit not in UNRECORDED:
        return recorded(result)
    text = " ".join((result.folder / "profile_summary.txt").read_text(encoding="utf-8").split())
    assert "No process could be recorded: %s." % UNRECORDED[limit] in text, text
    assert not capture.read(capture_of(result)).samples


def test_a_file_limit_that_we_cannot_live_with(program, system_python, tmp_path):
    """A line and a status, not a death by SIGXFSZ."""
    words = ["prlimit", "--fsize=1000"]
    command = profile_command(system_python, [str(HARM / "limited.py")], ["-q"])
    result = tool.run(words + command, tmp_path)
    assert result.status == 2 and "File too large" in result.err, result


def test_little_address_space(program, system_python, tmp_path):
    """Where our tables might be what is missing, nothing is recorded, and the reason is said."""
    result = limited(["prlimit", "--as=26000000"], system_python, "limited.py", tmp_path)
    reasons = capture.read(capture_of(result)).reasons  # its own, and its child's
    assert reasons and all("address space is limited" in reason for reason in reasons)


def test_address_space(program, system_python, tmp_path):
    """What the agent takes of it, at most; a program that is limited has that much less."""
    limited([], system_python, "seen.py", tmp_path, "x")
    profiled = [int(word) for word in (tmp_path / "measured").read_text().split()]
    plain(system_python, [str(HARM / "seen.py"), "x"], tmp_path)
    alone = [int(word) for word in (tmp_path / "measured").read_text().split()]
    assert alone[2] == 0 and profiled[2] > 0
    # memory: the size of each block, in an eighth of the room that it takes
    assert profiled[0] - alone[0] < (16000 if tool.ALSO else 8000), "kB of address space"
    assert profiled[1] - alone[1] < 6000, "kB of memory"


def test_what_a_program_sees_of_itself(program, some_python, tmp_path):
    unharmed(some_python, "seen.py", tmp_path)


# Signals and faults


def test_own_timers(program, some_python, tmp_path):
    """Not at 5 kHz: that clock interrupts what is blocked, and a sigtimedwait() that is interrupted at its
    very end gives Python uninitialised memory."""
    unharmed(some_python, "owntimers.py", tmp_path)


@RATES
@pytest.mark.parametrize("what", ["later", "user", "many", "fault", "overflow", "abort"])
def test_faulthandler(program, some_python, what, hz, tmp_path):
    args = [str(HARM / "faults.py"), what]
    texts = []
    alone = said_alone(some_python, args, tmp_path, preexec_fn=no_core)
    for result in (alone, profile(some_python, args, tmp_path, hz=hz, preexec_fn=no_core)):
        texts.append((result.status, result.out, re.sub("0x[0-9a-f]+", "ADDRESS", result.err)))
    if what == "overflow" and some_python.version >= (3, 12):
        # an exception raised so near the end that what it prints differs from run to run
        texts = [text[:2] for text in texts]
    assert texts[0] == texts[1]
    if what == "fault":
        assert texts[0][0] == 128 + signal.SIGSEGV and "in fault" in texts[0][2]


def no_core():
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


# Interpreters, schedulers, libraries


@RATES
def test_switch_interval(program, some_python, hz, tmp_path):
    unharmed(some_python, "switching.py", tmp_path, hz=hz)


def pip_of(python, top):
    """The command that installs for that Python; Debian's own has none but in a venv."""
    runner = [python.path, "-m", "pip"]
    if subprocess.call(runner + ["--version"], stdout=-3, stderr=-3) != 0:
        venv = top / ("venv-" + python.name)
        if not venv.is_dir():
            subprocess.check_call([python.path, "-m", "venv", str(venv)])
        runner[0] = str(venv / "bin" / "python3")
    return runner


@pytest.fixture(scope="session")
def wheels():
    """A folder with that package for that Python, once for all runs; where PyPI has none, the test says
    so. Workers that run side by side share them."""
    top = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "fixingahole" / "wheels"
    top.mkdir(parents=True, exist_ok=True)
    failed = {}  # it may be the network: the next run asks again

    def get(python, package):
        if python.foreign:
            pytest.skip("SKIP: %s: no pip in %s" % (package, python.root))
        folder = top / ("%s-%s" % (package, python.name))
        with open(str(top / (python.name + ".lock")), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not folder.is_dir() and folder not in failed:
                options = "install -q --disable-pip-version-check --only-binary :all: --target"
                half = str(folder) + ".half"
                shutil.rmtree(half, ignore_errors=True)
                command = pip_of(python, top) + options.split() + [half, package]
                done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                if done.returncode == 0:
                    os.rename(half, str(folder))
                else:
                    failed[folder] = done.stdout.decode("utf-8", "replace")
        if folder in failed:
            pytest.skip("SKIP: no %s for %s:\n%s" % (package, python.name, failed[folder]))
        return str(folder)

    return get


@RATES
def test_greenlets(program, local_python, wheels, hz, tmp_path):
    path = wheels(local_python, "greenlet")
    env = {"PYTHONPATH": path}
    expected = plain(local_python, [str(HARM / "greenlets.py"), "0"], tmp_path, env=env)
    result = unharmed(local_python, "greenlets.py", tmp_path, "1", hz=hz, env=env, expected=expected)
    it = capture.read(capture_of(result)).of_python()
    found = set()
    for _, _, _, _, node in it.samples:
        names = [function.name for function, _ in it.path(node)]
        assert not {"shallow", "deep"} <= set(names), names
        for name, depth in ("shallow", 6), ("deep", 41):
            if name in names:
                found.add(name)
                assert names.count("work") <= depth, names
    assert found == {"shallow", "deep"}
    assert it.drop_share() < 0.15, inspect(capture_of(result)).out


@RATES
@pytest.mark.parametrize("package", ["gevent", "uvloop"])
def test_event_loops(program, local_python, wheels, package, hz, tmp_path):
    path = wheels(local_python, package)
    result = unharmed(local_python, package + "s.py", tmp_path, hz=hz, env={"PYTHONPATH": path})
    it = capture.read(capture_of(result))
    assert not it.drops_too_often(0.02), (it.drops, len(it.samples))


def test_jemalloc(program, local_python, tmp_path):
    if not os.path.exists(JEMALLOC):
        pytest.skip("SKIP: no libjemalloc2 here")
    unharmed(local_python, "preloaded.py", tmp_path, env={"LD_PRELOAD": JEMALLOC})


@pytest.fixture(scope="session")
def libraries(tmp_path_factory):
    """20 libraries, some of the same size, each with a function of its own name."""
    folder = tmp_path_factory.mktemp("libraries")
    for i in range(20):
        source = folder / ("w%d.c" % i)
        source.write_text(
            "long work%d(long n) { volatile long x = %d; for (long i = 0; i < n; i++) x += i * %d;"
            " return x; }\nchar room%d[%d] = {1};\n" % (i, i, i, i, 4096 * (1 + i % 5))
        )
        library = str(folder / ("libw%d.so" % i))
        subprocess.check_call(["gcc", "-O1", "-shared", "-fPIC", "-o", library, str(source)])
    return folder


def wrong_names(path):
    """Samples in which callI has somebody else's workJ below it; and those with its own."""
    it, own, wrong = capture.read(path), 0, []
    for _, _, _, _, node in it.samples:
        names = [function.name for function, _ in it.path(node)]
        callers = {name[4:] for name in names if re.fullmatch(r"call\d+", name)}
        works = {name[4:] for name in names if re.fullmatch(r"work\d+", name)}
        own += callers == works and bool(works)
        wrong += [names] if callers and works - callers else []
    return own, wrong


@pytest.mark.parametrize("steps, threads, hz", [(3000000, 1, None), (100000, 1, 5000), (300000, 3, 2000)])
def test_libraries_that_come_and_go(program, some_python, libraries, steps, threads, hz, tmp_path):
    """Code that stands where other code stood is not taken for it; nothing piles up meanwhile."""
    args = [str(libraries), "20", str(steps), str(threads)]
    expected = plain(some_python, [str(HARM / "unloads.py"), "0"] + args, tmp_path)
    result = unharmed(some_python, "unloads.py", tmp_path, "1.5", *args, hz=hz, expected=expected)
    _, wrong = wrong_names(capture_of(result))
    assert not wrong, "%d, such as %s" % (len(wrong), wrong[0])


def test_a_library_that_went_once(program, system_python, libraries, tmp_path):
    """When things have calmed down, native names are there again."""
    text = (
        "import _ctypes, ctypes, sys\n"
        "for i in 0, 5, 10:\n"  # of one size: each takes the place of the one before
        "    library = _ctypes.dlopen('%s/libw%%d.so' %% i, 2)\n"
        "    work = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_long)(_ctypes.dlsym(library, 'work%%d' %% i))\n"
        "    def burn():\n        for _ in range(20):\n            work(20000000)\n"
        "    burn.__code__ = burn.__code__.replace(co_name='call%%d' %% i)\n"
        "    burn()\n    _ctypes.dlclose(library)\n" % libraries
    )
    result = same(system_python, [script(tmp_path, text)], tmp_path)
    own, wrong = wrong_names(capture_of(result))
    assert own > len(capture.read(capture_of(result)).samples) / 2 and not wrong, (own, wrong[:3])


# What a program gives up, and what is taken from it


@ROOT_ONLY
@pytest.mark.parametrize("what", ["user", "root", "dumps"])
def test_powers_given_up(program, some_python, what, tmp_path):
    (tmp_path / "empty").mkdir()
    result = unharmed(some_python, "powers.py", tmp_path, what, str(tmp_path / "empty"))
    it = capture.read(capture_of(result))
    assert it.samples
    # its forked child cannot reach the recording any more, and the report says so (3.8 without a root does
    # not get as far: there is no libgcc_s to end a thread with)
    forked = "768" in result.out.splitlines()
    assert forked or (what == "root" and result.status == 128 + signal.SIGABRT), result
    unrecorded = "1" if forked and what != "dumps" else None
    assert it.meta.get("unrecorded") == unrecorded
    text = " ".join((result.folder / "profile_summary.txt").read_text(encoding="utf-8").split())
    assert ("1 forked process is not in this profile" in text) == bool(unrecorded), text


@pytest.fixture
def small_memory():
    """A control group with 64 MB, ours alone."""
    top = Path("/sys/fs/cgroup/memory")
    limit = "memory.limit_in_bytes"
    if not top.is_dir():
        top, limit = Path("/sys/fs/cgroup"), "memory.max"
    group = top / ("fixingahole-test-%d" % os.getpid())
    try:
        group.mkdir()
        (group / limit).write_text(str(64 << 20))
    except OSError as err:
        if group.is_dir():
            group.rmdir()
        pytest.skip("SKIP: no control group with a memory limit can be made here: %s" % err)
    yield group
    tool.wait_until(lambda: not (group / "cgroup.procs").read_text(), what="an empty group")
    group.rmdir()


@ROOT_ONLY
def test_out_of_memory(program, system_python, small_memory, tmp_path):
    """The kernel kills the program, and what was recorded up to there is there."""
    join = ["sh", "-c", 'echo $$ > "$0/cgroup.procs"; exec "$@"', str(small_memory)]
    command = profile_command(system_python, [str(HARM / "eater.py")], [])
    result = tool.run(join + command, tmp_path)
    assert result.status == 128 + signal.SIGKILL, result
    assert "killed by signal 9 (SIGKILL)" in result.out
    it = capture.read(tool.run_folder(tmp_path / "performance") / "profile.fah")
    assert it.complete and it.wait_status == signal.SIGKILL
    assert "before" in it.names()
