"""Fixtures of the end-to-end tests. They run the built program only, from outside.

FIXINGAHOLE_BIN  the program under test (default: build/src/cli/fixingahole of this tree)
FAH_PYTHONS      the Pythons, in the form of tools/pythons (default: what that prints)
FAH_FULL         set: the long forms (30 s a victim, 100 kills)
FAH_ALSO         further options of every `profile`, such as --memory
"""

import shutil
import signal
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support import languages, pythons, run  # noqa: E402  (the path above comes first)

# A shell lets what it starts in the background ignore these, and so would every program under test.
for ignored in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(ignored) == signal.SIG_IGN:
        signal.signal(ignored, signal.SIG_DFL)

# What a test asks for by the name of its argument.
CHOICES = (
    ("build", pythons.available),  # every one: what depends on how it was compiled
    ("python", pythons.versions),  # every version
    ("some_python", pythons.one_of_each_kind),  # oldest, the system's, newest
    ("local_python", pythons.local),  # the same, of this machine's own root
    ("told_python", pythons.of_each_way_to_be_told),  # the oldest and the newest of those
    ("jit_python", pythons.with_jit),  # those that have CPython's own JIT, which PYTHON_JIT=1 switches on
)


def parameter(python):
    """A root with an older C library cannot run this build: a loud skip, not a silent absence."""
    if run.starts_in(python.root):
        return pytest.param(python, id=python.name)
    reason = "SKIP: the program as built here does not start in %s" % python.root
    return pytest.param(python, id=python.name, marks=pytest.mark.skip(reason=reason))


def pytest_generate_tests(metafunc):
    for name, choice in CHOICES:
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, map(parameter, choice()), scope="session")


def pytest_report_header(config):
    lines = ["program: %s%s" % (run.BINARY, "" if run.BINARY.exists() else " (MISSING)")]
    for python in pythons.available():
        lines.append("python: %-16s %s in %s" % (python.name, python.path, python.root))
    return lines


class Teller:
    """Names what fails at once: of a run that is cut short the last page never comes."""

    def __init__(self, terminal):
        self.terminal = terminal

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.terminal.write_line("FAILED %s (%s)" % (report.nodeid, report.when))


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Teller(config.pluginmanager.get_plugin("terminalreporter")))


@pytest.fixture(scope="session")
def program():
    """The built program. Missing is a failure: these tests have nothing else to test."""
    if not run.BINARY.exists():
        pytest.fail("no program at %s: build first, or set FIXINGAHOLE_BIN" % run.BINARY)
    return run.BINARY


@pytest.fixture(scope="session")
def system_python():
    python = pythons.system()
    if python is None:
        pytest.skip("SKIP: no /usr/bin/python3 here")
    return python


@pytest.fixture(scope="session")
def cxx(tmp_path_factory):
    """How the C++ library of known calls was built -> its path."""
    folder = tmp_path_factory.mktemp("cxx")
    return {how: languages.build_cxx(folder, how) for how in languages.CXX}


@pytest.fixture(scope="session")
def rust(tmp_path_factory):
    if not shutil.which("rustc"):
        pytest.skip("NO RUST HERE: chains through Rust are not tested; install rustc")
    return languages.build_rust(tmp_path_factory.mktemp("rust"))
