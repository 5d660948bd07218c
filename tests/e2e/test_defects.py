"""What a user of the program that this one follows, and of the profiler under it, meets: here it is right.

Each test has the name of the defect. The first ten are the former's own, tried as a new user would; the others are
what scalene's users report.
"""

import re
import subprocess

import pytest

from support import report
from support.run import finish, plain, profile, profile_command, start
from test_seeds import MISSING

BUSY = "import time\nend = time.thread_time() + %s\nwhile time.thread_time() < end:\n    sum(range(100))\n"


def written(result, name):
    return (result.folder / name).read_text(encoding="utf-8")


def in_a_row(python, folder, text):
    """The program, started with pipes; what it prints is read while it runs."""
    (folder / "script.py").write_text(text)
    command = profile_command(python, ["script.py"], [])
    return start(command, folder, python, stdin=subprocess.PIPE)


def test_crashes_at_the_end_and_leaves_an_empty_results_file(program, python, tmp_path):
    """For the version of a package that is installed beside the program: here none is needed."""
    (tmp_path / "script.py").write_text("def work():\n    " + (BUSY % 0.1).replace("\n", "\n    ") + "\nwork()\n")
    result = profile(python, ["script.py"], tmp_path, options=[], env={"PYTHONNOUSERSITE": "1"})
    assert result.status == 0 and result.stderr == b"", result
    assert "work" in report.top(written(result, "profile_summary.txt")), result
    assert report.rows(written(result, "profile_results.txt")), result


def test_stdout_is_swallowed(program, some_python, tmp_path):
    process = in_a_row(some_python, tmp_path, "print('at once', flush=True)\ninput()\nprint('then')\n")
    assert process.stdout.readline() == b"at once\n"  # while it runs, or this hangs
    result = finish(process, b"\n")
    assert result.status == 0 and result.out.startswith("then\n"), result


def test_prompts_are_swallowed(program, some_python, tmp_path):
    process = in_a_row(some_python, tmp_path, "print('hello', input('name? '))\n")
    assert process.stdout.read(6) == b"name? "
    result = finish(process, b"Ada\n")
    assert result.status == 0 and result.out.startswith("hello Ada\n"), result


def test_exit_3_becomes_1_with_no_summary(program, some_python, tmp_path):
    (tmp_path / "script.py").write_text(BUSY % 0.1 + "raise SystemExit(3)\n")
    result = profile(some_python, ["script.py"], tmp_path, options=[])
    assert result.status == 3 and result.stderr == b"", result
    assert report.top(result.out) and "The program ended with status 3." in result.out, result


def test_a_path_with_a_space_fails(program, some_python, tmp_path):
    (tmp_path / "my work").mkdir()
    (tmp_path / "my work" / "a script.py").write_text("import sys\nprint(sys.argv)\n" + BUSY % 0.1)
    result = profile(some_python, ["my work/a script.py", "two words"], tmp_path, options=[])
    assert result.status == 0 and result.stderr == b"", result
    assert result.out.startswith("['my work/a script.py', 'two words']\n"), result
    assert result.folder.parent.name == "a script" and "(a script.py:1)" in result.out, result


def test_a_short_script_fails_and_its_output_is_lost(program, some_python, tmp_path):
    (tmp_path / "script.py").write_text("print('it ran')\n")
    result = profile(some_python, ["script.py"], tmp_path, options=[])
    assert result.status == 0 and result.stderr == b"" and result.out.startswith("it ran\n"), result
    assert re.search(r"no sample to show|This is thin", result.out), result


def test_module_level_code_gives_no_functions_to_summarize(program, some_python, tmp_path):
    (tmp_path / "script.py").write_text(BUSY % 0.2)
    result = profile(some_python, ["script.py"], tmp_path, options=[])
    assert result.status == 0, result
    first = next(iter(report.top(result.out).values()))
    assert (first.name, first.file) == ("<module>", "script.py") and first.share > 10, result
    assert {row.line for row in report.rows(written(result, "profile_results.txt"))} & {3, 4}, result


