"""Elo in one order and over many."""

from __future__ import annotations

import numpy as np
import pytest

from peerage.ratings import orders as ours
from peerage.ratings.compiled import installed
from peerage.ratings.elo import DuelResult, EloSettings, fold
from peerage.ratings.history import duels
from peerage.ratings.orders import elo


def history(seed: int = 0):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 5, 300)
    return duels(5, first, (first + rng.integers(1, 5, 300)) % 5, rng.choice([0, 0.5, 1], 300))


def test_in_order_it_is_the_arenas_raw_elo() -> None:
    played = history()
    results = [
        DuelResult(int(a), int(b), float(s), None, None)
        for a, b, s in zip(played.first, played.second, played.score, strict=True)
    ]
    same = fold(5, results, EloSettings(propagation_width=None))
    assert elo(played, orders=0).in_order == pytest.approx(same.raw, abs=1e-9)


def test_the_mean_over_orders_does_not_depend_on_the_order_given() -> None:
    played = history()
    turned = duels(5, played.first[::-1], played.second[::-1], played.score[::-1])
    assert np.abs(elo(played, orders=0).in_order - elo(turned, orders=0).in_order).max() > 10
    many, other = elo(played, orders=3000), elo(turned, orders=3000)
    assert many.rating == pytest.approx(other.rating, abs=2.5)
    assert many.spread.min() > 5


def test_intervals_hold_where_ratings_would_stand() -> None:
    """The spread over orders of one history held but a third of them."""
    rng = np.random.default_rng(2)
    strength = np.linspace(-150, 150, 6)
    first = np.tile(np.arange(6), 100)
    second = (first + rng.integers(1, 6, 600)) % 6
    chance = 1 / (1 + 10 ** ((strength[second] - strength[first]) / 400))
    tables = [elo(duels(6, first, second, rng.random(600) < chance), orders=20) for _ in range(60)]
    for rows in (lambda table: table.rows, lambda table: table.rows_in_order):
        mean = np.mean([[row.rating for row in rows(table)] for table in tables], axis=0)
        held = [row.lower < mean[row.player] < row.upper for table in tables for row in rows(table)]
        assert 0.9 < np.mean(held) < 0.99


def test_rows_leaders_and_seeds() -> None:
    table = elo(history(), orders=50, seed=3)
    assert table.rating.tolist() == elo(history(), orders=50, seed=3).rating.tolist()
    assert sum(table.leaders.values()) == pytest.approx(1)
    for row in table.rows:
        assert row.lower <= row.rating <= row.upper
        assert row.rank_range[0] <= row.rank <= row.rank_range[1]
    assert sum(row.games for row in table.rows) == 600


def test_a_weight_scales_k_and_zero_is_nothing() -> None:
    whole = elo(duels(2, [0], [1], [1]), k_factor=8, orders=0).in_order
    assert elo(duels(2, [0], [1], [1], [0.5]), orders=0).in_order == pytest.approx(whole)
    assert elo(duels(2, [0], [1], [1], [0]), orders=2).rating.tolist() == [1500, 1500]


@pytest.mark.skipif(not installed(), reason="Numba is not installed")
def test_numba_gives_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = elo(history(), orders=3).draws
    monkeypatch.setattr(ours, "_LONG", 1)
    assert elo(history(), orders=3).draws.tolist() == plain.tolist()


def test_nothing_and_nonsense() -> None:
    assert elo(duels(0, [], [], []), orders=0).rows == ()
    assert [row.rating for row in elo(duels(2, [], [], [])).rows] == [1500, 1500]
    with pytest.raises(ValueError, match="k_factor is -1"):
        elo(duels(2, [], [], []), k_factor=-1)
    with pytest.raises(ValueError, match="orders is -1"):
        elo(duels(2, [], [], []), orders=-1)
