"""Native frames as people know them: C++, Rust, inlined functions, code made at run time; known chains."""

import importlib.util
import shutil
import subprocess
from pathlib import Path

import pytest
from support import capture, languages, pythons
from support.run import TARGETS, capture_of, profile

NATIVE, SYSTEM_BITS = 1, 3
MADE = "<made at run time>"  # in place of a module's path
EARLY = 0.3e9  # until then the collector may not have seen the process's modules yet


def chains(result):
    """Of each late sample: names from the root on, natives in brackets; the path itself; its flags."""
    it = capture.read(capture_of(result))
    first = min(time for _, time, _, _, _ in it.samples)
    for _, time, _, flags, node in it.samples:
        if time - first >= EARLY:
            path = it.path(node)[::-1]
            yield [f.name if f.kind == 0 else "[%s]" % f.name for f, _ in path], path, flags


def run(python, script, tmp_path, *arguments):
    result = profile(python, [str(TARGETS / script), *map(str, arguments)], tmp_path, hz=1000)
    if languages.do_not_load(result):
        pytest.skip("SKIP: the libraries as built here do not load in %s" % python.root)
    assert result.status == 0, result
    return list(chains(result))


def below(samples, function, inner):
    """Parts of the stacks between a Python function and a native one, of those that reach it."""
    for names, _, _ in samples:
        if function in names and inner in names[names.index(function) :]:
            at = names.index(function)
            yield names[at + 1 : names.index(inner, at) + 1]


def ours(names):
    return [n for n in names if "shapes::" in n or "chain]" in n or "languages::" in n or "libcxx" in n]


def test_every_language_in_one_chain(program, python, cxx, rust, tmp_path):
    samples = run(python, "languages.py", tmp_path, cxx["none"], rust, "1.2")
    chain = ["[rust_chain]", "[languages::demo::outer::<u32>]"]
    spun = [ours(b) for b in below(samples, "through", "[languages::demo::spin]")]
    assert len(spun) > 5, "%d samples in Rust" % len(spun)
    assert all(b == chain + ["[languages::demo::spin]"] for b in spun), spun[:5]
    walk = ["[cxx_chain]", "[shapes::Walker::walk]"]
    spun = [ours(b) for b in below(samples, "through", "[shapes::spin<long>]")]
    assert len(spun) > 5, "%d samples in C++" % len(spun)
    assert all(b == chain + walk + ["[shapes::spin<long>]"] for b in spun), spun[:5]
    back = [n for n, _, _ in samples if "through" in n and "called_back" in n]
    assert back
    for names in back:
        between = names[names.index("through") + 1 : names.index("called_back")]
        if between:  # joined whole
            assert ours(between) == chain + walk, names
    assert sum("[cxx_chain]" in n for n in back) > 0.9 * len(back), back[:3]


@pytest.mark.parametrize("how", sorted(languages.CXX))
def test_cxx_however_it_is_built(program, cxx, how, tmp_path):
    samples = run(pythons.local()[0], "languages.py", tmp_path, cxx[how], "-", "1")
    walk = ["[cxx_chain]", "[shapes::Walker::walk]"]
    if how == "stripped":
        names = [ours(n) for n, _, _ in samples if "plain" in n and "[cxx_chain]" in n]
        assert len(names) > 20
        assert any(len(n) >= 3 and n[1].startswith("[libcxx-stripped.so+0x") for n in names), names[:5]
        return
    spun = [ours(b) for b in below(samples, "plain", "[shapes::spin<long>]")]
    assert len(spun) > 20, "%d samples" % len(spun)
    inlined = ["[shapes::step]"] if how == "debug information" and lines(program) else []
    assert all(b == walk + inlined + ["[shapes::spin<long>]"] for b in spun), spun[:5]
    if not inlined:
        return
    text = (TARGETS / "languages.cc").read_text().splitlines()
    for _, path, _ in samples:
        for f, line in path:
            if f.name == "shapes::step":
                assert f.file.endswith("languages.cc") and f.module.endswith(".so"), f
                assert "spin<long>" in text[line - 1] or "sum + before" in text[line - 1], line


@pytest.fixture(scope="session")
def throwing(tmp_path_factory):
    """The C++ library, linked with the machine's own unwinder, and the Rust one or "-"."""
    folder = tmp_path_factory.mktemp("throwing")
    command = ["g++", "-shared", "-fPIC", "-O2", "-fomit-frame-pointer", "-o", str(folder / "libthrowing.so")]
    subprocess.run([*command, str(TARGETS / "throwing.cc")], check=True)
    if not shutil.which("rustc"):
        return folder / "libthrowing.so", "-"
    command = ["rustc", "--crate-type", "cdylib", "--crate-name", "throwing", "-O", "-o", str(folder / "librust.so")]
    subprocess.run([*command, str(TARGETS / "throwing.rs")], check=True)
    return folder / "libthrowing.so", folder / "librust.so"


