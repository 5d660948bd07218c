"""What the benchmarks share: the machine in words, timing, and the table in bench/RESULTS.md."""

import ctypes
import datetime
import json
import os
import pathlib
import platform
import re
import resource
import statistics
import subprocess
import sys
import time

REPO = pathlib.Path(__file__).resolve().parents[1]
RESULTS = REPO / "bench" / "RESULTS.md"
PROGRAM = pathlib.Path(os.environ.get("FIXINGAHOLE_BIN", REPO / "build/src/cli/fixingahole"))


def need_program():
    if not PROGRAM.exists():
        sys.exit(f"no program at {PROGRAM}: run ./fixit --version first, or set FIXINGAHOLE_BIN")


def pythons(wanted):
    """The Pythons of this machine (not those in other roots) as {name: path}; wanted: names or []."""
    listed = subprocess.run([REPO / "tools/pythons"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            text=True).stdout
    found = {}
    for line in listed.splitlines():
        name, version, root, path = line.split("\t")
        if root == "/" and (not wanted or name in wanted or version.startswith(tuple(wanted))):
            found[name] = path
    if not found:
        sys.exit("none of the Pythons asked for is here; see tools/pythons")
    return found


def workloads(names, otherwise):
    """Paths of these workloads in $FAH_WORKLOADS or ../shared/workloads beside the tree; else these of examples/."""
    for folder in (os.environ.get("FAH_WORKLOADS"), REPO.parent / "shared" / "workloads"):
        if folder and pathlib.Path(folder).is_dir():
            return [pathlib.Path(folder) / name for name in names if (pathlib.Path(folder) / name).exists()]
    return [REPO / "examples" / name for name in otherwise]


def with_arguments(workload):
    """The words that run it; an example says its times as JSON when it is asked to."""
    return [workload, *(["--json"] if workload.parent.name == "examples" else [])]


PEERS = ["py-spy==0.4.3", "austin-dist==3.7.0", "scalene==2.4.0", "pyinstrument==5.1.3"]


def bench_venv(python, install=True):
    """A venv of this Python with the other profilers, pinned; what cannot be had is missing alone."""
    version = subprocess.run([python, "-c", "import platform; print(platform.python_version())"],
                             stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    venv = REPO / "build" / ("bench-venv" if python.startswith("/usr/bin/") else f"bench-venv-{version}")
    if not (venv / "bin/python3").exists():
        subprocess.run([python, "-m", "venv", venv], check=True)
    for package in PEERS if install else []:
        done = subprocess.run([venv / "bin/python3", "-m", "pip", "install", "-q", "--disable-pip-version-check",
                               "--only-binary", ":all:", package], capture_output=True, text=True)
        if done.returncode:
            print(f"{package} cannot be installed for {version}: {done.stderr.strip().splitlines()[-1:]}",
                  file=sys.stderr)
    return venv


def scalene(venv, out, script):
    """The command of scalene that samples CPU time only."""
    return [venv / "bin/scalene", "run", "--cpu-only", "-o", out, script[0], "---", *script[1:]]


def said_by(output):
    """The wall time as the workload says."""
    said = re.search(r"^WALL ([0-9.]+) CPU ([0-9.]+)", output, re.M)
    if said:
        return float(said[1])
    for line in output.splitlines():
        if line.startswith("{"):
            return json.loads(line)["total"]
    raise RuntimeError(f"the workload says no time: {output[-500:]!r}")


def children_cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(command, env, whole=False):
    """(wall as the program says, CPU of all processes, stderr): orphans become ours, so that none is missed.
    whole: wall is that of the whole command, from its start to its exit."""
    before, begun = children_cpu(), time.perf_counter()
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env=env,
                          stdin=subprocess.DEVNULL)
    took = time.perf_counter() - begun
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        pass
    cpu = children_cpu() - before
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stderr[-2000:]}")
    return took if whole else said_by(done.stdout), cpu, done.stderr


def in_turns(tools, rounds, env, needed, said=None, whole=False):
    """{tool: [(wall, CPU)]} of {tool: command}, in another order each time. One that fails is left out and named,
    but for those needed. said(tool, stderr): called after each run. whole: as in run."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    tools, times = dict(tools), {}
    for turn in range(rounds):
        order = list(tools)[turn % len(tools):] + list(tools)[:turn % len(tools)]
        for name in order if turn % 2 == 0 else reversed(order):
            if name not in tools:
                continue
            try:
                wall, cpu, stderr = run(tools[name], env, whole)
            except RuntimeError as error:
                if name in needed:
                    raise
                print(f"{name}: {error}", file=sys.stderr)
                tools.pop(name)
                times.pop(name, None)
                continue
            times.setdefault(name, []).append((wall, cpu))
            if said:
                said(name, stderr)
    return times


def machine():
    model = "unknown CPU"
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return f"{model}, {os.cpu_count()} cores, {memory:.0f} GB, Linux {platform.release()}"


def commit():
    done = subprocess.run(["git", "-C", REPO, "describe", "--always", "--dirty"],
                          capture_output=True, text=True)
    return done.stdout.strip() or "not a git tree"


def spread(values):
    """Half the distance between the quartiles, in % of the median: how noisy the machine was."""
    if len(values) < 4:
        return 100 * (max(values) - min(values)) / 2 / statistics.median(values)
    low, middle, high = statistics.quantiles(values, n=4)
    return 100 * (high - low) / 2 / middle


def write(title, how, header, rows):
    """Prints the table and puts it at the top of RESULTS.md, under its date."""
    lines = [
        f"## {title}, {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC",
        "",
        f"{machine()}; {commit()}.",
        how,
        "",
        "| " + " | ".join(header) + " |",
        "|" + "---|" * len(header),
        *("| " + " | ".join(row) + " |" for row in rows),
        "",
    ]
    print("\n".join(lines))
    text = RESULTS.read_text() if RESULTS.exists() else HEAD
    head, mark, rest = text.partition(MARK)
    RESULTS.write_text(head + MARK + "\n" + "\n".join(lines) + rest)


MARK = "<!-- newest first; written by the programs of this folder -->\n"
HEAD = f"# Measured\n\nWhat profiling costs and how right it is, on the machine named in each table.\n\n{MARK}"
