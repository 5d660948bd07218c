"""Native stacks, merged with the Python frames: chains that are known, on every Python."""

import subprocess

import pytest
from support import capture, exports, report
from support.languages import build_c
from support.run import BINARY, TARGETS, capture_of, inspect, plain, profile, run

CHAIN = str(TARGETS / "chain.py")
NATIVE, SYSTEM_BITS = 1, 3


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """Without frame pointers and without unwind tables in the wrong places: as compilers do it."""
    path = tmp_path_factory.mktemp("chain") / "libchain.so"
    subprocess.run(
        ["cc", "-O2", "-fomit-frame-pointer", "-shared", "-fPIC", "-nostdlib", "-o", str(path)]
        + [str(TARGETS / "chain.c")],
        check=True,
    )
    return path


def chains(it):
    """Of each sample but the first third, in which the collector may not have seen the process's modules
    yet: its names from the root on, natives in brackets; and its flags."""
    for _, _, _, flags, node in sorted(it.samples, key=lambda sample: sample[1])[len(it.samples) // 3 :]:
        path = it.path(node)[::-1]
        yield [f.name if f.kind == 0 else "[%s]" % f.name for f, _ in path], path, flags


def after(names, name):
    return names[names.index(name) + 1 :]


def test_known_chains(program, build, library, tmp_path):
    script = [CHAIN, str(library), "1.5"]
    result = profile(build, script, tmp_path, hz=1000, env={"COLUMNS": "80"})
    assert result.status == 0, result
    it = capture.read(capture_of(result))
    seen = {}
    bad = []
    whole = total = 0
    for names, path, flags in chains(it):
        if "main" not in names:
            continue
        total += 1
        whole += path[0][0].kind == NATIVE
        for function in ("hold", "drop", "through", "sort", "compress"):
            if function not in names or path[0][0].kind != NATIVE:
                continue
            below = after(names, function)
            seen.setdefault(function, []).append(below)
            mine = [n for n in below if n.startswith("[chain_")]
            if mine and mine[: 1] != ["[chain_outer]"]:
                bad.append(names)
            if "[chain_spin]" in below and mine[-4:] != [
                "[chain_outer]", "[chain_middle]", "[chain_inner]", "[chain_spin]"]:
                bad.append(names)
            if "[chain_spin]" in below and flags & SYSTEM_BITS == 0:
                bad.append(["not called native"] + names)
            if "called_back" in below and below[: below.index("called_back")][-1:] != []:
                if mine[:3] != ["[chain_outer]", "[chain_middle]", "[chain_inner]"]:
                    bad.append(names)
            if "key" in below and not below[0].startswith("["):
                bad.append(names)  # sorted() is native code between the two
    assert total > 300, "%d samples" % total
    assert not bad, "%d of %d\n%s" % (len(bad), total, "\n".join(";".join(n) for n in bad[:10]))
    assert whole / total > 0.97, "%.1f %% joined whole" % (100 * whole / total)
    for function in ("hold", "drop", "through", "sort", "compress"):
        assert len(seen.get(function, [])) > 10, "%s: %d samples" % (
            function,
            len(seen.get(function, [])),
        )
    spun = [b for b in seen["hold"] + seen["drop"] if "[chain_spin]" in b]
    assert len(spun) > 0.9 * len(seen["hold"] + seen["drop"])
    assert any("[deflate]" in b for b in seen["compress"]), seen["compress"][:5]
    assert any("called_back" in b for b in seen["through"])


def test_what_it_prints_stays(program, some_python, library, tmp_path):
    script = [CHAIN, str(library), "0.2"]
    expected = plain(some_python, script, tmp_path)
    result = profile(some_python, script, tmp_path, options=["-q"])
    assert (result.status, result.stdout, result.stderr) == (
        expected.status,
        expected.stdout,
        expected.stderr,
    )


@pytest.fixture(scope="session")
def thread_library(tmp_path_factory):
    path = tmp_path_factory.mktemp("native_thread") / "native_thread.so"
    return build_c(path, ("chain.c", "native_thread.c"), "-O2", "-fomit-frame-pointer")


def test_a_thread_without_python(program, some_python, thread_library, tmp_path):
    """It has its own name, its native stacks, and its CPU: what its own clock says, and all of that in the chain."""
    script = [str(TARGETS / "native_thread.py"), str(thread_library), "1"]
    result = profile(some_python, script, tmp_path)
    assert result.status == 0, result
    own, path = float(result.out), capture_of(result)
    said = [one for one in report.threads(inspect(path).out).values() if one.name == "number cruncher"]
    assert len(said) == 1 and abs(said[0].cpu - own) < 0.02, inspect(path)
    it = capture.read(path)
    (thread,) = [i for i, (_, tid) in enumerate(it.threads) if i and tid == said[0].tid]
    cpu = sum(sample[2] for sample in it.samples if sample[0] == thread) / 1e9
    assert abs(cpu - own) < 0.03 * own, "%.3f s in samples, of %.3f s" % (cpu, own)

    folded = run([str(BINARY), "export", "-f", "folded", "-n", "-t", str(path), "-o", "-"], tmp_path)
    head = b"thread %d (number cruncher);" % said[0].tid
    lines = [line for line in folded.stdout.splitlines() if line.startswith(head)]
    rows = exports.folded(b"\n".join(lines))[None]
    whole = sum(seconds for _, seconds, _ in rows)
    known = 0.0
    for names, seconds, _ in rows:
        if "chain_spin" in names:
            at = names.index("pool_worker")
            assert names[at + 1 :] == ["chain_outer", "chain_middle", "chain_inner", "chain_spin"], names
            assert not any("native_thread.py" in name for name in names), names
            known += seconds
    # the first samples come before the collector has seen the process's modules
    assert known > 0.9 * whole > 0, folded
