#!/usr/bin/env python3
"""tools/check-layers: what reaches upwards stops the build, in either form of an include; and the folders of
ARCHITECTURE.md are those that it goes by."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(os.environ["FAH_SOURCE_DIR"])
TOOL = SOURCE / "tools" / "check-layers"

# (what src/base/a.c includes, what is said of it; None: nothing)
INCLUDES = [
    ('#include "core/err.h"', None),
    ('#include "base/b.h"', None),
    ("#include <sys/stat.h>", None),
    ("#include <stdio.h>", None),
    ('#include "collect/run.h"', "base may not use collect (collect/run.h)"),
    ('  #  include "collect/run.h"', "base may not use collect (collect/run.h)"),
    ('#include"collect/run.h"', "base may not use collect (collect/run.h)"),
    ("#include <collect/run.h>", "collect/run.h: write includes of ours as"),
    ("#include <core/err.h>", "core/err.h: write includes of ours as"),
    ('#include "b.h"', "b.h: write includes of ours as"),
    ('#include "../collect/run.h"', "../collect/run.h: write includes of ours as"),
]


def check(tree):
    stamp = tree / "stamp"
    done = subprocess.run(
        [sys.executable, str(TOOL), str(tree), str(stamp)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )
    assert (done.returncode == 0) == stamp.exists() == (done.stderr == ""), done
    return done.stderr


def tree_with(top, files):
    for name, text in files.items():
        path = top / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return top


def includes():
    for line, said in INCLUDES:
        with tempfile.TemporaryDirectory() as top:
            files = {name: "" for name in ("core/err.h", "base/b.h", "collect/run.h")}
            files["base/a.c"] = "/* a */\n%s\n" % line
            found = check(tree_with(Path(top), files))
            assert (said in found and "base/a.c" in found) if said else found == "", (line, found)
    with tempfile.TemporaryDirectory() as top:
        found = check(tree_with(Path(top), {"other/a.c": ""}))
        assert "folder other is not in tools/check-layers" in found, found


def table():
    """The column "may use" of ARCHITECTURE.md, whole."""
    layers = {"__name__": "check-layers", "__file__": str(TOOL)}
    exec(compile(TOOL.read_text(), str(TOOL), "exec"), layers)
    layers = layers["LAYERS"]
    text = (SOURCE / "ARCHITECTURE.md").read_text()
    rows = dict(re.findall(r"^\| `src/(\w+)` \| [^|]+ \| ([^|]+) \|", text, re.M))
    told = {
        name: set() if use == "nothing" else set(layers) - {name, "agent"} if use == "all but agent" else set(use.split(", "))
        for name, use in rows.items()
    }
    assert told == layers, {n: (told.get(n), layers.get(n)) for n in set(told) | set(layers) if told.get(n) != layers.get(n)}


includes()
table()
