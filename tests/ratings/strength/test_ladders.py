"""Rankings without ties by columns: Plackett and Luce's formula, and its derivatives as differences."""

from __future__ import annotations

import numpy as np
import pytest

from peerage.ratings.arrays import Floats
from peerage.ratings.columns.history import GameColumns
from peerage.ratings.sequential.trueskill import Game, games
from peerage.ratings.strength import ladders as module
from peerage.ratings.strength.evidence import of_games
from peerage.ratings.strength.ladders import Ladders, ladders
from peerage.ratings.strength.likelihood import Counts, counted, paired

PLAYERS = 9
STEP = 1e-5


def played(seed: int = 3, count: int = 40) -> tuple[GameColumns, list[tuple[int, ...]]]:
    """Games of two to nine seats without ties, and who stood where; some twice."""
    rng = np.random.default_rng(seed)
    order = [
        tuple(rng.permutation(PLAYERS)[: 2 + number % (PLAYERS - 1)].tolist()) for number in range(count)
    ]
    order += order[:5]
    listed = [
        Game(tuple([(player,) for player in one]), tuple(np.arange(len(one), dtype=float))) for one in order
    ]
    return games(PLAYERS, listed), order


def by_formula(order: list[tuple[int, ...]], strength: Floats) -> float:
    parts = [strength[list(one)] for one in order]
    return float(sum(own[at] - np.log(np.exp(own[at:]).sum()) for own in parts for at in range(len(own))))


def counts() -> tuple[Counts, list[tuple[int, ...]]]:
    rankings, order = played()
    evidence = of_games(rankings)
    found = counted(paired(evidence), evidence.rankings)
    # Those of two seats are matches of two.
    return found, [one for one in order if len(one) > 2]


@pytest.fixture(params=[module._AT_ONCE, 40], ids=["all at once", "in parts"])
def at_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_AT_ONCE", request.param)


@pytest.mark.usefixtures("at_once")
def test_the_likelihood_is_plackett_and_luces_and_the_rest_its_derivatives() -> None:
    rankings, order = played()
    (*strict,), left = ladders(rankings, np.arange(PLAYERS), 9)
    assert len(left) == 0
    assert sorted(len(ladder.player) for ladder in strict) == list(range(2, PLAYERS + 1))
    strength = np.random.default_rng(5).normal(0, 1.5, (PLAYERS, 3))

    def value(at: Floats) -> Floats:
        linear = sum(ladder.added(PLAYERS) for ladder in strict)
        return np.asarray(linear @ at - sum(ladder.log_totals(at) for ladder in strict))

    def slope(at: Floats) -> Floats:
        linear = np.asarray(sum(ladder.added(PLAYERS) for ladder in strict))
        return np.asarray(linear[:, None] - sum(ladder.shares(at) for ladder in strict))

    assert value(strength) == pytest.approx([by_formula(order, column) for column in strength.T])
    eye = np.eye(PLAYERS)
    for player in range(PLAYERS):
        moved = STEP * eye[:, [player]]
        rise = (value(strength + moved) - value(strength - moved)) / (2 * STEP)
        assert slope(strength)[player] == pytest.approx(rise, abs=1e-6)
    for chain in range(3):
        bend = np.stack(
            [
                (slope(strength - STEP * eye[:, [player]]) - slope(strength + STEP * eye[:, [player]]))
                for player in range(PLAYERS)
            ]
        )[:, :, chain] / (2 * STEP)
        information = np.asarray(sum(ladder.information(strength[:, chain]) for ladder in strict))
        assert information == pytest.approx(bend, abs=1e-5)
        known = np.asarray(sum(ladder.known(strength) for ladder in strict))
        assert known[:, chain] == pytest.approx(np.diag(bend), abs=1e-5)


@pytest.mark.usefixtures("at_once")
def test_one_player_moves_alone() -> None:
    rankings, _ = played()
    strict, _ = ladders(rankings, np.arange(PLAYERS), 9)
    rng = np.random.default_rng(8)
    strength, there = rng.normal(0, 1, (PLAYERS, 4)), rng.normal(0, 3, (PLAYERS, 4))
    found = np.asarray(sum(ladder.moved(strength, there) for ladder in strict))
    before = np.asarray(sum(ladder.log_totals(strength) for ladder in strict))
    for player in range(PLAYERS):
        alone = strength.copy()
        alone[player] = there[player]
        after = np.asarray(sum(ladder.log_totals(alone) for ladder in strict))
        assert found[player] == pytest.approx(after - before, abs=1e-9)


def test_counts_of_games_are_those_of_the_formula() -> None:
    found, order = counts()
    strength = np.random.default_rng(2).normal(0, 1, (PLAYERS, 2))
    assert len(found.stages) == 0
    (a, b), base = found.log_likelihood(strength, np.full(2, -30.0)), found.scaled(0.5, 1.0)
    pairs = [one for one in played()[1] if len(one) == 2]
    due = [by_formula([*order, *pairs], column) for column in strength.T]
    assert a - b == pytest.approx(due[0] - due[1])
    half = base.log_likelihood(strength, np.full(2, -30.0))
    assert half == pytest.approx(np.array([a, b]) / 2)


def test_ties_seats_of_one_player_and_teams_are_left() -> None:
    listed = [
        Game(((0,), (1,), (2,)), (0.0, 1.0, 1.0)),
        Game(((0,), (1,), (0,)), (0.0, 1.0, 2.0)),
        Game(((2,), (1,), (0,)), (0.0, 1.0, 2.0)),
    ]
    strict, left = ladders(games(3, listed), np.array([2, 1, 0]), 9)
    assert left.tolist() == [0, 1]
    (only,) = strict
    assert isinstance(only, Ladders)
    assert only.player[:, 0].tolist() == [0, 1, 2]
    teams = games(3, [Game(((0, 1), (2,)), (0.0, 1.0))])
    assert ladders(teams, np.arange(3), 9)[0] == ()
