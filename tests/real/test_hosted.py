"""A host that serves two real models on this machine's processors."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml
from tests.real.arena import ONE_THREAD, needs_model, servers_of
from tests.servers.smollm import smollm

from peerage.arena import open_arena
from peerage.ledger.topics.uptimes import uptimes
from peerage.standings.verify import verify

pytestmark = [pytest.mark.real, needs_model]


def test_two_models_are_served_in_one_uptime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ONE_THREAD.items():
        monkeypatch.setenv(name, value)
    hands = Path(__file__).parents[1] / "engine" / "hands.py"
    (tmp_path / "hands.py").write_text(hands.read_text("utf-8"), "utf-8")
    for name in ("one", "two"):
        (tmp_path / f"{name}.gguf").symlink_to(smollm() or "")
    players = [{"name": name, "model": f"gguf:{name}.gguf", "host": "here"} for name in ("one", "two")]
    said = {
        "game": "./hands.py",
        "players": ["house:0.9", "house:0.5", *players],
        "hosts": {"here": {"usd_per_hour": 0.4, "matches": 100}},
        "engine": {"probe": False},
    }
    (tmp_path / "arena.yaml").write_text(yaml.safe_dump(said), "utf-8")
    with open_arena(tmp_path) as arena:
        report = arena.run(6)
        assert report.decided == 6, report
        (uptime,) = uptimes(arena.ledger)
        assert uptime.why == "done"
        assert all(use.calls for use in uptime.used.values())
        assert report.billed_nano == uptime.held_nano > 0
        assert not verify(arena.ledger).problems
    assert servers_of(os.getpid()) == []
