#!/usr/bin/env python3
"""The test suites of popular packages, with and without the profiler: the same results.

usage: run.py [--only PACKAGE]... [--python PATH]... BINARY FOLDER

Each suite runs once plain, once profiled at the default rate and once at 5 kHz; some also with their memory
recorded. Every test has to end as it does without us, and so has pytest. Where one does not, the suite is run plain
RETRIES times more before we believe it: a test whose outcome differs between plain runs is no measure of us, it is
named and left out. FOLDER keeps the venvs, the packages' tests and the logs; FOLDER/results.xml has
one case for each package, Python and way. Packages come from pip, by name, as requirements.txt pins them.
"""

import argparse
import concurrent.futures
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import xml.etree.ElementTree as xml

HERE = os.path.dirname(os.path.realpath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
REQUIREMENTS = os.path.join(HERE, "requirements.txt")
WHEELS_FOR = ((3, 10), (3, 13))  # of the Pythons that all the pinned versions have wheels for
WITHOUT_WHEELS = "forbiddenfruit"  # pure Python, that blockbuster wants
AT_A_TIME = 2
RETRIES = 3
TIMEOUT = 600  # most take 5 to 25 s of CPU time; a hang is a failure
# How we run: the rate of the clock of tests, and further words of `profile`.
WAYS = {"default": (None, []), "5khz": ("5000", []), "memory": (None, ["--memory"])}
# With --memory: C stacks that move, extensions that allocate, a BLAS library, forks, the most Python objects. The
# others would take the stage's time again by half, and are not different to an allocator.
WITH_MEMORY = ("click", "greenlet", "more-itertools", "msgpack", "numpy", "psutil")
# The clock of 5 kHz is for tests only: it counts real time, so it interrupts threads that are blocked, and a
# blocking write to a pipe that a signal cuts short loses what programs without buffers don't write again.
# The clock of the product counts a thread's own CPU time and never does that.
NOT_AT_5KHZ = re.compile(r"trio\._tests\.test_subprocess::test_run\b|trio\._tests\._?test_repl::|test_interactive")
# What a preloaded library cannot hide: the kernel shows the environment of a new program, with what hands us on to
# the programs that it starts in turn.
SEES_PRELOAD = re.compile(r"test_weird_environ\b")
# Package: pytest's arguments. Those that install their tests are named by --pyargs; of the others the
# folder comes from the source package. {site} is where the packages are installed.
PACKAGES = {
    # coroutines, threads, sub-processes and Unix sockets, on asyncio and on trio
    "anyio": ["tests", "-m", "not network", "-k", "not uvloop"],
    # terminals, sub-processes (pagers, editors), signals
    "click": ["tests"],
    # stacks that change under the interpreter; its leak tests take minutes
    "greenlet": ["--pyargs", "greenlet.tests", "--ignore={site}/greenlet/tests/test_leaks.py"],
    # generators and itertools, all native iteration
    "more-itertools": ["tests"],
    # an extension in Cython that calls back
    "msgpack": ["test"],
    # native loops in threads that give up the GIL, a BLAS library with threads of its own
    "numpy": ["--pyargs", "numpy.fft", "numpy.linalg.tests.test_regression"],
    # processes, their signals, /proc
    "psutil": ["tests/test_process.py", "tests/test_posix.py", "tests/test_misc.py"],
    # an event loop of its own, servers, fork
    "tornado": ["--pyargs", "tornado.test", "-p", "no:logging"],
    # SIGINT, wakeup fds, threads, sub-processes; left out: what checks its own sources with other tools
    "trio": ["--pyargs", "trio._core._tests", "trio._tests", "-p", "trio._tests.pytest_plugin",
             "--ignore={site}/trio/_tests/tools", "--ignore={site}/trio/_tests/type_tests",
             "--ignore={site}/trio/_tests/test_exports.py"],
}


def call(command, log, **options):
    with open(log, "ab") as out:
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, check=True, **options)


def version_of(package):
    with open(REQUIREMENTS, encoding="utf-8") as file:
        return re.search(r"^%s==(.*)$" % re.escape(package), file.read(), re.M).group(1)


def choose():
    """The oldest and the newest Python of this machine that the wheels are for."""
    listed = subprocess.run([os.path.join(TREE, "tools", "pythons")], check=True, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, universal_newlines=True).stdout
    found = {}
    for line in listed.splitlines():
        _, version, root, path = line.split("\t")
        minor = tuple(int(part) for part in version.split(".")[:2])
        if root == "/" and WHEELS_FOR[0] <= minor <= WHEELS_FOR[1]:
            found.setdefault(minor, path)
    return [found[minor] for minor in sorted({min(found), max(found)})] if found else []


