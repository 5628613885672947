"""Signals at random moments, during resumes too: nothing recorded is asked again, nothing differs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the runs are forks of one process")


def killed(folder: Path, kills: int, seed: int) -> dict[str, Any]:
    command = [
        sys.executable,
        "-m",
        "tests.faults.kill9",
        str(folder),
        "--kills",
        str(kills),
        "--seed",
        str(seed),
    ]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def check(found: dict[str, Any], kills: int) -> None:
    assert found["kills"] >= kills
    assert found["different"] == []
    assert found["asked_again"] == 0
    assert found["opened"] > 0, "no kill hit a call in flight: the kills came too early or too late"
    assert found["unaccounted"] == 0
    assert found["not_asked_again"] == 0
    assert found["misreported"] == 0


def test_a_dozen_kills(tmp_path: Path) -> None:
    check(killed(tmp_path, 12, 1), 12)


@pytest.mark.slow
def test_three_hundred_kills(tmp_path: Path) -> None:
    found = killed(tmp_path, 300, 2)
    check(found, 300)
    assert set(found["signals"]) == {"SIGKILL", "SIGTERM", "SIGHUP", "SIGSTOP"}
    assert found["arenas"] > 3
    assert found["resumed"] > 50
