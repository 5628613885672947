"""Bits against the determinants that define them, and against simulations in which the truth is known."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from peerage.ratings.arrays import Floats, Ints
from peerage.ratings.columns.history import Duels, duels
from peerage.scheduling.information import information

PLAYERS, MATCHES, ARENAS = 10, 600, 40


def played(strength: Floats, first: Ints, second: Ints, rng: np.random.Generator, lazy: float = 0) -> Duels:
    """Results of matches whose judges vote at random in the share `lazy` of them."""
    chance = 1 / (1 + np.exp(strength[second] - strength[first]))
    won = rng.random(len(first)) < (1 - lazy) * chance + lazy / 2
    return duels(len(strength), first, second, won)


def at_random(rng: np.random.Generator) -> tuple[Ints, Ints]:
    first = rng.integers(0, PLAYERS, MATCHES)
    return first, (first + rng.integers(1, PLAYERS, MATCHES)) % PLAYERS


def exact(strength: Floats, first: Ints, second: Ints, spread: float) -> float:
    """½ log₂ of the ratio of determinants, at the true strengths and the true spread of players."""
    chance = 1 / (1 + np.exp(strength[second] - strength[first]))
    fisher = np.zeros((len(strength), len(strength)))
    for at, other, told in zip(first, second, chance * (1 - chance), strict=True):
        fisher[np.ix_([at, other], [at, other])] += told * np.array([[1, -1], [-1, 1]])
    return float(np.linalg.slogdet(np.eye(len(strength)) + spread**2 * fisher)[1] / np.log(4))


def mean_bits(spread: float, lazy: float = 0) -> tuple[float, float]:
    """The mean of what is found and of what there was, over many arenas."""
    rng = np.random.default_rng(7)
    found = []
    for _ in range(ARENAS):
        strength, pairs = spread * rng.standard_normal(PLAYERS), at_random(rng)
        bits = information(played(strength, *pairs, rng, lazy)).sum()
        found.append((float(bits), exact(strength, *pairs, spread)))
    ours, theirs = np.mean(found, axis=0).tolist()
    return ours, theirs


@pytest.mark.parametrize("spread", [0.35, 0.7, 1.2])
def test_bits_are_those_that_there_were(spread: float) -> None:
    found, true = mean_bits(spread)
    assert found == pytest.approx(true, rel=0.12)


def test_judges_who_vote_at_random_tell_less() -> None:
    honest, half, lazy = (mean_bits(0.7, share)[0] for share in (0.0, 0.5, 1.0))
    assert lazy < half - 2
    assert half < honest - 5


def test_telling_matches_bring_more_bits() -> None:
    """Those of equals, against those of which everybody knows how they end."""
    rng = np.random.default_rng(3)
    strength = np.repeat([-2.0, 2.0], PLAYERS // 2) + 0.3 * rng.standard_normal(PLAYERS)
    half = PLAYERS // 2
    within, side = rng.integers(0, half, MATCHES), half * rng.integers(0, 2, MATCHES)
    close = within + side, (within + rng.integers(1, half, MATCHES)) % half + side
    far = within, rng.integers(half, PLAYERS, MATCHES)
    both = [played(strength, *pairs, rng) for pairs in (close, far)]
    few = duels(
        PLAYERS,
        *[
            np.concatenate([getattr(one, name)[:300] for one in both])
            for name in ("first", "second", "score")
        ],
    )
    bits = information(few)
    assert bits[:300].sum() > 3 * bits[300:].sum()


def test_more_matches_bring_more_and_each_brings_less() -> None:
    rng = np.random.default_rng(5)
    history = played(0.7 * rng.standard_normal(PLAYERS), *at_random(rng), rng)
    columns = history.first, history.second, history.score
    sums = [information(duels(PLAYERS, *[one[:many] for one in columns])).sum() for many in (150, 300, 600)]
    assert 0 < sums[2] - sums[1] < sums[1] - sums[0] + 1.5
    assert sums[0] < sums[1] < sums[2]


def test_ties_and_weights_count_and_nobody_else_does() -> None:
    history = duels(9, [0, 2, 0, 2], [2, 0, 7, 7], [1, 0.5, 0, 0.5])
    heavy = duels(9, [0, 2, 0, 2], [2, 0, 7, 7], [1, 0.5, 0, 0.5], [4, 4, 4, 4])
    four = duels(9, [0, 2, 0, 2] * 4, [2, 0, 7, 7] * 4, [1, 0.5, 0, 0.5] * 4)
    assert information(heavy).sum() == pytest.approx(information(four).sum())
    assert 0 < information(history).sum() < information(heavy).sum()
    assert information(duels(3, [], [], [])).sum() == 0


def test_equals_are_known_better_the_more_they_play() -> None:
    sums = [information(duels(2, [0] * n, [1] * n, [0.0, 1.0] * (n // 2))).sum() for n in (2, 20, 200, 2000)]
    assert all(later > earlier + 0.3 for earlier, later in pairwise(sums))
