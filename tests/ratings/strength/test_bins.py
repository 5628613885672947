"""The four bins."""

from __future__ import annotations

import numpy as np

from peerage.ratings.strength.posterior import sort_out


def test_bins_follow_chances() -> None:
    best = np.array([0.9, 0.08, 0.015, 0.0049, 0.0001])
    better = np.full((5, 5), 0.5)
    better[:, 0] = [0.5, 0.05, 0.049, 0.0099, 0.0099]
    assert sort_out(best, better) == ("pick", "may be as good", "unlikely", "out", "out")
    best[3] = 0.0051  # 2% by four others
    assert sort_out(best, better)[3] == "unlikely"
    better[4, 0] = 0.01
    assert sort_out(best, better)[4] == "unlikely"


def test_few_players() -> None:
    assert sort_out(np.zeros(0), np.zeros((0, 0))) == ()
    assert sort_out(np.ones(1), np.full((1, 1), 0.5)) == ("pick",)
    assert sort_out(np.array([0.5, 0.5]), np.full((2, 2), 0.5)) == ("pick", "may be as good")
