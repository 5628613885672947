"""A run with a real host that is killed at any moment loses nothing, and leaves no host up."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.faults.host_kills import MATCHES, PHASES


@pytest.mark.skipif(sys.platform != "linux", reason="runs are forks, and processes are looked up in /proc")
def test_a_host_killed_in_any_phase_loses_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.faults.host_kills", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    assert found["killed"] == [*PHASES]
    assert found["left_up"] == [], "the guard stops the host, whatever its run was doing"
    assert found["lost"] == [], "what was on record stays as it is"
    assert found["unsound"] == []
    assert found["uptimes"][: len(PHASES)] == ["crashed"] * len(PHASES)
    assert set(found["uptimes"][len(PHASES) :]) <= {"done"}
    assert found["priced"]
    assert found["answered"] == MATCHES
    assert found["answered"] <= found["received"] <= found["answered"] + found["left_open"]
