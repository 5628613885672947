"""Courses of an arena from here: what a block of matches brings, and which claims are held exactly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from peerage.ratings.claims import gap_needed
from peerage.ratings.kernels import Floats
from peerage.scheduling import further
from peerage.scheduling.aim import BEST, Aim
from peerage.scheduling.further import RatingEstimates, ranges
from peerage.scheduling.order import of_order
from peerage.scheduling.posterior import match_information
from peerage.scheduling.strengths import laplacian


def test_blocks_spread_alike_bring_what_their_matches_bring_pair_by_pair() -> None:
    """In the mean, and in how far courses of the same strengths scatter."""
    truth, courses = np.array([0.5, 0.1, -0.6]), 40_000
    known = laplacian(np.array([[0.0, 9.0, 2.0], [9.0, 0.0, 4.0], [2.0, 4.0, 0.0]]))
    strength, matches = np.array([0.2, 0.3, -0.5]), np.array([[0.0, 8, 1], [8, 0, 3], [1, 3, 0]])
    seen = further._alike(known, strength, matches, np.tile(truth, (courses, 1)), np.random.default_rng(7))
    for step, (rating, covariance) in list(zip(further.STEPS, seen, strict=True))[20::25]:
        more = step * laplacian(matches * match_information(truth))
        both = np.linalg.inv(known + more + 1 / 3)
        assert covariance[0] == pytest.approx(both, rel=1e-6)
        assert rating.mean(axis=0) == pytest.approx(both @ (known @ strength + more @ truth), abs=0.02)
        scatter = np.asarray(np.cov(rating.T))
        assert scatter == pytest.approx(both @ more @ both, rel=0.05, abs=1e-3)


@pytest.mark.parametrize("learns", [True, False])
def test_claims_are_held_exactly_wherever_they_may_be_in_reach(
    learns: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = RatingEstimates(np.array([150.0, 60.0, 0.0, -170.0]), np.diag([900.0, 1600.0, 700.0, 1200.0]))
    table = replace(table, loss=of_order if learns else None)
    aims = [BEST, Aim("order", within=40.0), Aim("placed", player=2)]
    found = ranges(table, aims, [(0, 1), (2, 3)])
    assert any(np.isfinite(span).all() for span in found)

    def nothing(covariance: Floats, *, unit: float) -> Floats:
        return np.zeros_like(covariance)

    monkeypatch.setattr(further, "gap_at_least", nothing)
    assert ranges(table, aims, [(0, 1), (2, 3)]) == found
    monkeypatch.setattr(further, "gap_at_least", gap_needed)
    assert ranges(table, aims, [(0, 1), (2, 3)]) == found
