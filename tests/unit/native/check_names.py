"""Our names against binutils'.  usage: check_names.py NAME_TOOL [FILE...]

Stubs against objdump's labels, C++ and Rust names against c++filt's, inlined functions and lines against addr2line's
and llvm-symbolizer's. Without files: the C and C++ libraries, what this Python has loaded, and a C++ program that this
builds, by gcc and by clang.
"""
import lzma
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

LABEL = re.compile(r"^([0-9a-f]+) <(.*)@plt>:$")
NAMES = 20_000
SKIPPED = 77


def run(*command, **kwargs):
    return subprocess.run(command, capture_output=True, text=True, check=False, errors="surrogateescape", **kwargs)


def ask(tool, path, addresses):
    """The frames of each address, innermost first."""
    ran = run(tool, path, input="".join("%x\n" % address for address in addresses))
    if ran.returncode:
        sys.exit("%s %s: status %d" % (tool, path, ran.returncode))
    answers = [answer.splitlines() for answer in ran.stdout.split("\n\n")[:-1]]
    if len(answers) != len(addresses):
        sys.exit("%s: %d answers to %d questions" % (path, len(answers), len(addresses)))
    return answers


def check_stubs(tool, path, readable):
    theirs = {}
    for section in (".plt", ".plt.sec", ".plt.got"):
        for line in run("objdump", "-d", "-j", section, path).stdout.splitlines():
            found = LABEL.match(line)
            if found:
                theirs[int(found[1], 16)] = found[2]
    addresses = sorted(theirs)
    wrong = own = 0
    for address, answer in zip(addresses, ask(tool, path, addresses)):
        name = theirs[address]
        if name.startswith("*ABS*"):  # ours has the function's name there
            own += 1
            good = "@plt" in answer[0] or "+0x" in answer[0]
        else:
            good = answer == [readable(name.split("@")[0]) + "@plt\t??:0"]
        if not good:
            wrong += 1
            if wrong <= 5:
                print("%s: %x: objdump %s, ours %s" % (path, address, name, answer))
    print("%s: %d stubs, %d of functions of its own, %d different" % (path, len(theirs), own, wrong))
    return wrong == 0, len(theirs)


def mangled_names(path):
    names = set()
    for line in run("readelf", "-W", "--syms", path).stdout.splitlines():
        words = line.split()
        if len(words) >= 8 and words[3] in ("FUNC", "IFUNC"):
            names.add(words[7].split("@")[0])
    return sorted(name for name in names if name.startswith(("_Z", "_R")))[:NAMES]


def check_demangle(tool, names):
    text = "".join(name + "\n" for name in names)
    ours = run(tool, "demangle", input=text)
    theirs = run("c++filt", "-p", "-i", input=text).stdout.splitlines()
    if ours.returncode == SKIPPED:
        print("this build has no libiberty: C++ and Rust names are not checked")
        return True
    wrong = cut = 0
    for name, ours_is, theirs_is in zip(names, ours.stdout.splitlines(), theirs):
        if ours_is.endswith("…") and theirs_is.startswith(ours_is[:-1]):
            cut += 1
        elif ours_is != theirs_is:
            wrong += 1
            if wrong <= 5:
                print("%s: c++filt %s, ours %s" % (name, theirs_is, ours_is))
    print("%d mangled names, %d cut, %d different" % (len(names), cut, wrong))
    return wrong == 0


def functions(path):
    for line in run("readelf", "-W", "--syms", path).stdout.splitlines():
        words = line.split()
        if len(words) >= 8 and words[3] == "FUNC" and words[6] != "UND" and words[2].isdigit() and int(words[2]):
            yield int(words[1], 16), int(words[2])


def frames_of_addr2line(path, addresses):
    """[(name, file, line)] of each address, innermost first."""
    text = "".join("%x\n" % address for address in addresses)
    ran = run("addr2line", "-a", "-f", "-i", "-e", path, input=text)
    answers = []
    lines = iter(ran.stdout.splitlines())
    for line in lines:
        if line.startswith("0x"):
            answers.append([])
            continue
        file, _, number = next(lines).partition(" (")[0].rpartition(":")
        answers[-1].append((line, file, int(number) if number.isdigit() else 0))
    return answers


def frames_of_llvm(path, addresses):
    text = "".join("0x%x\n" % address for address in addresses)
    ran = run("llvm-symbolizer", "--no-demangle", "--obj=" + path, input=text)
    answers = []
    for answer in ran.stdout.split("\n\n")[:len(addresses)]:
        lines = answer.splitlines()
        places = [place.rsplit(":", 2) for place in lines[1::2]]
        answers.append([(name, place[0], int(place[1])) for name, place in zip(lines[::2], places)])
    return answers


def plain(name):
    """Without what compilers put behind the names of parts of a function."""
    return re.sub(r"\.(cold|part|constprop|isra|lto_priv)(\.[0-9]+)*", "", name)


