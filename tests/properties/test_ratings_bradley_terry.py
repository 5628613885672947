"""Laws of Bradley-Terry, and other people's fits of the same data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from peerage.ratings.columns.history import Duels, duels
from peerage.ratings.fits.bradley_terry import fit_duels
from peerage.ratings.fits.regression import fit_clustered, fit_covariates
from peerage.ratings.fits.tie_models import Ties
from peerage.ratings.table import POINTS


@st.composite
def histories(draw: st.DrawFn) -> Duels:
    n = draw(st.integers(2, 6))
    rows = draw(st.integers(0, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    first = rng.integers(0, n, rows)
    weight = rng.choice([1.0, 1.0, 0.5, 3.0], rows) if draw(st.booleans()) else None
    return duels(n, first, (first + rng.integers(1, n, rows)) % n, rng.choice([0, 0.5, 1], rows), weight)


@settings(max_examples=60, deadline=None)
@given(histories(), st.sampled_from(["half", "davidson"]))
def test_any_history_gives_a_finite_table_and_its_slope_is_level(history: Duels, ties: Ties) -> None:
    table = fit_duels(history, ties=ties)
    assert np.isfinite(table.rating).all()
    assert np.isfinite(table.covariance).all()
    assert table.rating.mean() == pytest.approx(1500)
    assert (table.prior_games > 0) == (len(table.components) > 1)
    for row in table.rows:
        assert row.lower <= row.rating <= row.upper
        assert 1 <= row.rank <= history.players
    if ties == "half":
        strength = (table.rating - 1500) / POINTS
        gap = strength[history.first] - strength[history.second]
        left = history.weight * (history.score - 1 / (1 + np.exp(-gap)))
        slope = np.bincount(history.first, left, history.players).astype(float)
        slope -= np.bincount(history.second, left, history.players)
        if table.connected:
            assert slope == pytest.approx(np.zeros(history.players), abs=1e-6)


@settings(max_examples=30, deadline=None)
@given(histories(), st.randoms(use_true_random=False))
def test_names_and_order_of_rows_do_not_matter(history: Duels, random: object) -> None:
    rng = np.random.default_rng(1)
    name, row = rng.permutation(history.players), rng.permutation(len(history))
    other = duels(
        history.players,
        name[history.second][row],
        name[history.first][row],
        1 - history.score[row],
        history.weight[row],
    )
    assert fit_duels(other).rating[name] == pytest.approx(fit_duels(history).rating, abs=1e-5)


def big(seed: int = 0, rows: int = 3000) -> Duels:
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 1, 8)
    first = rng.integers(0, 8, rows)
    second = (first + rng.integers(1, 8, rows)) % 8
    won = rng.random(rows) < 1 / (1 + np.exp(truth[second] - truth[first]))
    return duels(8, first, second, np.where(rng.random(rows) < 0.15, 0.5, won))


def test_evalica_and_choix_agree() -> None:
    history = big()
    import evalica

    words = {1.0: evalica.Winner.X, 0.0: evalica.Winner.Y, 0.5: evalica.Winner.Draw}
    theirs = evalica.bradley_terry(
        history.first.tolist(),
        history.second.tolist(),
        [words[s] for s in history.score.tolist()],
        tolerance=1e-14,
        limit=100_000,
    ).scores
    theirs = 400 * np.log10(theirs.sort_index().to_numpy())
    ours = fit_duels(history).rating
    assert ours - 1500 == pytest.approx(theirs - theirs.mean(), abs=1e-6)
    import choix

    decided = history.score != 0.5
    a, b, s = history.first[decided], history.second[decided], history.score[decided]
    pairs = [(int(x), int(y)) if z else (int(y), int(x)) for x, y, z in zip(a, b, s, strict=True)]
    theirs = choix.opt_pairwise(8, pairs, tol=1e-12) * POINTS
    ours = fit_duels(duels(8, a, b, s)).rating
    assert ours - 1500 == pytest.approx(theirs - theirs.mean(), abs=1e-3)


def test_a_fit_in_forty_digits_agrees() -> None:
    import mpmath

    history = big(3, 400)
    start = (fit_duels(history).rating - 1500) / POINTS
    wins = np.zeros((8, 8))
    np.add.at(wins, (history.first, history.second), history.score)
    np.add.at(wins, (history.second, history.first), 1 - history.score)
    with mpmath.workdps(40):
        s = [mpmath.mpf(float(x)) for x in start]
        for _ in range(3):
            slope, curve = mpmath.matrix(8, 1), mpmath.matrix(8, 8)
            for i in range(8):
                for j in range(8):
                    if i != j:
                        p = 1 / (1 + mpmath.exp(s[j] - s[i]))
                        met = wins[i, j] + wins[j, i]
                        slope[i] += wins[i, j] - met * p
                        curve[i, i] += met * p * (1 - p)
                        curve[i, j] -= met * p * (1 - p)
            step = mpmath.lu_solve(curve + mpmath.ones(8), slope)
            s = [a + b for a, b in zip(s, step, strict=True)]
        exact = [float((x - sum(s) / 8) * 400 / mpmath.log(10)) for x in s]
    assert fit_duels(history).rating - 1500 == pytest.approx(exact, abs=1e-6)


def test_davidsons_ties_are_at_the_top_of_their_likelihood() -> None:
    from scipy import optimize

    history = big(5, 800)

    def loss(point: np.ndarray) -> float:
        gap = point[history.first] - point[history.second]
        win, loss_, tie = np.exp(gap / 2), np.exp(-gap / 2), np.exp(point[8]) * np.ones(len(gap))
        total = win + loss_ + tie
        win, loss_, tie = win / total, loss_ / total, tie / total
        chosen = np.where(history.score == 1, win, np.where(history.score == 0, loss_, tie))
        return -float(np.log(np.maximum(chosen, 1e-300)).sum()) + float(point[:8].mean() ** 2)

    top = optimize.minimize(loss, np.append(np.zeros(8), 0.3), options={"gtol": 1e-7})
    table = fit_duels(history, ties="davidson")
    assert table.rating - 1500 == pytest.approx((top.x[:8] - top.x[:8].mean()) * POINTS, abs=0.02)
    assert table.tie == pytest.approx(np.exp(top.x[8]), rel=1e-4)


def test_no_ties_is_the_plain_model_whichever_is_asked() -> None:
    history = big()
    decided = duels(8, history.first, history.second, np.round(history.score + 0.1))
    plain = fit_duels(decided)
    table = fit_duels(decided, ties="davidson")
    assert table.rating == pytest.approx(plain.rating)
    assert np.isnan(table.tie)


def test_a_covariate_takes_up_what_it_explains() -> None:
    rng = np.random.default_rng(4)
    history = big(4, 6000)
    longer = rng.normal(size=6000) + 0.8 * (history.first == 2) - 0.8 * (history.second == 2)
    chance = 1 / (1 + np.exp(-longer))
    swayed = duels(
        8,
        history.first,
        history.second,
        np.where(rng.random(6000) < 0.4, rng.random(6000) < chance, history.score),
    )
    table = fit_covariates(swayed, longer, ["length"])
    (effect,) = table.effects
    assert effect.lower > 0
    assert table.rating[2] < fit_duels(swayed).rating[2] - 20
    shuffled = fit_covariates(swayed, rng.permutation(longer), ["noise"])
    assert shuffled.effects[0].lower < 0 < shuffled.effects[0].upper
    none = fit_covariates(swayed, np.empty((6000, 0)), [])
    assert none.rating == pytest.approx(fit_duels(swayed).rating, abs=1e-6)
    assert none.error == pytest.approx(fit_duels(swayed).error, rel=0.01)


def test_covariates_that_explain_nothing_of_their_own_are_refused() -> None:
    history = big(4, 500)
    with pytest.raises(ValueError, match="twin cannot be told apart"):
        fit_covariates(history, np.column_stack([np.arange(500.0), 2 * np.arange(500.0)]), ["one", "twin"])
    with pytest.raises(ValueError, match="row 3: one is nan"):
        fit_covariates(history, np.where(np.arange(500) == 3, np.nan, 1.0), ["one"])
    with pytest.raises(ValueError, match="1 covariates and 2 names"):
        fit_covariates(history, np.ones(500), ["one", "two"])


def test_a_row_a_cluster_is_no_clustering_and_one_repeated_is_seen() -> None:
    history = big(1, 800)
    single = fit_clustered(history, np.arange(800))
    assert single.rating == pytest.approx(fit_duels(history).rating)
    assert single.error == pytest.approx(fit_duels(history).error, rel=0.02)
    tenfold = duels(8, *(np.repeat(column, 10) for column in (history.first, history.second, history.score)))
    seen = fit_clustered(tenfold, np.repeat(np.arange(800), 10))
    assert seen.error == pytest.approx(single.error, rel=1e-6)
    assert fit_duels(tenfold).error.mean() < single.error.mean() / 3
    by_davidson = fit_clustered(history, np.arange(800), ties="davidson")
    assert by_davidson.error == pytest.approx(fit_duels(history, ties="davidson").error, rel=0.02)
    with pytest.raises(ValueError, match="1 cluster labels and 800 rows"):
        fit_clustered(history, [0])
