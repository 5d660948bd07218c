"""Compare model/qualname.c with the interpreter's own names, over the standard library.

usage: check_qualnames.py DUMP_QUALNAMES [FOLDER...]

The truth is co_qualname (3.11+). Code objects that share first line and name (two lambdas on one
line) can't be told apart by what a capture knows; they count only if all of them have one name.
"""
import os
import subprocess
import sys
import sysconfig
import types
import warnings


def sources(folders):
    for folder in folders:
        for base, dirs, names in os.walk(folder):
            dirs[:] = sorted(d for d in dirs if d not in ("site-packages", "dist-packages"))
            for name in sorted(names):
                if name.endswith(".py"):
                    yield os.path.join(base, name)


def codes(code):
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield const
            yield from codes(const)


def truth(path):
    with open(path, "rb") as f:
        data = f.read()
    try:
        top = compile(data, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    names = {}
    for code in codes(top):
        if code.co_name.startswith("<generic") or code.co_name == "__annotate__":
            continue  # made by the compiler of 3.12+, which knows its names anyway
        names.setdefault((code.co_firstlineno, code.co_name), set()).add(code.co_qualname)
    return {key: value.pop() for key, value in names.items() if len(value) == 1}


def main():
    if sys.version_info < (3, 11):
        print("skipped: this python3 has no co_qualname")
        return 77
    warnings.simplefilter("ignore")
    folders = sys.argv[2:] or [sysconfig.get_path("stdlib")]
    asked, lines, files = [], [], 0
    for path in sources(folders):
        names = truth(path)
        if names:
            files += 1
            lines.append(f"F {path}")
            for (first, name), qualname in names.items():
                lines.append(f"Q {first} {name}")
                asked.append((path, first, name, qualname))
    answer = subprocess.run([sys.argv[1]], input="\n".join(lines) + "\n", text=True, check=True,
                            stdout=subprocess.PIPE, encoding="utf-8",
                            errors="surrogateescape").stdout.splitlines()
    assert len(answer) == len(asked), (len(answer), len(asked))
    wrong = [(a, got) for a, got in zip(asked, answer) if a[3] != got]
    for (path, first, name, qualname), got in wrong[:40]:
        print(f"{path}:{first}: {name}: {qualname}, not {got}")
    print(f"{len(asked)} names in {files} files, {len(wrong)} wrong")
    return 1 if len(asked) < 1000 or len(wrong) * 2000 > len(asked) else 0


sys.exit(main())
