"""The Valyrian table: bit for bit the `trueskill` package's, and how far the exact limit lies from it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.ratings import valyrian_published as published

from peerage.ratings.columns.history import Game, games
from peerage.ratings.sequential import trueskill

RECORDED = Path(__file__).parents[1] / "data" / "valyrian"


def recorded() -> tuple[list[str], list[tuple[list[str], list[int]]]]:
    read = [json.loads(path.read_text("utf-8")) for path in RECORDED.glob("*.json")]
    played = [(game["participants"], game["ranks"]) for game in sorted(read, key=lambda game: game["date"])]
    return sorted({name for participants, _ in played for name in participants}), played


def test_the_twelve_recorded_games_give_the_packages_table() -> None:
    import trueskill as package

    names, played = recorded()
    assert len(played) == 12
    env = package.TrueSkill(draw_probability=0)
    theirs = {name: env.create_rating() for name in names}
    for participants, ranks in played:
        rated = env.rate([(theirs[name],) for name in participants], ranks=ranks)
        theirs.update({name: rating for name, (rating,) in zip(participants, rated, strict=True)})
    history = games(
        len(names),
        [Game(tuple((names.index(n),) for n in seats), tuple(ranks)) for seats, ranks in played],
    )
    table = published.rate(history)
    assert table.mu.tolist() == [theirs[name].mu for name in names]
    assert table.sigma.tolist() == [theirs[name].sigma for name in names]
    exact = trueskill.rate(history, published.SETTINGS)
    assert np.abs(exact.mu - table.mu).max() == pytest.approx(0.364, abs=5e-4)


def test_a_team_is_refused() -> None:
    with pytest.raises(ValueError, match="single players"):
        published.rate(games(3, [Game(((0, 1), (2,)), (0, 1))]))
