"""Signals at random moments, during resumes too, in arenas of every game.

Nothing recorded is asked again, nothing differs, and the provider's book agrees with the ledger.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.faults.trials import TRIALS, playable

from peerage.games import GAMES

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the runs are forks of one process")

QUICK = [name for name in playable() if name in ("duel", "own-prompts", "several", "code-golf")]
"""A player on the bench, one that fails, cut replies, a budget and a sandbox are among them."""


def killed(folder: Path, kills: int, seed: int, trials: list[str]) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.faults.kill9", str(folder), "--kills", str(kills)]
    command += ["--seed", str(seed), "--trials", *trials]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def check(found: dict[str, Any], kills: int, trials: list[str]) -> None:
    counts = found["counts"]
    assert sum(sum(signals.values()) for signals in found["signals"].values()) == kills
    assert all(found["signals"][name] for name in trials)
    assert found["different"] == []
    assert found["orphans"] == 0
    assert counts["asked_again"] == 0
    assert counts["opened"] > 0, "no kill hit a call in flight: the kills came too early or too late"
    assert counts["unaccounted"] == 0
    assert counts["not_asked_again"] == 0
    assert counts["misreported"] == 0
    assert counts["wrong"] == counts["short"] == counts["over"] == 0
    assert counts["recorded"] <= counts["received"] <= counts["recorded"] + counts["open"]


def test_every_game_is_killed() -> None:
    killed_in = {game for trial in TRIALS.values() for game in (trial.games or [trial.game])}
    assert killed_in == set(GAMES)


def test_a_few_kills(tmp_path: Path) -> None:
    check(killed(tmp_path, 8, 1, QUICK), 8, QUICK)


@pytest.mark.slow
def test_three_hundred_kills(tmp_path: Path) -> None:
    trials = playable()
    found = killed(tmp_path, 300, 2, trials)
    check(found, 300, trials)
    signals = {signal for of in found["signals"].values() for signal in of}
    assert signals == {"SIGKILL", "SIGTERM", "SIGHUP", "SIGSTOP"}
    assert found["counts"]["arenas"] > len(trials)
    assert found["counts"]["resumed"] > 50
    assert found["counts"]["hurried"] > 5
    assert all(of["opened"] > 0 for of in found["of"].values())