def make_venv(python, folder):
    """The interpreter of a venv in which everything of requirements.txt is installed."""
    stamp, inside = os.path.join(folder, ".stamp"), os.path.join(folder, "bin", "python3")
    with open(REQUIREMENTS, encoding="utf-8") as file:
        wanted = folder + "\n" + file.read()
    if os.path.exists(stamp):
        with open(stamp, encoding="utf-8") as file:
            if file.read() == wanted:
                return inside
    call([python, "-m", "venv", "--clear", folder], folder + ".log")
    call([inside, "-m", "pip", "install", "--disable-pip-version-check", "--only-binary", ":all:",
          "--no-binary", WITHOUT_WHEELS, "-r", REQUIREMENTS], folder + ".log")
    with open(stamp, "w", encoding="utf-8") as file:
        file.write(wanted)
    return inside


def fetch_tests(package, python, folder):
    """The tests of the source package, without the package: that is the installed one's."""
    version = version_of(package)
    target = os.path.join(folder, "%s-%s" % (package, version))
    if os.path.isdir(target):
        return target
    scratch = target + ".tmp"
    shutil.rmtree(scratch, ignore_errors=True)
    os.makedirs(scratch)
    call([python, "-m", "pip", "download", "--disable-pip-version-check", "--no-deps", "--no-binary", package,
          "-d", scratch, "%s==%s" % (package, version)], target + ".log")
    (archive,) = [name for name in os.listdir(scratch) if name.endswith(".tar.gz")]
    with tarfile.open(os.path.join(scratch, archive)) as tar:
        members = []
        for member in tar.getmembers():
            member.name = member.name.partition("/")[2]
            first = member.name.partition("/")[0]
            if (member.isfile() or member.isdir()) and ".." not in member.name.split("/") and first in (
                    "tests", "test", "pyproject.toml", "tox.ini", "pytest.ini", "conftest.py"):
                members.append(member)
        tar.extractall(os.path.join(scratch, "unpacked"), members=members)
    os.rename(os.path.join(scratch, "unpacked"), target)
    shutil.rmtree(scratch)
    return target


class Run:
    """One run of one suite: pytest's status, the outcome of each test, and what was wrong."""

    def __init__(self, work, tests, args, python, binary=None, hz=None, further=()):
        shutil.rmtree(work, ignore_errors=True)
        home = os.path.join(work, "here")
        if tests:
            shutil.copytree(tests, home)
        else:
            os.makedirs(home)
        # PATH too: tests start "python" and find the venv's.
        env = dict(os.environ, PATH=os.path.dirname(python) + ":" + os.environ["PATH"], LC_ALL="C.UTF-8",
                   PYTHONDONTWRITEBYTECODE="1", GREENLET_SKIP_LEAKCHECKS="1")  # they run each test many times
        # The caller's settings must not decide what the tests see.
        for name in ("PYTHONPATH", "PYTHONUNBUFFERED", "LD_PRELOAD", "FIXINGAHOLE_TEST_HZ", "COLUMNS", "LINES"):
            env.pop(name, None)
        junit = os.path.join(work, "junit.xml")
        words = ["-q", "-p", "no:cacheprovider", "--tb=short", "--junitxml=" + junit,
                 "--basetemp=" + os.path.join(work, "tmp")] + args
        out = os.path.join(work, "profile")
        if binary:
            command = [binary, "profile", "-q", *further, "-o", out, "--python", python, "--module", "pytest", "--"] + words
            if hz:
                env["FIXINGAHOLE_TEST_HZ"] = hz
        else:
            command = [python, "-m", "pytest"] + words
        self.log, self.problem = os.path.join(work, "log"), None
        begun = time.monotonic()
        with open(self.log, "wb") as log:
            child = subprocess.Popen(command, cwd=home, env=env, stdin=subprocess.DEVNULL, stdout=log,
                                     stderr=subprocess.STDOUT, start_new_session=True)
            try:
                self.status = child.wait(TIMEOUT)
            except subprocess.TimeoutExpired:
                self.problem = "still running after %d s" % TIMEOUT
                os.killpg(child.pid, signal.SIGKILL)
                self.status = child.wait()
        self.seconds = time.monotonic() - begun
        self.outcomes = outcomes_of(junit)
        if binary and not self.problem:
            self.problem = unsampled(binary, out, "--memory" in further)


def outcomes_of(junit):
    outcomes = {}
    try:
        cases = xml.parse(junit).getroot().iter("testcase")
    except (OSError, xml.ParseError):
        return outcomes
    for case in cases:
        kinds = [kind for kind in ("failure", "error", "skipped") if case.find(kind) is not None]
        name = "%s::%s" % (case.get("classname"), case.get("name"))
        outcomes.setdefault(name, []).append(kinds[0] if kinds else "passed")  # a failure and an error: two
    return {name: tuple(sorted(kinds)) for name, kinds in outcomes.items()}