def test_exceptions(program, local_python, throwing, tmp_path):
    """Thrown through C++ and Rust all the time: no frame ever has a caller that it cannot have."""
    script = [str(TARGETS / "throwing.py"), *map(str, throwing), "1.5"]
    result = profile(local_python, script, tmp_path, hz=2000)
    assert result.status == 0, result
    assert result.out == "{2000}\n"
    passes = "[plain_pass]" if throwing[1] == "-" else "[rust_pass]"
    callers = {
        "[cxx_catches]": None,  # the interpreter, and how it calls C
        passes: ["[cxx_catches]"],
        "[cxx_passes]": [passes],
        "[shapes::thrower]": ["[cxx_passes]"],
        "[shapes::Guard::~Guard]": ["[cxx_passes]", "[plain_pass]"],
        "[__cxa_throw]": ["[shapes::thrower]"],
        "[_Unwind_RaiseException]": ["[__cxa_throw]"],
        "[_Unwind_Resume]": ["[cxx_passes]", passes],
        "called_back": None,
    }
    hot = [[n.replace(".cold]", "]") for n in names] for names, _, _ in chains(result) if "hot" in names]
    while hot and passes not in hot[0]:  # before, the collector may not have seen the library yet
        hot.pop(0)
    unwinding = [n for n in hot if "nwind_R" in " ".join(n)]
    assert len(unwinding) > 50, (len(unwinding), len(hot))
    for n in hot:
        natives = [name for name in n if name.startswith("[")]
        # but for the pages in which libffi makes its callbacks, whose code ends a walk
        assert not any(name.startswith("[0x") for name in n[:-1]), n
        for caller, name in zip(n, n[1:]):
            if callers.get(name):
                assert caller in callers[name], n
            if name == "called_back" and natives:
                assert "[cxx_passes]" in n[: n.index(name)], n
        chain = [name for name in n[n.index("hot") :] if name in ("[cxx_catches]", passes, "[cxx_passes]")]
        again = [["[cxx_catches]", passes, "[cxx_passes]"][i % 3] for i in range(len(chain))]
        assert chain == again, n
    # what an exception is about to go on in has been written over: no caller there, and the stack is not joined
    assert len(unwinding) > 0.5 * sum(n[-1] != "hot" for n in hot), (len(unwinding), len(hot))


def lines(program):
    """Whether this build reads debug information."""
    return "lines (libdw" in subprocess.run([str(program), "--version"], capture_output=True, text=True).stdout


def test_code_made_at_run_time(program, python, tmp_path):
    """No module has it and nothing tells how to unwind it: its name, below the Python frames, and counted."""
    result = profile(python, [str(TARGETS / "jit.py"), "1"], tmp_path, hz=1000)
    assert result.status == 0, result
    hot = [(n, flags) for n, _, flags in chains(result) if "hot" in n]
    named = [n for n, _ in hot if n[-1] == "[spin made at run time]"]
    assert len(hot) > 20
    assert len(named) > 0.9 * len(hot), [n for n, _ in hot][:5]
    assert all(n[-2] == "hot" for n in named), named[:5]
    assert all(flags & SYSTEM_BITS for n, flags in hot if n[-1].startswith("[spin")), "not called native"
    joined, partly, unjoined, _ = map(int, capture.read(capture_of(result)).meta["native_stacks"].split()[:4])
    assert unjoined >= len(named), (joined, partly, unjoined)


@pytest.fixture(scope="session")
def llvmlite(tmp_path_factory):
    """A folder with llvmlite alone: its wheel, a library and Python code, serves every version from 3.10 on."""
    spec = importlib.util.find_spec("llvmlite")
    if not spec:
        pytest.skip("NO LLVMLITE HERE: code that LLVM makes is not tested; see tests/requirements.txt")
    folder = tmp_path_factory.mktemp("llvmlite")
    (folder / "llvmlite").symlink_to(Path(spec.origin).parent)
    return folder


def test_code_that_llvm_makes(program, python, llvmlite, tmp_path):
    """Its names by the GDB JIT interface, and whole chains through it: no frame pointers, no perf map."""
    if python.foreign or python.version < (3, 10):
        pytest.skip("SKIP: the llvmlite of the tests' venv does not run on %s" % python.name)
    env = {"PYTHONPATH": str(llvmlite), "PYTHONDONTWRITEBYTECODE": "1"}
    for _ in range(3):  # LLVM's own table takes long, the first time: the code may not be seen before the end
        result = profile(python, [str(TARGETS / "llvm.py"), "1.5"], tmp_path, hz=1000, env=env)
        assert result.status == 0, result
        hot = [(n[n.index("hot") + 1 :], path, flags) for n, path, flags in chains(result) if "hot" in n]
        while hot and "[jit_outer]" not in hot[0][0]:
            hot.pop(0)
        if len(hot) > 100:
            break
    assert len(hot) > 50
    made = [[f.name for f, _ in path if f.file == MADE] for _, path, _ in hot]
    assert all(m in ([], ["jit_outer"], ["jit_outer", "jit_inner"]) for m in made), made
    back = [n for n, _, _ in hot if "called_back" in n]
    spun = [(n, flags) for n, _, flags in hot if n and n[-1] == "[jit_inner]"]
    assert len(back) > 10 and len(spun) > 2, (len(back), len(spun))
    whole = [n for n in back if "[jit_outer]" in n]
    assert len(whole) > 0.9 * len(back), back[:5]
    for n in whole:
        assert n.index("[jit_inner]") == n.index("[jit_outer]") + 1 < n.index("called_back"), n
    assert all(n[-2] == "[jit_outer]" and flags & SYSTEM_BITS for n, flags in spun), spun[:5]


