"""Few clusters tell little of how alike their matches are: intervals allow for that."""

from __future__ import annotations

import numpy as np
import pytest

from peerage.ratings.columns.history import duels
from peerage.ratings.strength import prior
from peerage.ratings.strength.evidence import Evidence, of_duels
from peerage.ratings.strength.posterior import strengths


def pairs_of_matches(clusters: int, *, alike: bool = True) -> Evidence:
    """Every cluster is two matches with one result, won by turns."""
    won = np.repeat(np.arange(clusters) % 2, 2) * 1.0
    cluster = np.repeat(np.arange(clusters), 2) if alike else np.arange(2 * clusters)
    return of_duels(duels(2, [0] * 2 * clusters, [1] * 2 * clusters, won), cluster)


@pytest.mark.parametrize(("clusters", "wider"), [(6, 1.32), (200, 1.3)])
def test_two_matches_with_one_result_say_as_little_as_one(
    clusters: int, wider: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twice the variance makes an interval √2 times as wide; the prior narrows that where matches are few."""
    monkeypatch.setattr(prior, "CLUSTERED_SHAPE", 1.0)  # as it is without clusters
    once, twice = (strengths(pairs_of_matches(clusters, alike=alike), seed=1) for alike in (False, True))
    width = [float((found.upper - found.lower).mean()) for found in (once, twice)]
    assert wider < width[1] / width[0] < 1.5


def compared(skill: np.ndarray, tasks: int, rng: np.random.Generator) -> Evidence:
    """Each task is answered once by everybody, rightly or not, and all pairs are compared on it."""
    first, second = np.triu_indices(len(skill), 1)
    apart = skill[:, None] - rng.normal(size=tasks) + rng.normal(0, 0.5, (len(skill), tasks))
    right = (rng.random(apart.shape) < 1 / (1 + np.exp(-apart))) * 1.0
    score = (0.5 + (right[first] - right[second]) / 2).ravel()
    made = duels(len(skill), np.repeat(first, tasks), np.repeat(second, tasks), score)
    return of_duels(made, np.tile(np.arange(tasks), len(first)))


def test_who_is_ahead_and_who_is_behind_is_not_drawn_to_the_others() -> None:
    """Eight players answer ten tasks each; intervals hold the truth about the two at the ends too."""
    held = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        skill = np.sort(rng.normal(0, 1, 8))
        truth = strengths(compared(skill, 5_000, rng), seed=1).rating
        found = strengths(compared(skill, 10, rng), seed=1)
        held.append(((found.lower <= truth) & (truth <= found.upper))[[0, -1]].mean())
    assert np.mean(held) > 0.8