def unsampled(binary, folder, memory):
    """None, or why the run was no test of us: without a recording equal results say nothing."""
    for path, _, names in os.walk(folder):
        if "profile.fah" in names:
            done = subprocess.run([binary, "summarize", os.path.join(path, "profile.fah")], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
            if done.returncode:
                return "the recording does not open: " + done.stdout[-500:]
            return "no memory was recorded" if memory and "\nHeap: at most " not in done.stdout else None
    return "no recording"


def differences(one, other):
    return {name for name in set(one.outcomes) | set(other.outcomes)
            if one.outcomes.get(name) != other.outcomes.get(name)}


def told(names, one, other):
    return ["%s: %s, plain %s" % (name, "+".join(other.outcomes.get(name, ("did not run",))),
                                  "+".join(one.outcomes.get(name, ("did not run",)))) for name in sorted(names)]


def suite(package, python, label, binary, folder):
    """[(case's name, seconds, lines of failure)], and the lines to print."""
    tests = None if "--pyargs" in PACKAGES[package] else fetch_tests(package, python, os.path.join(folder, "tests"))
    work = os.path.join(folder, label, package)
    site = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_paths()['platlib'])"], check=True,
                          stdout=subprocess.PIPE, universal_newlines=True).stdout.strip()
    args = [arg.replace("{site}", site) for arg in PACKAGES[package]]

    def run(name, *how):
        return Run(os.path.join(work, name), tests, args, python, *how)

    first, flaky, cases = run("plain"), set(), []
    said = ["%s %s: %d tests, %.0f s plain" % (label, package, len(first.outcomes), first.seconds)]
    ill = first.problem
    if not ill and (first.status not in (0, 1) or not first.outcomes):  # else pytest did not get to the tests
        ill = "pytest's status is %d" % first.status
    for way, (hz, further) in WAYS.items():
        if "--memory" in further and package not in WITH_MEMORY:
            continue
        if ill:
            cases.append((way, first.seconds, ["without us: %s, see %s" % (ill, first.log)]))
            continue
        ours = run(way, binary, hz, further)
        different = differences(first, ours) - flaky
        seen = {name for name in different if SEES_PRELOAD.search(name)}
        different -= seen
        said += ["    sees the preload: " + name for name in sorted(seen)]
        if hz:
            disturbed = {name for name in different if NOT_AT_5KHZ.search(name)}
            different -= disturbed
            said += ["    by the clock of tests: " + name for name in sorted(disturbed)]
        else:
            disturbed = set()
        disturbed |= seen
        if different or (ours.status != first.status and not disturbed):
            for i in range(RETRIES):
                flaky |= differences(first, run("again%d" % i))
        different -= flaky
        wrong = told(different, first, ours)
        if ours.problem:
            wrong.insert(0, ours.problem)
        # The status says whether a test failed: one that does so by chance makes it chance too.
        if ours.status != first.status and not flaky and not disturbed:
            wrong.insert(0, "status %d, plain %d" % (ours.status, first.status))
        if wrong:
            wrong.append("see %s and %s" % (ours.log, first.log))
        cases.append((way, ours.seconds, wrong))
        said.append("    %s %s: %s, %.0f s" % (package, way, "%d differ" % len(different) if wrong else "the same",
                                              ours.seconds))
    said += ["    flaky without us: " + name for name in sorted(flaky)[:20]]
    return cases, said


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=sorted(PACKAGES))
    parser.add_argument("--python", action="append")
    parser.add_argument("binary", type=os.path.abspath)
    parser.add_argument("folder", type=os.path.abspath)
    args = parser.parse_args()
    pythons = args.python or choose()
    if not pythons:
        print("SKIPPED: no Python of 3.%d to 3.%d" % (WHEELS_FOR[0][1], WHEELS_FOR[1][1]))
    os.makedirs(os.path.join(args.folder, "tests"), exist_ok=True)
    labelled = [(os.path.basename(path), path) for path in pythons]
    root, failed = xml.Element("testsuite", name="packages"), 0
    venvs = {label: make_venv(path, os.path.join(args.folder, label + "-venv")) for label, path in labelled}
    for package in args.only or PACKAGES:  # by one thread: both Pythons share them
        if "--pyargs" not in PACKAGES[package]:
            fetch_tests(package, venvs[labelled[0][0]], os.path.join(args.folder, "tests"))
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        running = {pool.submit(suite, package, venvs[label], label, args.binary, args.folder): (label, package)
                   for label, _ in labelled for package in args.only or PACKAGES}
        for done in concurrent.futures.as_completed(running):
            label, package = running[done]
            cases, said = done.result()
            for way, seconds, wrong in cases:
                case = xml.SubElement(root, "testcase", classname=label, name="%s %s" % (package, way),
                                      time="%.1f" % seconds)
                if wrong:
                    failed += 1
                    xml.SubElement(case, "failure", message=wrong[0]).text = "\n".join(wrong)
                    said += ["    FAILED %s %s %s" % (label, package, way)] + ["        " + line for line in wrong[:30]]
            print("\n".join("    " + line for line in said), flush=True)
    xml.ElementTree(root).write(os.path.join(args.folder, "results.xml"))
    return 1 if failed or not pythons else 0


if __name__ == "__main__":
    sys.exit(main())
