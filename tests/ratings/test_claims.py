"""Claims at every look: the boundary against its derivation, and against looking all the time."""

from __future__ import annotations

import math

import numpy as np
import pytest

from peerage.ratings.bradley_terry import Pair, fit
from peerage.ratings.claims import PRECISIONS, gap_at_least, gap_needed, told_apart
from peerage.ratings.table import POINTS


def independent(matches: float, players: int = 2) -> np.ndarray:
    """The covariance, in points, of strengths that rest on so many matches each, of even chances."""
    return np.eye(players) * POINTS**2 / (matches / 4)


def test_of_two_players_it_is_the_boundary_of_robbins() -> None:
    for matches in (10, 100, 1000):
        v = 2 / (matches / 4)
        boundaries = [
            math.sqrt(v * (1 + rho * v) * math.log((1 + 1 / (rho * v)) / 0.0125**2))
            for rho in (0.25, 1, 4, 16)
        ]
        assert gap_needed(independent(matches))[0, 1] / POINTS == pytest.approx(min(boundaries))


def test_a_gap_that_is_just_enough_brings_the_mixture_to_its_odds() -> None:
    """The mean of the likelihood ratio over strengths drawn at random, for estimates that err as far as the
    gap needed and no farther."""
    rng, n = np.random.default_rng(5), 3
    information = np.array([[30.0, -20.0, -10.0], [-20.0, 26.0, -6.0], [-10.0, -6.0, 16.0]])
    covariance = np.linalg.pinv(information)
    contrast = np.array([1.0, 0.0, -1.0])
    needed = gap_needed(covariance * POINTS**2)[0, 2] / POINTS
    lamb = PRECISIONS[2]  # the tightest here
    # Of all estimates with this gap the one that the mixture makes least of:
    inner = information @ np.linalg.pinv(information + lamb * (np.eye(n) - 1 / n)) @ information
    off = np.linalg.pinv(inner) @ contrast
    off *= needed / (contrast @ off)
    assert contrast @ off == pytest.approx(needed)
    theta = rng.normal(0, 1 / math.sqrt(lamb), (400_000, n))
    theta -= theta.mean(axis=1, keepdims=True)
    score = information @ off
    values = np.exp(theta @ score - np.einsum("ij,jk,ik->i", theta, information, theta) / 2)
    assert values.mean() == pytest.approx(4 / 0.05, rel=0.1)


def test_a_table_of_many_needs_more_and_more_matches_need_less() -> None:
    needed = [gap_needed(independent(100, players))[0, 1] for players in (2, 3, 8, 40)]
    assert needed == sorted(needed)
    needed = [gap_needed(independent(matches))[0, 1] for matches in (10, 100, 1000, 10_000)]
    assert needed == sorted(needed, reverse=True)
    assert gap_needed(independent(100))[0, 1] > 1.96 * 2**0.5 * POINTS / 5, "more than at one look"
    assert np.isinf(np.diag(gap_needed(independent(100))).max()), "nobody is above itself"


def test_few_clusters_need_more_and_too_few_claim_nothing() -> None:
    covariance = independent(100)
    needed = [gap_needed(covariance, np.full((2, 2), float(freedom)))[0, 1] for freedom in (12, 40, 1e9)]
    assert needed == sorted(needed, reverse=True)
    assert needed[-1] == pytest.approx(gap_needed(covariance)[0, 1], rel=1e-6)
    for freedom in (-1.0, 0.0, 0.9):
        assert np.isinf(gap_needed(covariance, np.full((2, 2), freedom))).all()


def test_points_of_another_scale_make_the_same_claims() -> None:
    table = fit([Pair(0, 1, 60, 20), Pair(1, 2, 55, 45), Pair(0, 2, 70, 30)], players=3)
    above = told_apart(table.rating, table.covariance)
    assert above.any()
    assert not (above | above.T).all()
    assert (told_apart(7 * table.rating, 49 * table.covariance, unit=7 * POINTS) == above).all()


def test_what_a_gap_needs_at_least_is_near_to_what_it_needs() -> None:
    rng = np.random.default_rng(11)
    for players in (2, 3, 10, 40):
        for spread in (0.05, 0.5):
            root = rng.normal(0, spread, (3, players, 6 * players))
            covariance = root @ root.transpose(0, 2, 1) / players * POINTS**2
            needed, least = gap_needed(covariance), gap_at_least(covariance)
            assert (least <= needed).all()
            apart = np.isfinite(needed)
            assert (least[apart] > 0.8 * needed[apart]).all()
    assert np.isinf(gap_at_least(np.ones((1, 1)))).all()
    assert gap_at_least(np.zeros((0, 0))).shape == (0, 0)


def test_where_nothing_is_known_nothing_is_claimed() -> None:
    assert gap_needed(np.zeros((0, 0))).shape == (0, 0)
    assert not told_apart(np.array([1500.0]), np.zeros((1, 1))).any()
    assert not told_apart(np.array([1.0, 2.0]), np.zeros((2, 2))).any()


def test_looking_all_the_time_misleads_at_one_look_and_not_here() -> None:
    """Eight equals whose matches pairing gives to those in the middle, as if the outer ones were settled."""
    rng = np.random.default_rng(17)
    false = np.zeros(2)
    for _ in range(40):
        total, matches = np.zeros(8), np.full(8, 4.0)
        total += rng.normal(0, np.sqrt(matches / 4))
        misled = np.zeros(2, bool)
        for _look in range(30):
            inner = np.argsort(np.abs(total / matches - np.median(total / matches)))[:4]
            matches[inner] += 8
            total[inner] += rng.normal(0, math.sqrt(8 / 4), 4)
            rating, covariance = POINTS * total / (matches / 4), np.diag(POINTS**2 / (matches / 4))
            error = np.sqrt(np.diag(covariance)[:, None] + np.diag(covariance))
            once = np.abs(rating[:, None] - rating) > 4.286 / 2**0.5 * error  # Tukey's range of eight
            misled |= [once.any(), told_apart(rating, covariance).any()]
        false += misled
    assert false[0] > 3, "of 40 arenas: what holds at one look does not hold at thirty"
    assert false[1] <= 2
