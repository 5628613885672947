"""Differences that are proven: claims that hold at every look, under every pairing, without a prior. Pure.

    >>> from peerage.ratings.columns.history import duels
    >>> from peerage.ratings.strength.evidence import of_duels
    >>> def record(wins, losses):
    ...     matches = wins + losses
    ...     return of_duels(duels(2, [0] * matches, [1] * matches, [1] * wins + [0] * losses))
    >>> [bool(proven(record(*counts))[0, 1]) for counts in ((4, 0), (7, 0), (10, 1), (11, 1))]
    [False, True, False, True]

A claim is a bet against its opposite: capital that does not grow on average while the opposite is true,
however the next match is chosen. It ever reaches 20 times its start with a chance of 5% at most (Ville
1939; Ramdas, Grünwald, Vovk, Shafer, "Game-theoretic statistics and safe anytime-valid inference",
Statistical Science 2023). Three quarters of the capital are bet on all strengths at once, a quarter on direct
meetings, an equal part for each pair. So 5% bounds the chance that any claim about anybody is ever false.

**All strengths at once.** For strengths s*, the likelihood ratio of s against s*, averaged over s ~ N(s*,
1/λ) (Robbins 1970), is such a capital, M. "i is not above j" is every s* with sᵢ* ≤ sⱼ*, so the least M of
these counts. Let s⁰ be the best fit in which both share one strength, c = eᵢ - eⱼ, V and C the information
there and its inverse, v = cᵀCc. By Laplace's method at the peak
of the integrand

    ln M = ρ · max over s of (ℓ(s) - ℓ(s⁰) - λ/2 |s - s⁰|²) - ½ ln det(1 + V(s)/λ)

where ρ = v² / ((v + λ|Cc|²) · cᵀ(V + λ)⁻¹c) ≤ 1 leads from s⁰ to the least M around it (Cauchy and
Schwarz). Both fits have a likelihood where nobody ever lost, though the information at the estimate is 0
there (Hauck and Donner, JASA 1977). M is the mean over λ, weighed by `PARTS`.

**Direct meetings.** Let z be 1 where i won and -1 where j did. While i is no better, 1 + bz is at most 1 on
average, for every bet b from 0 to 1. The capital is the mean over b = cos θ, (1/π) ∫ Π(1 + z cos θ) dθ, θ
from 0 to π/2: with w wins and l losses 2^(w+l) · B(w+½, l+½) · (1 - I_½(w+½, l+½)) / B(½, ½). It begins at
½, and so does that of the opposite. Between two players, and among more than `MANY`, all of the capital is
here.

**What counts.** Decided matches. A weight is taken relative to the largest, so that no match counts as
several. Matches of a cluster are one bet on a pair, on their mean; in M the gain is divided by the
contrast's design effect (its sandwich variance at s⁰ over the model's, 1 at least). A ranking is, for each
two of its players, one bet on who came first. In M each rank in turn is one match, spread evenly over the
pairs of a player of this rank and one below: a geometric mean of likelihood ratios is no more than their
mean, so that holds even where winners win together. A win of a team of several proves nothing about a
member.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import comb
from typing import Literal, NamedTuple

import numpy as np

from peerage.ratings.arrays import Floats
from peerage.ratings.claims.closing import closed
from peerage.ratings.claims.meetings import direct_bets, meetings
from peerage.ratings.claims.strengths import THRESHOLD, TOGETHER, StrengthBets
from peerage.ratings.columns.blas import one_thread
from peerage.ratings.fits.clusters import FEWEST
from peerage.ratings.strength.evidence import Evidence

MANY = 400
"""Players beyond whom only direct meetings count: a bet on the strengths of so many cannot be won."""

About = Literal["these tasks", "tasks like these"]


class Claims(NamedTuple):
    """Proven differences, boolean: i is above j on `these` tasks and, of these, on `alike` tasks too."""

    these: np.ndarray
    alike: np.ndarray

    def kept(self, earlier: Iterable[tuple[int, int]]) -> Claims:
        """Return these claims and `earlier` ones, which stay: pairs of players, the better one first."""
        these = self.these.copy()
        for above, below in earlier:
            these[above, below] = True
        return Claims(closed(these), self.alike)

    def about(self, above: int, below: int) -> About:
        """Return what the claim that one player is above another is about."""
        return "tasks like these" if self.alike[above, below] else "these tasks"


def claims(evidence: Evidence, by_task: Evidence | None = None) -> Claims:
    """Return what is proven of these tasks, and of tasks like these. `by_task` is the same evidence with the
    matches of each task (a prompt, a topic) as a cluster. It proves claims about tasks like these where there
    are ten tasks or more."""
    these = proven(evidence)
    if by_task is None or by_task.cluster is None or len(np.unique(by_task.cluster)) < FEWEST:
        return Claims(these, np.zeros_like(these))
    alike = proven(by_task)
    return Claims(closed(these | alike), alike)


@one_thread
def proven(evidence: Evidence) -> np.ndarray:
    """Return who is proven above whom: a boolean matrix, [i, j] where i is above j; transitive."""
    met, bets = meetings(evidence)
    direct, pairs = direct_bets(bets, evidence.players), max(comb(len(met), 2), 1)
    alone = not 2 < len(met) <= MANY
    above = np.zeros((evidence.players,) * 2, bool)
    enough = direct.capital * (1.0 if alone else 1 - TOGETHER) / pairs >= THRESHOLD
    above[direct.above[enough], direct.below[enough]] = True
    if not alone:
        inside = np.ix_(met, met)
        capital = (1 - TOGETHER) / pairs * direct.matrix(evidence.players)[inside]
        above[inside] |= (
            capital + TOGETHER * StrengthBets(met, bets).ratios(capital, all_pairs=False) >= THRESHOLD
        )
    return closed(above)


@one_thread
def proof(evidence: Evidence) -> Floats:
    """Return the capital of the bet against "i is not above j", [i, j]; from 20 on i is proven above j. A
    bound of it where that is below 20 and shows enough. Shape (players, players)."""
    met, bets = meetings(evidence)
    capital = direct_bets(bets, evidence.players).matrix(evidence.players) / max(comb(len(met), 2), 1)
    if 2 < len(met) <= MANY:
        capital *= 1 - TOGETHER
        inside = np.ix_(met, met)
        capital[inside] += TOGETHER * StrengthBets(met, bets).ratios(capital[inside], all_pairs=True)
    return capital