def check_inlined(tool, path, readable, ask_other, count=400):
    if ".debug_info" not in run("readelf", "-W", "-S", path).stdout:
        return True, 0
    rng = random.Random(5)
    spans = sorted(set(functions(path)))
    addresses = [start + rng.randrange(size) for start, size in (rng.choice(spans) for _ in range(count))]
    compared = wrong = inlined = without_line = 0
    names = {}
    for address, ours, theirs in zip(addresses, ask(tool, path, addresses), ask_other(path, addresses)):
        ours = [(frame.split("\t")[0], *frame.split("\t")[1].rsplit(":", 1)) for frame in ours]
        if ours[0][1] == "??":
            continue  # by its symbol: no debug information for it
        compared += 1
        inlined += len(ours) > 1
        for name, _, _ in theirs:
            if name not in names:
                names[name] = readable(plain(name))
        without_line += sum(int(line) == 0 for _, _, line in ours)
        good = len(ours) == len(theirs) and all(
            (plain(mine[0]) == names[other[0]] or mine[0].endswith("::" + other[0]))  # ours has the namespace
            and (mine[2] == "0" or int(mine[2]) == other[2])
            for mine, other in zip(ours, theirs))
        if not good:
            wrong += 1
            if wrong <= 5:
                print("%s: %x:\n  theirs %s\n  ours   %s" % (path, address, theirs, ours))
    print("%s: %d of %d addresses have debug information, %d with inlined functions, %d frames without line, "
          "%d different" % (path, compared, count, inlined, without_line, wrong))
    return wrong * 100 <= compared, inlined


INLINED = """
#include <algorithm>
#include <map>
#include <string>
#include <vector>
namespace shapes {
template <class T> struct Box { T x; T twice() const { return x + x; } };
static inline long add(long a, long b) { return a * 31 + b; }
static inline long sum(const std::vector<long> &v) { long s = 0; for (long x : v) s = add(s, Box<long>{x}.twice()); return s; }
__attribute__((noinline)) long work(long n) {
    std::vector<long> v;
    std::map<std::string, long> m;
    for (long i = 0; i < n; i++) { v.push_back(i ^ n); m[std::to_string(i)] += i; }
    std::sort(v.begin(), v.end(), [](long a, long b) { return add(a, 1) > add(b, 2); });
    return sum(v) + static_cast<long>(m.size());
}
}
int main(int argc, char **argv) { return static_cast<int>(shapes::work(argc)); }
"""


def built(folder):
    """The same program in every way that matters: by both compilers, DWARF 4 and 5, compressed, in a file of its own."""
    source = os.path.join(folder, "inlined.cc")
    with open(source, "w", encoding="utf-8") as f:
        f.write(INLINED)
    ways = [("g++", "-gdwarf-5"), ("g++", "-gdwarf-4", "-gz"), ("clang++", "-gdwarf-5"), ("clang++", "-gdwarf-4")]
    for i, (compiler, *options) in enumerate(ways):
        path = os.path.join(folder, "inlined%d" % i)
        if not shutil.which(compiler):
            print("%s is not here: its debug information is not checked" % compiler)
            continue
        subprocess.run([compiler, "-O2", "-g", *options, "-o", path, source], check=True)
        yield path


