"""Our names against binutils'.  usage: check_names.py NAME_TOOL [FILE...]

Stubs against objdump's labels, C++ and Rust names against c++filt's. Without files: the C and C++ libraries and
what this Python has loaded.
"""
import os
import re
import subprocess
import sys

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
            good = answer[0].endswith("@plt") or "+0x" in answer[0]
        else:
            good = answer == [readable(name.split("@")[0]) + "@plt"]
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


def loaded():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        paths = {line.split(None, 5)[5].rstrip("\n") for line in maps if line.split()[1][2] == "x" and "/" in line}
    cxx = run("gcc", "-print-file-name=libstdc++.so.6").stdout.strip()
    return sorted(path for path in paths | {os.path.realpath(cxx)} if os.path.exists(path))


def main():
    tool, files = sys.argv[1], sys.argv[2:] or loaded()
    good, stubs, names = True, 0, []

    def readable(name):
        return run(tool, "demangle", input=name + "\n").stdout.rstrip("\n") if name.startswith("_Z") else name

    for path in files:
        fine, n = check_stubs(tool, path, readable)
        good &= fine
        stubs += n
        names += mangled_names(path)
    good &= check_demangle(tool, names)
    if stubs < 20:
        print("only %d stubs were seen" % stubs)
    sys.exit(0 if good and stubs >= 20 else 1)


main()