LINED = {  # what a stack may have of llvm_lines.py's code, from the root on; moved() a hundred lines further down
    "spun": [("outer", 33), ("inner", 22), ("step", 12)],
    "back": [("outer", 33), ("inner", 25)],
    "started": [("outer", 33), ("inner", 21)],
    "returned": [("outer", 33)],
}


@pytest.mark.parametrize("dwarf", ["4", "5"])
def test_lines_of_code_that_llvm_makes(program, llvmlite, dwarf, tmp_path):
    """Its debug information is in the image that the GDB JIT interface has, not relocated: source, line, inlined."""
    if not lines(program):
        pytest.skip("SKIP: this build reads no debug information")
    python = [p for p in pythons.local() if p.version >= (3, 10)][-1]
    env = {"PYTHONPATH": str(llvmlite), "PYTHONDONTWRITEBYTECODE": "1"}
    for _ in range(3):  # as above
        result = profile(python, [str(TARGETS / "llvm_lines.py"), "3", dwarf], tmp_path, hz=1000, env=env)
        assert result.status == 0, result
        seen = {"hot": [], "moved": []}
        for names, path, _ in chains(result):
            made = [(f, line) for f, line in path if f.module == MADE or f.file == MADE]
            if made:
                seen["hot" if "hot" in names else "moved"].append(made)
        if all(len(stacks) > 100 for stacks in seen.values()):
            break
    for function, further in ("hot", 0), ("moved", 100):
        stacks = seen[function]
        assert len(stacks) > 50, (function, len(stacks))
        assert all(f.file == "/known/lines.k" and f.module == MADE for made in stacks for f, _ in made), stacks[:3]
        found = [[(f.name, line - further) for f, line in made] for made in stacks]
        assert all(chain in LINED.values() for chain in found), found[:5]
        assert found.count(LINED["spun"]) > 10 and found.count(LINED["back"]) > 10, found[:5]


@pytest.fixture(scope="session")
def registered(tmp_path_factory):
    path = tmp_path_factory.mktemp("registered") / "libregistered.so"
    command = ["g++", "-shared", "-fPIC", "-O2", "-fomit-frame-pointer", "-o", str(path)]
    subprocess.run([*command, str(TARGETS / "registered.cc")], check=True)
    return path


WAYS = ["frame", "frame_info", "frame_info_bases", "frame_table", "frame_info_table", "frame_info_table_bases"]


def test_registered_frames(program, local_python, registered, tmp_path):
    """Only its .eh_frame is known, by __register_frame; other code comes to stand at the same place."""
    assert_registered(local_python, registered, "frame", tmp_path)


@pytest.mark.parametrize("way", WAYS[1:])
def test_frames_registered_in_other_ways(program, registered, way, tmp_path):
    assert_registered(pythons.local()[0], registered, way, tmp_path)


def assert_registered(python, library, way, tmp_path):
    script = [str(TARGETS / "registered.py"), str(library), "1.7", str(WAYS.index(way))]
    result = profile(python, script, tmp_path, hz=1000)
    assert result.status == 0, result
    assert result.out == "{200000}\n", "exceptions do not pass through made code as they do without us"
    found = [[n.strip("[]") if f.file != MADE else MADE for n, (f, _) in zip(*it)] for *it, _ in chains(result)]
    assert not any("decoy" in n for n in found), "a stack by rules for other code"
    below_made = {"spin_inside": ["spun", "thrown"], "called_back": ["through"]}
    for inner, callers in below_made.items():
        stacks = [n[: n.index(inner) + 1] for n in found if inner in n]
        whole = [n for n in stacks if "chain" in n]
        assert len(whole) > 0.3 * len(stacks) > 10, (len(whole), len(stacks))
        for n in whole:
            assert any(c in n[: n.index("chain")] for c in callers), n
            assert n[n.index("chain") + 1] == MADE and n.count(MADE) == 1, n
    names = {f.name for *it, _ in chains(result) for f, _ in it[1] if f.file == MADE}
    assert len(names) == 1 and names.pop().endswith("000"), "both begin at the same place, on a page"


def test_old_start_files(program, local_python, tmp_path):
    """They register if there is somebody to register with: nobody, without us, until libgcc comes later."""
    paths = [tmp_path / name for name in ("libold.so", "liblater.so")]
    flags = ["gcc", "-shared", "-fPIC", "-nostdlib", str(TARGETS / "old_start.c")]
    subprocess.run([*flags, "-o", str(paths[0])], check=True)
    subprocess.run([*flags, "-o", str(paths[1]), "-DLATER", "-lgcc_s", "-Wl,--no-as-needed"], check=True)
    result = profile(local_python, [str(TARGETS / "old_start.py"), *map(str, paths)], tmp_path)
    assert result.status == 0, result
    assert result.out == "old False\nlater True\nold True\n", result
