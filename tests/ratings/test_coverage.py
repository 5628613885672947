"""In simulation, 95% intervals hold the truth in 94 to 96 of 100 histories."""

from __future__ import annotations

import numpy as np
import pytest
from bench.ratings_coverage import KINDS

IGNORED = "questions of 10 battles, intervals not clustered"


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in KINDS if name != IGNORED])
def test_intervals_hold_the_truth(name: str) -> None:
    held = [KINDS[name](np.random.default_rng([7, seed])) for seed in range(2000)]
    assert 0.94 <= np.mean(held) <= 0.96


def test_clusters_that_are_ignored_make_intervals_too_narrow() -> None:
    name = "questions of 10 battles, intervals clustered"
    heeded, ignored = (
        np.mean([KINDS[kind](np.random.default_rng([7, seed])) for seed in range(60)])
        for kind in (name, IGNORED)
    )
    assert ignored < 0.85 < 0.90 < heeded
