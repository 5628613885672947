"""Rows merged before a fit give what the rows themselves give."""

from __future__ import annotations

import numpy as np
import pytest

from peerage.ratings.columns.history import Duels, duels
from peerage.ratings.columns.merging import Merged, coded, merged, numbered
from peerage.ratings.columns.tally import tally
from peerage.ratings.fits.bradley_terry import BradleyTerry
from peerage.ratings.fits.clusters import Curves, _at_most, _leverage, _slopes, _squared
from peerage.ratings.fits.regression import distinct, fit_covariates, fit_merged

PLAYERS = 7


def votes(seed: int, *, shuffled: bool) -> tuple[Duels, np.ndarray, np.ndarray]:
    """Votes of five on each of 120 matches, with two kinds and an amount, and the match of each."""
    rng = np.random.default_rng(seed)
    match = np.repeat(np.arange(120), 5)
    first = rng.integers(0, PLAYERS, 120)
    second = (first + rng.integers(1, PLAYERS, 120)) % PLAYERS
    kinds = rng.integers(-1, 2, (600, 2))
    amount = rng.normal(size=120)[match]
    score = rng.integers(0, 3, 600) / 2
    order = rng.permutation(600) if shuffled else np.arange(600)
    history = duels(
        PLAYERS, first[match][order], second[match][order], score[order], rng.uniform(0.1, 2, 600)
    )
    return history, np.column_stack([kinds, amount])[order], match[order]


def alike(one: BradleyTerry, other: BradleyTerry) -> bool:
    assert one.rating == pytest.approx(other.rating, abs=1e-6)
    assert one.covariance == pytest.approx(other.covariance, rel=1e-9, abs=1e-6)
    assert one.freedom == pytest.approx(other.freedom, rel=1e-9)
    assert [effect.points for effect in one.effects] == pytest.approx([e.points for e in other.effects])
    return True


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("two", [False, True])
@pytest.mark.parametrize("amounts", [False, True])
def test_a_fit_of_merged_rows_is_that_of_the_rows(shuffled: bool, two: bool, amounts: bool) -> None:
    history, z, match = votes(1, shuffled=shuffled)
    z[:, 2] = z[:, 2] if amounts else np.sign(z[:, 2])
    labels = [match, match % 23] if two else [match]
    as_they_are = Merged(history, z, tuple(labels), np.arange(len(history)))
    short = merged(history, list(z.T), labels)
    assert len(short.history) < len(history) or shuffled
    rows, _ = short.whatever_label()
    assert len(rows) < len(short.history) or amounts
    slow = fit_merged(tally(history), as_they_are, ["a", "b", "c"])
    assert alike(slow, fit_merged(tally(history), short, ["a", "b", "c"]))
    assert alike(slow, fit_covariates(history, z, ["a", "b", "c"], clusters=labels))


def test_merged_rows_agree_in_nothing_together_and_keep_their_sums() -> None:
    history, z, match = votes(2, shuffled=True)
    kinds = z[:, :2].astype(np.int8)
    short = merged(history, [kinds[:, 0], kinds[:, 1]], [match])
    rows = np.column_stack([short.history.first, short.history.second, short.columns, *short.labels])
    assert len(np.unique(rows, axis=0)) == len(rows)
    assert short.history.weight.sum() == pytest.approx(history.weight.sum())
    points = short.history.weight * short.history.score
    assert points.sum() == pytest.approx((history.weight * history.score).sum())
    assert (rows[short.of][:, 2:4] == kinds).all()
    assert (short.labels[0][short.of] == match).all()


def test_amounts_alone_are_left_as_they_are() -> None:
    history, z, _ = votes(3, shuffled=True)
    short = merged(history, list(z.T), [])
    assert short.history is history
    assert (short.columns == z).all()


def test_labels_are_numbered_in_their_order() -> None:
    for labels in (["b", "a", "b"], np.array(["b", "a", "b"]), [7, 3, 7], np.array([7.5, 3.5, 7.5])):
        found, place = coded(labels)
        assert found == sorted(set(np.asarray(labels).tolist()))
        assert place.tolist() == [1, 0, 1]
    assert coded([3, 3, 9])[1].tolist() == [0, 0, 1]
    assert coded([])[0] == []


@pytest.mark.parametrize("one_pair", [True, False])
def test_clusters_of_one_pair_sum_as_any_others(one_pair: bool) -> None:
    history, z, match = votes(4, shuffled=False)
    if not one_pair:
        match = match // 3
    rng = np.random.default_rng(5)
    dd = rng.uniform(0, 0.25, len(z))
    de = dd[:, None] * z
    d = rng.normal(size=len(z))
    rows = Curves(d, d[:, None] * z, dd, de, (de, z))
    wanted = rng.random(match.max() + 1) < 0.8
    slope = _slopes(history.first, history.second, rows, match, match.max() + 1, PLAYERS)[wanted]
    found = _squared(history.first, history.second, rows, match, wanted, PLAYERS)
    assert found == pytest.approx(slope.T @ slope)
    inverse = np.linalg.inv(np.eye(PLAYERS + 3) + np.full((PLAYERS + 3,) * 2, 0.1))
    bound = _at_most(history.first, history.second, rows, inverse, PLAYERS)
    assert (bound >= _leverage(history.first, history.second, rows, inverse, PLAYERS)).all()


def test_columns_that_players_or_earlier_ones_explain_are_no_columns_of_their_own() -> None:
    """The players are in two groups that never meet, so their strengths alone are known less than in full."""
    rng = np.random.default_rng(6)
    group = rng.integers(0, 2, 800) * 4
    first, gap = group + rng.integers(0, 4, 800), rng.integers(1, 4, 800)
    second = group + (first - group + gap) % 4
    history = duels(8, first, second, rng.integers(0, 3, 800) / 2)
    size = rng.normal(size=8)
    own, other = rng.normal(size=(2, 800))
    between = size[first] - size[second]
    columns = [own, between, own + 0.01 * other, other + 1.5 * between]
    short = merged(history, [np.round(column, 3) for column in columns], [np.arange(800)])
    assert distinct(short, 0.05).tolist() == [True, False, False, True]


@pytest.mark.parametrize("far", [3, 10**7])
def test_whole_numbers_are_numbered_whether_they_lie_close_or_far_apart(far: int) -> None:
    found, place = numbered(np.array([far, 1, far, 0]))
    assert found.tolist() == [0, 1, far]
    assert place.tolist() == [2, 1, 2, 0]
    assert place.dtype == np.int64
