"""Questions that a search for favour asks of votes and scores alike: `judging.measures.favours`."""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist
from typing import Literal, NamedTuple, Protocol, TypeAlias

from peerage.ratings.arrays import Flags, Floats, Ints

JUDGES = 5
"""Judges from which on any is tested: of four two may be friends, and which ones nobody can tell."""
DULL = 0.25
"""Of the median judge's discernment: less than that says nothing."""

Mute: TypeAlias = Literal["alike", "tied", "coin", "contrary"]
"""Reason for which a judge's votes say nothing: it finds all answers alike, has found them so in too few
verdicts to say that it always will (a strict judge may, and is not at fault), tosses a coin, or prefers the
worse."""


class FavourScores(NamedTuple):
    """The test of each judge (rows) and author (columns): the `score`; its `information`, by which the spread
    of honest judges adds to it (a standard deviation); its `variance` from the judge's own noise and from
    what is not known of the authors; its `third` cumulant; and by how much more often than expected the judge
    prefers the author's answer to another's (`excess`)."""

    score: Floats
    information: Floats
    variance: Floats
    third: Floats
    excess: Floats


class FavourEvidence(Protocol):
    """Votes or scores. `marks`: how many each judge gave each author; `undecided`: in how many contests each
    judge found all answers alike, 0 for one that once did not; `worth`: degrees of freedom of `spread` for
    each pair that it is estimated from; `freedom`: those of each pair's own variance."""

    judges: tuple[str, ...]
    authors: tuple[str, ...]
    marks: Ints
    undecided: Ints
    worth: float
    freedom: Floats

    def scores(self, aside: Flags, heard: Flags, tested: Flags) -> FavourScores:
        """The test, pairs of judge and author that are `aside`, and judges not `heard`, being no measure for
        anybody; what it gives for pairs that are not `tested` is of no use."""

    def spread(self, scores: FavourScores, kept: Flags, part: float) -> float:
        """The variance by which judges differ about authors anyway, from the pairs `kept`, the smallest
        `part` of those there are."""

    def mute(self, aside: Flags, heard: Flags) -> dict[int, Mute]:
        """The judges among those `heard` whose discernment is nothing next to that of others, or negative."""


def matched(scores: FavourScores, kept: Flags, typical: Callable[[Floats], float], wanted: float) -> float:
    """The variance of favours among honest judges at which squared standard scores are typically `wanted`."""
    square, known = scores.score[kept] ** 2, scores.variance[kept]
    information = scores.information[kept] ** 2
    low, high = 0.0, 9.0
    if typical(square / known) <= wanted:
        return 0.0
    for _ in range(40):
        middle = (low + high) / 2
        above = typical(square / (known + middle * information)) > wanted
        low, high = (middle, high) if above else (low, middle)
    return high


def median_of(part: float) -> float:
    """The median of what is left of χ² with one degree of freedom when that `part` is the smallest."""
    return NormalDist().inv_cdf((1 + part / 2) / 2) ** 2


def mean_of(part: float) -> float:
    """The mean of the same."""
    if part >= 1:
        return 1.0
    at = NormalDist().inv_cdf((1 + part) / 2)
    return 1 - 2 * at * NormalDist().pdf(at) / part
