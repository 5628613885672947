"""By how much matches that hang together say less than as many matches by themselves.

The design effect (Kish, "Survey Sampling", 1965): the variance of the estimates when whole clusters are
drawn, over that when single matches are. It divides the weight of every match.
"""

from __future__ import annotations

import numpy as np

from peerage.ratings.arrays import Ints
from peerage.ratings.strength import chain, prior, sparse
from peerage.ratings.strength.evidence import Evidence
from peerage.ratings.strength.likelihood import Counts
from peerage.ratings.table import quantile

_LENT = 5.0
"""Clusters with which the effect is guessed before any is seen, and how alike the matches of one are then."""
_ALIKE = 0.2


def design_effect(evidence: Evidence, counts: Counts, number: Ints) -> float:
    """The design effect of the evidence's clusters, 1 or more; 1 without clusters of several matches. Player
    i has `number[i]` in the counts. Rankings count as clusters of their own."""
    m = len(evidence.first)
    if evidence.cluster is None or m < 2:
        return 1.0
    label = np.unique(evidence.cluster[:m], return_inverse=True)[1]
    size = np.bincount(label, evidence.weight)
    if len(size) == m:
        return 1.0
    most = float((size**2).sum() / (evidence.weight**2).sum())
    many = counts.players > chain.DENSE
    normal = sparse.top(counts) if many else chain.normal(counts, spread=1.0)
    first, second = number[evidence.first], number[evidence.second]
    apart = normal.strength[first] - normal.strength[second]
    up, nu = np.exp(np.clip(apart, -200, 200) / 2), np.exp(normal.tie)
    total = up + 1 / up + nu
    expected = (up + nu / 2) / total
    variance = (up + nu / 4) / total - expected**2
    residual = evidence.weight * (evidence.score - expected)
    square = evidence.weight**2 * variance
    together = alone = 0.0
    order = np.argsort(label, kind="stable")
    rows = max(1, 4_000_000 // max(evidence.players, 1))
    for start in range(0, len(size), rows):
        part = order[slice(*np.searchsorted(label[order], [start, start + rows]))]
        slope = np.zeros((min(rows, len(size) - start), evidence.players))
        np.add.at(slope, (label[part] - start, first[part]), residual[part])
        np.add.at(slope, (label[part] - start, second[part]), -residual[part])
        if many:
            together += float(((slope * normal.root) ** 2).sum())
            alone += float(square[part] @ (normal.root[first[part]] ** 2 + normal.root[second[part]] ** 2))
        else:
            together += float(((slope @ normal.root) ** 2).sum())
            toward = normal.root[first[part]] - normal.root[second[part]]
            alone += float(square[part] @ (toward**2).sum(axis=1))
    effect = together / max(alone, 1e-300)
    effect *= m / max(m - evidence.players, m / 2)  # a fit draws near to what it is measured against
    clusters = float(size.sum() ** 2 / (size**2).sum())
    guess = 1 + _ALIKE * (most - 1)
    effect = (clusters * effect + _LENT * guess) / (clusters + _LENT)
    if (freedom := int(clusters + 1e-9) - 1) > 0:  # intervals take the effect as known, and few clusters tell
        effect *= (quantile(0.95, freedom) / quantile(0.95, 10_000)) ** 2 * (freedom + 1) / freedom
    return float(np.clip(effect, 1.0, max(most, 1.0)))


def thinned(evidence: Evidence, counts: Counts, number: Ints) -> Counts:
    """Counts in which each match says as much as its clusters leave it, and under the prior of such."""
    effect = design_effect(evidence, counts, number)
    return counts if effect == 1 else counts.scaled(1 / effect, prior.CLUSTERED_SHAPE)