def test_n_calls_is_a_number_of_samples(program, some_python, tmp_path):
    """Samples are called samples; what is called n_calls is the number of calls."""
    text = "def work():\n    %s\n\nfor _ in range(7):\n    work()\n" % (BUSY % 0.04).strip().replace("\n", "\n    ")
    (tmp_path / "script.py").write_text(text)
    result = profile(some_python, ["script.py"], tmp_path, options=[])
    block = result.out.split("Stack Trace Summary")[1].split("\n\n\n")[0]
    if some_python.version < (3, 12) or "n_calls" in MISSING:
        samples = int(re.search(r"^ +samples: ([\d,]+)$", block, re.M).group(1))
        assert samples > 7 and "n_calls" not in block, block
    else:
        assert re.search(r"^ +n_calls: 7$", block, re.M) and "samples" not in block, block


TWO_LINES = """
def both():
    one = bytearray(50000000)
    other = bytearray(50000000)
    return one, other

kept = both()
"""


def test_a_functions_memory_is_its_largest_line(program, some_python, tmp_path):
    """It is what its lines held together."""
    (tmp_path / "script.py").write_text(TWO_LINES)
    result = profile(some_python, ["script.py"], tmp_path, options=["--memory"])
    assert re.search(r"^ 1\. both +100 MB \(script\.py:2; 100 MB at the run's peak\)$", result.out, re.M), result


def test_finished_in_is_the_slowed_down_time(program, some_python, tmp_path):
    (tmp_path / "script.py").write_text(BUSY % 0.3)
    result = profile(some_python, ["script.py"], tmp_path, options=[])
    said = re.search(r"^Finished in ([\d.]+) seconds using .* \(about ([\d.]+) without profiling\)$", result.out, re.M)
    assert said, result
    took, without = map(float, said.groups())
    assert 0.25 < without <= took, result  # of 0.3 s some are the handlers'


PEAK = "import resource\nprint(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"


def test_hundreds_of_megabytes_more(program, some_python, tmp_path):
    """570 MB with the other; by the program's own count. (What it costs in time is in bench/.)"""
    (tmp_path / "script.py").write_text(BUSY % 0.1 + PEAK)
    before = int(plain(some_python, ["script.py"], tmp_path).out)
    result = profile(some_python, ["script.py"], tmp_path)
    assert int(result.out) - before < 12000, (before, result)  # kB


def test_another_profiler_is_already_active(program, some_python, tmp_path):
    """The program's own profilers, and all ids that sys.monitoring has names for, are its own."""
    (tmp_path / "script.py").write_text(
        "import cProfile, sys\n"
        "for tool in range(3) if hasattr(sys, 'monitoring') else ():\n"
        "    sys.monitoring.use_tool_id(tool, 'mine')\n"
        "    sys.monitoring.free_tool_id(tool)\n"
        "it = cProfile.Profile()\n"
        "it.runcall(sorted, range(1000), key=str)\n"
        "print(sum(entry.callcount for entry in it.getstats()) > 0, sys.getprofile(), sys.gettrace())\n"
    )
    result = profile(some_python, ["script.py"], tmp_path)
    assert (result.status, result.out, result.err) == (0, "True None None\n", ""), result


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_pools_hang_or_cannot_unpickle(program, some_python, method, tmp_path):
    """Classes of __main__ travel both ways, and what children do is in the report."""
    (tmp_path / "script.py").write_text(
        "import multiprocessing, time\n"
        "class Job:\n"
        "    def run(self):\n"
        "        end = time.thread_time() + 0.1\n"
        "        while time.thread_time() < end:\n"
        "            sum(range(100))\n"
        "        return self\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('%s').Pool(2) as pool:\n"
        "        print([type(job).__name__ for job in pool.map(Job.run, [Job(), Job()])])\n" % method
    )
    result = profile(some_python, ["script.py"], tmp_path, options=[], timeout=60)
    assert result.status == 0 and result.out.startswith("['Job', 'Job']\n"), result
    assert "Job.run" in report.top(result.out) and "Python child processes: " in result.out, result
