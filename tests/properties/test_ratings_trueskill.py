"""TrueSkill within 1e-9 of the `trueskill` package on games made by Hypothesis."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import trueskill as package
from hypothesis import given, settings
from hypothesis import strategies as st

from peerage.ratings.history import Game, games
from peerage.ratings.trueskill import TrueSkillSettings, TrueSkillTable, rate


@st.composite
def situations(draw: st.DrawFn) -> tuple[Game, list[float], list[float], float]:
    sizes = draw(st.lists(st.integers(1, 3), min_size=2, max_size=8))
    bounds = np.cumsum([0, *sizes]).tolist()
    teams = tuple(tuple(range(a, b)) for a, b in pairwise(bounds))
    ranks = tuple(draw(st.lists(st.integers(0, 4), min_size=len(sizes), max_size=len(sizes))))
    share = st.sampled_from([1.0, 1.0, 0.5, 0.2])
    shares = tuple(tuple(draw(share) for _ in team) for team in teams)
    mu = [draw(st.floats(15, 35)) for _ in range(bounds[-1])]
    sigma = [draw(st.floats(1, 9)) for _ in range(bounds[-1])]
    return Game(teams, ranks, shares), mu, sigma, draw(st.sampled_from([0.1, 0.25, 0.5]))


@settings(max_examples=60, deadline=None)
@given(situations())
def test_teams_ties_and_partial_play(situation: tuple[Game, list[float], list[float], float]) -> None:
    game, mu, sigma, draw_probability = situation
    env: Any = package.TrueSkill(draw_probability=draw_probability, backend="scipy")
    theirs = env.rate(
        [tuple(env.create_rating(mu[i], sigma[i]) for i in team) for team in game.teams],
        ranks=game.ranks,
        weights=game.shares,
    )
    constants = TrueSkillSettings(draw_probability=draw_probability)
    start = TrueSkillTable(constants, np.array(mu), np.array(sigma), np.zeros(len(mu)))
    ours = rate(games(len(mu), [game]), constants, start)
    for team, rated in zip(game.teams, theirs, strict=True):
        for player, rating in zip(team, rated, strict=True):
            assert ours.mu[player] == pytest.approx(rating.mu, abs=1e-9)
            assert ours.sigma[player] == pytest.approx(rating.sigma, abs=1e-9)
