"""Ratings across tables: the luck of a task cancels, and intervals hold."""

from __future__ import annotations

import math

import numpy as np
import pytest

from peerage.ratings.duplicate import TableSeats, fit
from peerage.ratings.table import POINTS


def boards(rng: np.random.Generator, strength: np.ndarray, series: int, luck: float) -> list[TableSeats]:
    """Series in which everybody sits at some table, the stronger of two in the first seat; `luck` is how much
    a task favours one of the seats."""
    played = []
    for at in range(series):
        favour = rng.normal(0, luck)
        seated = rng.permutation(len(strength)).reshape(-1, 2)
        for pair in seated:
            first, second = sorted(pair.tolist(), key=lambda player: -strength[player])
            chance = 1 / (1 + math.exp(strength[second] - strength[first] - favour))
            played.append(TableSeats(first, second, float(rng.random() < chance), at, at))
    return played


def test_two_tables_compare_two_teams() -> None:
    """Of five boards in which 0 and 3 can be told from 1 and 2, the first two won four."""
    rows = []
    for board in range(5):
        won = float(board < 4)
        rows += [TableSeats(0, 1, won, board, board), TableSeats(2, 3, 1 - won, board, board)]
    rows += [
        TableSeats(0, 1, 1.0, 9, 9),
        TableSeats(2, 3, 1.0, 9, 9),
    ]  # the same at both: luck, for all we know
    rating = fit(4, rows).rating - 1500
    assert rating[0] == pytest.approx(rating[3]) == pytest.approx(-rating[1]) == pytest.approx(-rating[2])
    # The top of 4 ln p + ln(1 - p) with p = 1/(1 + e^-4s), and of one tie each against the average.
    slope = [4 - 5 / (1 + math.exp(-4 * s)) + (0.5 - 1 / (1 + math.exp(-s))) for s in rating[:1] / POINTS]
    assert slope == pytest.approx([0], abs=1e-6)


def test_players_who_always_meet_each_other_are_not_compared() -> None:
    rng = np.random.default_rng(1)
    rows = []
    for board in range(60):
        rows += [TableSeats(*pair, float(rng.random() < 0.6), board, board) for pair in ((0, 1), (2, 3))]
    apart = fit(4, rows)
    assert not apart.connected
    assert not apart.above.any()
    rows += [TableSeats(0, 2, 1.0, 98, 98), TableSeats(3, 1, 0.0, 98, 98)]
    rows += [TableSeats(0, 3, 1.0, 99, 99), TableSeats(1, 2, 0.0, 99, 99)]
    assert fit(4, rows).connected


def test_luck_alone_orders_nobody_and_a_fit_without_rows_says_nothing() -> None:
    table = fit(4, [TableSeats(0, 1, 1.0, 0, 0), TableSeats(2, 3, 1.0, 0, 0)])
    assert table.rating.tolist() == [1500.0] * 4
    assert np.isnan(table.lower).all()
    assert not table.above.any()


def test_intervals_hold_whatever_the_luck() -> None:
    strength = np.linspace(-0.7, 0.7, 8)
    for luck in (0.0, 2.0):
        inside, middle = [], []
        for seed in range(60):
            table = fit(8, boards(np.random.default_rng([seed, int(luck)]), strength, 80, luck))
            truth = 1500 + strength * POINTS
            inside.append(((table.lower <= truth) & (truth <= table.upper)).mean())
            middle.append(table.rating)
        assert 0.92 <= np.mean(inside) <= 0.99
        assert np.mean(middle, axis=0) == pytest.approx(truth, abs=20)
