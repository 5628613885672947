"""Intervals where most games are drawn: residuals are few, and draws alone leave none."""

from __future__ import annotations

import numpy as np
import pytest
from bench.pairs import Pair, fit
from bench.ratings_coverage import covered, equals_who_draw

from peerage.ratings.columns.history import duels
from peerage.ratings.fits import judges
from peerage.ratings.fits.bradley_terry import fit_duels
from peerage.ratings.fits.regression import fit_clustered


def test_draws_alone_leave_three_games_in_n_open() -> None:
    """Of 32 games of which none was decided 3/32 may be: ±19, where draws' own residuals said ±11."""
    table = fit([Pair(0, 1, 0, 0, 32)], players=2)
    assert (table.upper - 1500).tolist() == pytest.approx([18.4, 18.4], abs=0.1)
    assert table.lower + table.upper == pytest.approx([3000, 3000])


def test_every_way_of_fitting_draws_leaves_as_much_open() -> None:
    first, second = np.zeros(32, np.int64), np.ones(32, np.int64)
    drawn = duels(2, first, second, np.full(32, 0.5))
    alone = np.arange(32)
    tables = (
        fit_clustered(drawn, alone),
        fit_duels(duels(2, first, second, np.full(32, 0.5), np.full(32, 7.0))),
    )
    for table in tables:
        assert (table.upper - 1500).tolist() == pytest.approx([18.4, 18.4], rel=0.05)
    by_judge = judges.fit(drawn, ["j"] * 32, cluster=alone)
    assert (by_judge.bounds[1] - 1500).tolist() == pytest.approx([18.4, 18.4], rel=0.05)


def test_decided_games_say_for_themselves_how_much_is_open() -> None:
    """The floor is no more than what three decided games leave open."""
    assert fit([Pair(0, 1, 2, 2, 28)], 2).error[0] > 1.2 * fit([Pair(0, 1, 0, 0, 32)], 2).error[0]
    assert fit([Pair(0, 1, 1, 0, 31)], 2).error == pytest.approx(
        fit([Pair(0, 1, 0, 0, 32)], 2).error, rel=0.1
    )


@pytest.mark.parametrize("matches", [20, 200])
@pytest.mark.parametrize("draws", [0.7, 0.95])
def test_intervals_of_equals_who_draw_hold(matches: int, draws: float) -> None:
    held = [
        covered(fit_duels(equals_who_draw(np.random.default_rng([3, seed]), 4, matches, draws)), np.zeros(4))
        for seed in range(150)
    ]
    assert np.mean(held) > 0.92
