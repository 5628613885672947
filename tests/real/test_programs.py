"""Programs of a real language model, run in the real sandbox: a round of code golf and a bug hunt."""

from pathlib import Path

import pytest
import yaml
from tests.real.arena import PLAYER, needs_model

from peerage.arena import open_arena

pytestmark = [pytest.mark.real, needs_model]


@pytest.mark.parametrize(
    ("game", "rules"),
    [
        ("code-golf", {"seats": 3, "max_tokens": 120, "tasks": 1, "difficulty": 1}),
        ("bug-hunt", {"seats": 3, "tasks": 1, "difficulty": 1, "max_tokens": 200}),
    ],
)
def test_a_match(tmp_path: Path, game: str, rules: dict[str, object]) -> None:
    pytest.importorskip("wasmtime")
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
        match = opened.match(1)
        assert match.status == "done"
        made = {match.player(label): one for label, [one] in match.detail["programs"].items()}
        assert set(made["expert"]["tests"]) == {"passed"}
        # a model of this size writes programs, hardly ever right ones; whatever it wrote gets a verdict
        assert all(one["bytes"] is None or one["tests"] for one in made.values())
        said = [one for one in match.exchanges if one.role == "contestant"]
        assert all(one.reply and one.output_tokens for one in said)
        assert {one.status for one in said} <= {"ok", "invalid"}
        label = next(seat.label for seat in match.seats if seat.player == "expert")
        assert match.scores[label] == max(match.scores.values())
        assert opened.verify().ok
        assert opened.replay().ok
