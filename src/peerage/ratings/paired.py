"""Mean scores on the same samples of a benchmark, and their differences, sample by sample.

Tries at one sample (epochs) are averaged first: an interval is about samples like these, not about answers.
Of n differences it is Student's t, after c/2 pseudo-samples of which half differ, by as much as those that
differ do in the root mean square (after Agresti and Min, Statistics in Medicine 2005). c is the share of
differences that others equal: about 1 for answers right or wrong, 0 for finely graded ones, which need no
help. `python -m bench.paired` measures how often it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from peerage.ratings.accuracy import CONFIDENCE
from peerage.ratings.accuracy import bounds as accuracy_bounds
from peerage.ratings.arrays import Floats
from peerage.ratings.table import quantile, ranks
from peerage.values.figures import counted

_PSEUDO = 0.5


def compared(
    names: Sequence[str], scores: Floats
) -> tuple[tuple[dict[str, Any], ...], tuple[dict[str, Any], ...], list[str]]:
    """Return a row for each player, the best first, one for each two with two samples in common, the one
    ahead first, and notes. `scores` has shape (players, samples): from 0 to 1, nan where there is no answer.
    A pair is `apart` where the interval for all pairs together, by Bonferroni, leaves 0 out."""
    known = ~np.isnan(scores)
    samples = known.sum(axis=1)
    mean = np.nansum(scores, axis=1) / samples
    spread = np.nansum((scores - mean[:, None]) ** 2, axis=1) / samples
    lower, upper = accuracy_bounds(mean, spread, samples)
    order = np.argsort(-mean, kind="stable").tolist()
    common = [(a, b) for a, b in combinations(order, 2) if (known[a] & known[b]).sum() > 1]
    together = 1 - (1 - CONFIDENCE) / max(len(common), 1)
    above: dict[int, list[str]] = {player: [] for player in order}
    pairs = []
    for a, b in common:
        both = known[a] & known[b]
        gaps = scores[a, both] - scores[b, both]
        a, b, gaps = (a, b, gaps) if gaps.sum() >= 0 else (b, a, -gaps)
        low, high = bounds(gaps)
        apart = bounds(gaps, together)[0] > 0
        above[a] += [names[b]] * apart
        pair = {"first": names[a], "other": names[b], "difference": float(gaps.mean())}
        pairs.append(pair | {"lower": low, "upper": high, "samples": len(gaps), "apart": apart})
    rows = [
        {
            "player": names[player],
            "score": float(mean[player]),
            "lower": float(lower[player]),
            "upper": float(upper[player]),
            "rank": rank,
            "samples": int(samples[player]),
            "above": above[player],
        }
        for player, rank in zip(order, sorted(ranks(mean)), strict=True)
    ]
    notes = [
        "the interval of a difference holds with 95% by itself: of 20 pairs of equals one looks apart",
        f"above: apart by the interval of 95% for {counted(len(pairs), 'pair')} together (Bonferroni)",
    ]
    notes = notes if pairs else ["no two players answered two samples in common"]
    if not known.all():
        notes.append("not everybody answered every sample: a difference is over those that both answered")
    return tuple(rows), tuple(pairs), notes


def bounds(gaps: Floats, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the interval of a mean difference, from two or more differences from -1 to 1."""
    n, mean, square = len(gaps), float(gaps.mean()), float(gaps @ gaps)
    differ = int(np.count_nonzero(gaps))
    _, count = np.unique(gaps.round(9), return_counts=True)
    pseudo = _PSEUDO * (n - len(count)) / (n - 1)
    middle = n * mean / (n + pseudo)
    second = (square + pseudo / 2 * (square / differ if differ else 1.0)) / (n + pseudo)
    error = (max(second - middle**2, 0.0) / (n + pseudo - 1)) ** 0.5
    wide = quantile(confidence, n - 1) * error
    return max(-1.0, min(middle - wide, mean)), min(1.0, max(middle + wide, mean))
