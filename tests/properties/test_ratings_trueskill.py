"""TrueSkill within 1e-9 of the `trueskill` package on games made by Hypothesis, but where more than two teams
meet and some tie: there no order in which they are listed may move them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import trueskill as package
from hypothesis import given, settings
from hypothesis import strategies as st

from peerage.ratings.columns.history import Game, games
from peerage.ratings.sequential.trueskill import TrueSkillSettings, TrueSkillTable, rate


@st.composite
def situations(draw: st.DrawFn, ties: bool = False) -> tuple[Game, list[float], list[float], float]:
    sizes = draw(st.lists(st.integers(1, 3), min_size=2, max_size=8))
    bounds = np.cumsum([0, *sizes]).tolist()
    teams = tuple(tuple(range(a, b)) for a, b in pairwise(bounds))
    ranks = tuple(draw(st.permutations(range(len(sizes)))))
    if ties or len(sizes) == 2:
        ranks = tuple(draw(st.lists(st.integers(0, 3), min_size=len(sizes), max_size=len(sizes))))
    share = st.sampled_from([1.0, 1.0, 0.5, 0.2])
    shares = tuple(tuple(draw(share) for _ in team) for team in teams)
    mu = [draw(st.floats(15, 35)) for _ in range(bounds[-1])]
    sigma = [draw(st.floats(1, 9)) for _ in range(bounds[-1])]
    return Game(teams, ranks, shares), mu, sigma, draw(st.sampled_from([0.1, 0.25, 0.5]))


@settings(max_examples=60, deadline=None)
@given(situations())
def test_teams_and_partial_play(situation: tuple[Game, list[float], list[float], float]) -> None:
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


@settings(max_examples=100, deadline=None)
@given(situations(ties=True), st.data())
def test_no_order_or_name_moves_anybody(
    situation: tuple[Game, list[float], list[float], float], data: st.DataObject
) -> None:
    game, mu, sigma, draw_probability = situation
    order = data.draw(st.permutations(range(len(game.teams))))
    named = np.array(data.draw(st.permutations(range(len(mu)))))
    shares = game.shares or ()
    other = Game(
        tuple(tuple(named[list(game.teams[at])].tolist()) for at in order),
        tuple(game.ranks[at] for at in order),
        tuple(shares[at] for at in order),
    )
    constants = TrueSkillSettings(draw_probability=draw_probability)
    played = np.zeros(len(mu))
    first = rate(
        games(len(mu), [game]), constants, TrueSkillTable(constants, np.array(mu), np.array(sigma), played)
    )
    renamed = np.argsort(named)
    start = TrueSkillTable(constants, np.array(mu)[renamed], np.array(sigma)[renamed], played)
    second = rate(games(len(mu), [other]), constants, start)
    assert second.mu[named] == pytest.approx(first.mu, abs=1e-9)
    assert second.sigma[named] == pytest.approx(first.sigma, abs=1e-9)
    assert np.isfinite(first.mu).all()
    assert (first.sigma <= np.hypot(sigma, constants.tau) + 1e-9).all()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 3), min_size=5, max_size=5), min_size=1, max_size=8),
    st.permutations(range(5)),
    st.sampled_from([0.0, 0.1, 0.9]),
)
def test_equal_records_in_the_same_games_share_a_rating_and_a_rank(
    ranks: list[list[int]], order: list[int], draw_probability: float
) -> None:
    """To the last bit, whatever the order: the first and the second always do as well as each other."""
    played = [
        Game(tuple((player,) for player in order), tuple([each[max(player, 1)] for player in order]))
        for each in ranks
    ]
    table = rate(games(5, played), TrueSkillSettings(draw_probability=draw_probability))
    assert table.mu[0] == table.mu[1]
    assert table.sigma[0] == table.sigma[1]
    assert table.rows[0].rating == table.rows[1].rating
    assert table.rows[0].rank == table.rows[1].rank
