"""The example `choose` against an imitated provider, and decisions held against the truth."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.choose import PANEL, by_hand, run

from peerage.arena import open_arena
from peerage.settings import load
from peerage.standings.accounts import spent_by

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "choose" / "tasks.csv"


class Provider:
    """An imitated provider in a process of its own, at `url`; `stop` returns its requests by model."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.servers.imitated", str(EXAMPLE)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        self._requests: Counter[str] | None = None

    def stop(self) -> Counter[str]:
        if self._requests is None:
            out, _ = self._process.communicate("", timeout=60)
            self._requests = Counter(json.loads(out))
        return self._requests


@pytest.fixture
def provider() -> Iterator[Provider]:
    started = Provider()
    try:
        yield started
    finally:
        started.stop()


def model(provider: Provider, name: str) -> str:
    """A model of the provider, as a player on the command line."""
    where = f"base_url: '{provider.url}', price: {{input: 1, output: 4}}"
    return f"{{model: 'openai:{name}', name: {name}, {where}}}"


def peerage(folder: Path, *words: str) -> subprocess.Popen[str]:
    env = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    return subprocess.Popen(
        [sys.executable, "-m", "peerage", *words],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_the_example_comes_to_a_decision_and_no_call_is_paid_twice(
    provider: Provider, tmp_path: Path
) -> None:
    """Without a yes nothing is spent; after Ctrl+C the same command goes on; each request at the provider is
    one on the ledger, or a probe."""
    shutil.copy(EXAMPLE, tmp_path)
    players = [model(provider, name) for name in ("right-60", "right-97", "right-80")]
    words = ["choose", "tasks.csv", *players, "--judge", model(provider, "judge-85"), "--budget", "2"]
    asked = peerage(tmp_path, *words)
    told, _ = asked.communicate(timeout=120)
    assert asked.returncode == 2
    assert "no terminal to confirm the plan at; pass `--yes` to accept it" in told
    assert "the budget of $2 over all runs is never exceeded" in " ".join(told.split()).replace("The", "the")
    assert load(tmp_path / "tasks").budget.arena == 2
    assert not matches(tmp_path / "tasks")

    first = peerage(tmp_path, *words, "--matches", "150", "--yes")
    ledger = tmp_path / "tasks" / "arena.db"
    until = time.monotonic() + 120
    while matches(tmp_path / "tasks") < 20 and time.monotonic() < until and first.poll() is None:
        time.sleep(0.2)
    first.send_signal(signal.SIGINT)
    told, _ = first.communicate(timeout=120)
    assert first.returncode == 130, told
    assert "the same command goes on from here" in told
    assert ledger.exists()

    second = peerage(tmp_path, *words, "--matches", "150", "--yes")
    told, _ = second.communicate(timeout=300)
    assert second.returncode == 0, told
    assert "Pick right-97" in told
    assert "done: 150 matches" in told or "right-97 is the best" in told
    with open_arena(tmp_path / "tasks", create=False) as arena:
        assert not arena.verify().problems
        requests = Counter(
            exchange.key.partition("/")[0] for exchange in arena.ledger.exchanges(1) if exchange.reply
        )
        spent = sum(spent_by(arena.ledger).values()) / 1e9
        hand = by_hand(arena.ledger)
        assert {row.player: row.accuracy for row in arena.leaderboard()} == pytest.approx(hand)
    assert sum(provider.stop().values()) == requests.total() + 4  # a probe of each, once
    assert hand["right-97"] > hand["right-80"] > hand["right-60"]
    assert 0 < spent < 2


def matches(folder: Path) -> int:
    if not (folder / "arena.db").exists():
        return 0
    with open_arena(folder, create=False) as arena:
        return arena.ledger.heads()[1]


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_decision_is_right_and_accuracy_is_what_a_pencil_finds(seed: int) -> None:
    """Eight players on sixty tasks through one judge: the best is kept, and all from its second neighbour on
    are dropped."""
    found = run(seed, "judge", 1_200)
    assert found.right, found
    assert found.accuracy_off < 1e-9
    assert found.judge_calls <= PANEL * found.matches / 2


def test_accuracy_is_known_where_checks_decide() -> None:
    found = run(3, "checks", 100)
    assert found.accuracy_off < 1e-9
    assert 0 < found.judge_calls < found.matches
