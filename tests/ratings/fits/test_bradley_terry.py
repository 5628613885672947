"""Bradley-Terry from counts: against closed forms, a plain fixed point, and at the edges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from bench.pairs import Pair, fit

from peerage.ratings.columns.history import duels
from peerage.ratings.columns.tally import tally
from peerage.ratings.fits import bradley_terry
from peerage.ratings.fits.bradley_terry import _meat, fit_tally, solve
from peerage.ratings.table import POINTS

RING = [
    Pair(0, 1, 6, 2, 2),
    Pair(1, 2, 5, 4, 1),
    Pair(0, 2, 7, 3, 0),
    Pair(2, 3, 3, 3, 4),
    Pair(0, 3, 5, 1, 1),
]


def climbed(pairs: list[Pair], players: int) -> list[float]:
    """The same likelihood, climbed by Zermelo's fixed point (1929): slow and obviously right."""
    won = [0.0] * players
    for p in pairs:
        won[p.a] += p.wins_a + p.ties / 2
        won[p.b] += p.wins_b + p.ties / 2
    strength = [1.0] * players
    for _ in range(5000):
        share = [0.0] * players
        for p in pairs:
            met = (p.wins_a + p.wins_b + p.ties) / (strength[p.a] + strength[p.b])
            share[p.a] += met
            share[p.b] += met
        strength = [w / s for w, s in zip(won, share, strict=True)]
        scale = math.exp(sum(map(math.log, strength)) / players)
        strength = [s / scale for s in strength]
    return [1500 + 400 * math.log10(s) for s in strength]


def test_ratings_are_the_maximum_of_the_likelihood() -> None:
    table = fit(RING, 4)
    assert table.rating == pytest.approx(climbed(RING, 4), abs=1e-6)
    assert table.rating.mean() == pytest.approx(1500)
    assert (table.connected, table.prior_games) == (True, 0.0)


def test_two_players_by_hand() -> None:
    table = fit([Pair(0, 1, 30, 10)], 2)
    gap = POINTS * math.log(3)
    assert table.rating == pytest.approx([1500 + gap / 2, 1500 - gap / 2])
    # the gap's variance is 1 / (n p q); the leverage, 1/n of each game, widens it by 1 + 1/n
    error = POINTS * math.sqrt(1 / (40 * 0.75 * 0.25) * 41 / 40) / 2
    assert table.error == pytest.approx([error, error])
    row = table.rows[0]
    assert (row.rank, row.games) == (1, 40)
    assert (row.lower + row.upper) / 2 == pytest.approx(row.rating)


def test_ties_pull_together_with_certainty() -> None:
    decided, tied = fit([Pair(0, 1, 20, 20)], 2), fit([Pair(0, 1, 1, 1, 38)], 2)
    assert tied.rating == pytest.approx(decided.rating)
    assert tied.error[0] < decided.error[0] / 3


def test_order_within_and_between_pairs_does_not_matter() -> None:
    turned = [Pair(p.b, p.a, p.wins_b, p.wins_a, p.ties) for p in reversed(RING)]
    halves = [Pair(p.a, p.b, p.wins_a / 2, p.wins_b / 2, p.ties / 2) for p in RING for _ in (1, 2)]
    assert fit(turned, 4).rating == pytest.approx(fit(RING, 4).rating)
    assert fit(halves, 4).rows[1].upper == pytest.approx(fit(RING, 4).rows[1].upper)


def test_no_players_one_player_and_no_games() -> None:
    assert fit([], 0).rows == ()
    alone = fit([], 1).rows[0]
    assert (alone.rating, alone.lower, alone.upper, alone.rank) == (1500, 1500, 1500, 1)
    none = fit([], 3)
    assert not none.connected
    assert [row.rating for row in none.rows] == [1500] * 3
    assert all(row.rank == 1 and row.upper > 1900 for row in none.rows)


def test_one_who_always_won_is_said_to_be_incomparable_and_held_by_the_stated_prior(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = fit([Pair(0, 1, 9, 0), Pair(1, 2, 4, 4)], 3)
    assert not table.connected
    assert table.components == ((0,), (1, 2))
    assert table.prior_games == 1.0
    assert 1700 < table.rating[0] < 2100
    assert table.rows[0].upper - table.rows[0].lower > 500
    monkeypatch.setattr(bradley_terry, "PRIOR_GAMES", 4.0)
    stronger = fit([Pair(0, 1, 9, 0), Pair(1, 2, 4, 4)], 3)
    assert stronger.rating[0] < table.rating[0]


def test_the_prior_is_only_used_where_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = fit(RING, 4).rating
    monkeypatch.setattr(bradley_terry, "PRIOR_GAMES", 50.0)
    assert fit(RING, 4).rating == pytest.approx(usual, abs=1e-9)
    apart = fit([Pair(0, 1, 3, 1), Pair(2, 3, 1, 3)], 4)
    assert apart.components == ((0, 1), (2, 3))
    assert apart.rating[0] - apart.rating[1] == pytest.approx(apart.rating[3] - apart.rating[2])


def test_a_million_games_and_one_upset_still_converge() -> None:
    assert fit([Pair(0, 1, 1e6, 1)], 2).rating == pytest.approx([2700, 300], abs=1e-6)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Pair(1, 1, 1, 0), "meets itself"),
        (lambda: Pair(0, 1, math.nan, 0), "wins_a of players 0 and 1 is nan"),
        (lambda: Pair(0, 1, 1, 0, -2), "ties of players 0 and 1 is -2"),
        (lambda: fit([Pair(0, 5, 1, 0)], 3), "players 0 and 5: there are 3"),
    ],
)
def test_bad_input_is_named(make: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()  # type: ignore[operator]


def test_a_lone_tie_is_no_certainty() -> None:
    row = fit([Pair(0, 1, 0, 0, 1)], 2).rows[0]
    assert row.rating == 1500
    assert row.upper - row.lower > 500


def test_where_the_tie_parameter_is_free_ties_alone_connect_nobody() -> None:
    pairs = [Pair(0, 1, 1, 0, 1)]
    assert fit(pairs, 2).connected
    table = fit(pairs, 2, ties="davidson")
    assert not table.connected
    assert np.isfinite(table.rating).all()


def test_many_players_are_rated_as_few_are() -> None:
    """Six groups of a hundred players, joined by a few: as by one matrix, and counted alike."""
    rng = np.random.default_rng(8)
    first = rng.integers(0, 600, 9000)
    second = (first // 100) * 100 + (first % 100 + rng.integers(1, 100, 9000)) % 100
    second[:40] = (first[:40] + 100) % 600
    history = duels(600, first, second, rng.choice([0.0, 0.5, 1.0], 9000), rng.choice([1.0, 0.5], 9000))
    sparse = tally(history)
    assert (sparse.weight.sum(), sparse.count.sum()) == (history.weight.sum(), 9000)
    table, solved = fit_tally(sparse), solve(sparse, "half")
    assert solved.inverse == pytest.approx(np.linalg.pinv(solved.information), abs=1e-8)
    covariance = solved.inverse @ _meat(solved) @ solved.inverse * POINTS**2
    assert np.sqrt(np.diag(covariance)) == pytest.approx(table.error, rel=1e-6)