def check_stripped(tool, folder, unpacks):
    """Names of a stripped program: by its build-id's debug file, by .gnu_debuglink, by .gnu_debugdata, or none."""
    source, good = os.path.join(folder, "stripped.c"), True
    with open(source, "w", encoding="utf-8") as f:
        f.write("__attribute__((noinline)) static long hidden(long n) { volatile long x = n; return x * 3; }\n"
                "int main(int argc, char **argv) { return (int)hidden(argc); }\n")

    def make(name, *options):
        path = os.path.join(folder, name)
        subprocess.run(["gcc", "-O2", "-g", *options, "-o", path, source], check=True)
        words = next(line.split() for line in run("readelf", "-W", "--syms", path).stdout.splitlines()
                     if line.endswith(" hidden"))
        subprocess.run(["objcopy", "--only-keep-debug", path, path + ".debug"], check=True)
        return path, int(words[1], 16)

    def expect(what, path, address, wanted, root=None):
        nonlocal good
        command = [tool, path, root] if root else [tool, path]
        said = run(*command, input="%x\n" % address).stdout.split("\n")[0].split("\t")[0]
        if said != wanted and not (wanted is None and said.startswith("stripped") and "+0x" in said):
            print("stripped, %s: %s, not %s" % (what, said, wanted))
            good = False

    path, address = make("stripped1")
    subprocess.run(["strip", path], check=True)
    debug = path + ".debug"
    os.rename(debug, os.path.join(folder, "kept"))
    expect("nothing", path, address, None)
    build_id = re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-n", path).stdout)[1]
    place = os.path.join(folder, "root/usr/lib/debug/.build-id", build_id[:2])
    os.makedirs(place)
    shutil.copy(os.path.join(folder, "kept"), os.path.join(place, build_id[2:] + ".debug"))
    expect("build-id", path, address, "hidden", os.path.join(folder, "root"))
    for link, options in (("linked", ()), ("without build-id", ("-Wl,--build-id=none",))):
        path, address = make("stripped2", *options)
        subprocess.run(["strip", path], check=True)
        subprocess.run(["objcopy", "--add-gnu-debuglink=" + path + ".debug", path], check=True)
        expect(link, path, address, "hidden")
        os.makedirs(os.path.join(folder, ".debug"), exist_ok=True)
        os.rename(path + ".debug", os.path.join(folder, ".debug", "stripped2.debug"))
        expect(link + ", in .debug", path, address, "hidden")
        with open(os.path.join(folder, ".debug", "stripped2.debug"), "r+b") as f:  # another build's
            if options:
                f.seek(-1, 2)
                last = f.read(1)[0]
                f.seek(-1, 2)
                f.write(bytes([last ^ 1]))
            else:
                data = f.read()
                at = data.index(bytes.fromhex(re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-n", path).stdout)[1]))
                f.seek(at)
                f.write(b"other")
        expect(link + ", of another build", path, address, None)
        os.remove(os.path.join(folder, ".debug", "stripped2.debug"))
    path, address = make("stripped3")
    small = path + ".small"
    subprocess.run(["objcopy", "-S", "--keep-symbol=hidden", "--remove-section=.comment", path, small], check=True)
    with open(small, "rb") as f, open(small + ".xz", "wb") as out:
        out.write(lzma.compress(f.read()))
    subprocess.run(["strip", path], check=True)
    os.remove(path + ".debug")
    subprocess.run(["objcopy", "--add-section", ".gnu_debugdata=" + small + ".xz", path], check=True)
    expect(".gnu_debugdata", path, address, "hidden" if unpacks else None)
    print("stripped programs: %s" % ("as they should be" if good else "wrong"))
    return good


def check_folders(tool, folder):
    """Sources of a build whose folder is named relatively, as distributions do: below that folder, once."""
    good = True
    os.makedirs(os.path.join(folder, "built/sub"))
    for name in ("here.c", "sub/there.c"):
        with open(os.path.join(folder, "built", name), "w", encoding="utf-8") as f:
            f.write("long %s(long n) { return n * 3; }\n" % os.path.basename(name)[:-2])
    for version in "45":
        path = os.path.join(folder, "folders" + version)
        where = os.path.join(folder, "built")
        subprocess.run(["gcc", "-g", "-gdwarf-" + version, "-shared", "-fdebug-prefix-map=%s=./part" % where, "-o", path,
                        "here.c", "sub/there.c"], check=True, cwd=where)
        for line in run("readelf", "-W", "--syms", path).stdout.splitlines():
            wanted = {"here": "./part/here.c:1", "there": "./part/sub/there.c:1"}.get(line.split(" ")[-1])
            said = wanted and run(tool, path, input=line.split()[1] + "\n").stdout.split("\n")[0].split("\t")[1]
            if said != wanted:
                print("DWARF %s: %s, not %s" % (version, said, wanted))
                good = False
    print("relative folders of builds: %s" % ("as they should be" if good else "wrong"))
    return good


def loaded():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        paths = {line.split(None, 5)[5].rstrip("\n") for line in maps if line.split()[1][2] == "x" and "/" in line}
    cxx = run("gcc", "-print-file-name=libstdc++.so.6").stdout.strip()
    return sorted(path for path in paths | {os.path.realpath(cxx)} if os.path.exists(path))


def main():
    tool, files = sys.argv[1], sys.argv[2:] or loaded()
    good, stubs, names = True, 0, []
    dwarf = "lines (not" not in run(tool, "abilities").stdout
    if not dwarf:
        print("this build has no libdw: inlined functions and lines are not checked")

    def readable(name):
        return run(tool, "demangle", input=name + "\n").stdout.rstrip("\n") if name.startswith("_Z") else name

    for path in files:
        fine, n = check_stubs(tool, path, readable)
        good &= fine
        stubs += n
        names += mangled_names(path)
    good &= check_demangle(tool, names)
    with tempfile.TemporaryDirectory() as folder:
        files += [] if sys.argv[2:] else built(folder)
        good &= check_stripped(tool, folder, "debugdata (not" not in run(tool, "abilities").stdout)
        good &= not dwarf or check_folders(tool, folder)
        for path in files if dwarf else []:
            # binutils leaves out frames of clang's DWARF 5
            theirs = frames_of_llvm if path.startswith(folder) else frames_of_addr2line
            fine, n = check_inlined(tool, path, readable, theirs)
            good &= fine
            if not n and path.startswith(folder):
                print("%s: no inlined functions were seen" % path)
                good = False
    if stubs < 20:
        print("only %d stubs were seen" % stubs)
    sys.exit(0 if good and stubs >= 20 else 1)


main()
