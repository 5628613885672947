"""A round of the challenge exchange with a real language model, its solutions run in the real sandbox."""

from pathlib import Path

import pytest
import yaml
from tests.real.arena import PLAYER, needs_model

from peerage.arena import open_arena

pytestmark = [pytest.mark.real, needs_model]


def test_a_match(tmp_path: Path) -> None:
    pytest.importorskip("wasmtime")
    arena = {
        "game": "challenge-exchange",
        "seed": 2,
        "rules": {"seats": 2, "assigned": 1, "attempts": 1, "max_tokens": 60},
        "players": [
            {"name": "model", "model": PLAYER, "temperature": 0.2},
            {"name": "expert", "model": "house:1"},
        ],
        "engine": {"concurrency": 1, "calls": 2},
    }
    (tmp_path / "arena.yaml").write_text(yaml.safe_dump(arena), "utf-8")
    with open_arena(tmp_path) as opened:
        assert opened.run(max_matches=1).settled == 1
        match = opened.match(1)
        assert match.status == "done"
        # a model of this size hardly ever writes a challenge or a number; whatever it wrote has a result
        said = [one for one in match.exchanges if one.player == "model"]
        assert all(one.reply and one.output_tokens for one in said)
        assert {one.status for one in said} <= {"ok", "invalid"}
        points = {row.player: row.rating for row in opened.leaderboard("points")}
        assert points["expert"] >= 1 > points["model"]
        assert opened.verify().ok
        assert opened.replay().ok
