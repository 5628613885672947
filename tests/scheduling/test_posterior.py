"""What true strengths may be: as simulated ones are, and so that who wins is good, however few matches."""

from __future__ import annotations

import numpy as np
import pytest

from peerage.ratings.bradley_terry import Pair, fit
from peerage.ratings.kernels import Floats
from peerage.scheduling.further import RatingEstimates
from peerage.scheduling.posterior import Posterior, chances, match_information, matches_of, posterior
from peerage.scheduling.strengths import laplacian


def played(won: Floats) -> RatingEstimates:
    """The table of results: `won[i, j]` times i beat j."""
    size = len(won)
    pairs = [Pair(a, b, won[a, b], won[b, a]) for a in range(size) for b in range(a)]
    found = fit([one for one in pairs if one.wins_a + one.wins_b], size)
    return RatingEstimates(found.rating, found.covariance, often=won + won.T)


def test_who_never_lost_is_better_however_unsure_its_rating_is() -> None:
    won = np.zeros((5, 5))
    won[0, 1], won[1, 2], won[2, 1], won[2, 3], won[3, 2], won[3, 4] = 8, 3, 2, 2, 2, 6
    unsure = played(won).truth
    assert unsure.better(0, 1) > 0.97
    assert unsure.better(3, 4) > 0.93
    assert unsure.better(0, 4) > 0.95
    assert unsure.better(0, 1) == pytest.approx(1 - unsure.better(1, 0))


def test_matches_follow_from_the_information_that_they_bring() -> None:
    rng = np.random.default_rng(1)
    strength, met = rng.normal(0, 0.6, 6), np.triu(rng.integers(1, 30, (6, 6)), 1).astype(float)
    met += met.T
    covariance = np.linalg.pinv(laplacian(met * match_information(strength)))
    assert matches_of(strength, covariance) == pytest.approx(met)
    assert matches_of(strength, covariance, met) == pytest.approx(met)
    assert matches_of(strength, covariance / 2, met) == pytest.approx(2 * met)
    assert matches_of(strength, covariance, 7 * met) == pytest.approx(met), "how often counts, in any unit"


def test_draws_are_of_the_mixture() -> None:
    unsure = posterior(np.array([0.5, 0.0, -0.5]), 6.0 * (1 - np.eye(3)))
    drawn = unsure.draw(np.random.default_rng(2), 40_000)
    assert (drawn[:, 0] > drawn[:, 1]).mean() == pytest.approx(unsure.better(0, 1), abs=0.01)
    assert (drawn[:, 0] - drawn[:, 2]).mean() == pytest.approx(
        float(unsure.weight @ (unsure.mean[:, 0] - unsure.mean[:, 2])), abs=0.02
    )


def simulated(rng: np.random.Generator, players: int, matches: int) -> tuple[Floats, Posterior]:
    """True strengths, and what matches by lot say of them."""
    strength, won = rng.normal(0, 0.7, players), np.zeros((players, players))
    for _ in range(matches):
        a, b = rng.choice(players, 2, replace=False)
        one, other = (a, b) if rng.random() < chances(strength)[a, b] else (b, a)
        won[one, other] += 1
    return strength, played(won).truth


@pytest.mark.parametrize(("players", "matches"), [(20, 150), (8, 200)], ids=["few matches", "many matches"])
def test_better_is_right_as_often_as_it_says(players: int, matches: int) -> None:
    rng, said, right = np.random.default_rng(3), [], []
    for _ in range(30):
        strength, unsure = simulated(rng, players, matches)
        for a in range(players):
            for b in range(a):
                said.append(unsure.better(a, b))
                right.append(strength[a] > strength[b])
    chance, true = np.array(said), np.array(right)
    sure = np.maximum(chance, 1 - chance)
    held = np.where(chance > 0.5, true, ~true)
    for least, most in ((0.5, 0.7), (0.7, 0.9), (0.9, 1.0)):
        inside = (sure >= least) & (sure <= most)
        assert sure[inside].mean() - 0.03 < held[inside].mean() < sure[inside].mean() + 0.08
    assert (sure > 0.9).mean() > 0.15, "it says something"
