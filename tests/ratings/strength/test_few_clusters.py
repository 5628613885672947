"""Few clusters tell little of how alike their matches are: intervals allow for that."""

from __future__ import annotations

import numpy as np
import pytest

from peerage.ratings.columns.history import duels
from peerage.ratings.strength.evidence import Evidence, of_duels
from peerage.ratings.strength.posterior import strengths


def pairs_of_matches(clusters: int, *, alike: bool = True) -> Evidence:
    """Every cluster is two matches with one result, won by turns."""
    won = np.repeat(np.arange(clusters) % 2, 2) * 1.0
    cluster = np.repeat(np.arange(clusters), 2) if alike else np.arange(2 * clusters)
    return of_duels(duels(2, [0] * 2 * clusters, [1] * 2 * clusters, won), cluster)


@pytest.mark.parametrize(("clusters", "wider"), [(6, 1.32), (200, 1.3)])
def test_two_matches_with_one_result_say_as_little_as_one(clusters: int, wider: float) -> None:
    """Twice the variance makes an interval √2 times as wide; the prior narrows that where matches are few."""
    once, twice = (strengths(pairs_of_matches(clusters, alike=alike), seed=1) for alike in (False, True))
    width = [float((found.upper - found.lower).mean()) for found in (once, twice)]
    assert wider < width[1] / width[0] < 1.5
