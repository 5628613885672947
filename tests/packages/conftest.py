"""One build for all tests of a run, whichever workers they are on."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from filelock import FileLock
from tests.packages.environments import ROOT, Built


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    lacking = [name for name in ("hatchling", "pip") if find_spec(name) is None]
    if lacking or sys.platform == "win32":
        skip = pytest.mark.skip(reason=f"packages are built with {' and '.join(lacking) or 'bin folders'}")
        for item in items:
            if Path(__file__).parent in item.path.parents:
                item.add_marker(skip)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Built:
    """The wheel and the sdist of this checkout."""
    base = tmp_path_factory.getbasetemp()
    out = (base if worker_id == "master" else base.parent) / "dist"
    with FileLock(f"{out}.lock"):
        if not out.exists():
            hatchling = [sys.executable, "-m", "hatchling", "build", "-d"]
            subprocess.run([*hatchling, f"{out}.new"], cwd=ROOT, check=True, capture_output=True)
            Path(f"{out}.new").rename(out)
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    return Built(wheel, sdist)
