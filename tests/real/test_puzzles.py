"""Puzzles and transformations answered by a real language model, beside a player that knows the answers."""

from pathlib import Path

import pytest
import yaml
from tests.real.arena import PLAYER, needs_model

from peerage.arena import open_arena

pytestmark = [pytest.mark.real, needs_model]


@pytest.mark.parametrize(
    ("game", "rules"),
    [
        ("logic", {"seats": 3, "puzzles": 2, "difficulty": 1, "max_tokens": 160}),
        ("transform", {"seats": 3, "tasks": 1, "steps": 1, "credit": "lines", "max_tokens": 240}),
    ],
)
def test_a_match(tmp_path: Path, game: str, rules: dict[str, object]) -> None:
    arena = {
        "game": game,
        "seed": 2,
        "rules": rules,
        "players": [
            {"name": "cool", "model": PLAYER, "temperature": 0.2},
            {"name": "warm", "model": PLAYER, "temperature": 0.8},
            {"name": "expert", "model": "house:1"},
        ],
        "engine": {"concurrency": 1, "calls": 2},
    }
    (tmp_path / "arena.yaml").write_text(yaml.safe_dump(arena), "utf-8")
    with open_arena(tmp_path) as opened:
        assert opened.run(max_matches=1).settled == 1
        match = opened.match_view(1)
        assert match.status == "done"
        said = [one for one in match.exchanges if one.role == "contestant"]
        assert all(one.reply and one.output_tokens for one in said)
        assert {one.status for one in said} <= {"ok", "invalid"}
        # a model of this size solves nothing, as a rule; whatever it wrote counts by the stated rule
        by_name = {match.player(label): score for label, score in match.scores.items()}
        assert by_name["expert"] == 1
        assert set(by_name) == {"cool", "warm", "expert"}
        assert opened.verify().ok
        assert opened.replay().ok
