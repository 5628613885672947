"""Two blocks of judges that contradict each other.

Each judge has an order of the players in mind. Its preference for one player in half of the matches
is multiplied with what each judge gives in the other half, so that neither the luck of a match nor its places
make two judges look alike. The first eigenvector of these products parts judges who agree with each other
from those who agree among themselves on something else. They are two blocks where each agrees within itself
beyond chance, and with the other surely less than a quarter as much, whichever player is left out: judges who
toss coins agree with nobody, and those who do one player down are of one mind with all about the others.
Bonferroni's bound over all ways to part the judges keeps the chance of blocks that are none below the level.

Which block is right no vote can tell: the larger one may lie.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from peerage.judging.marks.marks import Votes
from peerage.judging.measures.favours.evidence import DULL
from peerage.ratings.arrays import Flags, Floats, Ints
from peerage.ratings.columns.merging import coded

_LEVEL = 0.01
_CLEAR = 0.5  # of what the median judge leans to its side
_USUAL = 1.64  # standard deviations, at 95%
_MOST = 60  # judges whose ways to be parted are counted: more make the bound no looser


class Blocks(NamedTuple):
    """Two blocks of judges by name, the larger first; of two equal ones that of the first name."""

    larger: tuple[str, ...]
    smaller: tuple[str, ...]


class Minds:
    """Agreement of the judges of votes: `alike` are sums of products for each two of them, from halves of the
    matches that share none, and `unsure` their variances where they agree by chance alone."""

    def __init__(self, votes: Votes) -> None:
        self.judges = votes.judges
        leaning, doubt, self._pairs = _leanings(votes)
        self._leaning, self._doubt, self._players = leaning, doubt, votes.history.players
        alike, unsure = leaning[0] @ leaning[1].T, doubt[0] @ doubt[1].T
        self.alike = alike + alike.T
        self.unsure = unsure + unsure.T + 2 * np.diag(np.diag(unsure))
        self._scale = np.sqrt(np.maximum(doubt.sum(axis=(0, 2)), 1e-9))

    def blocks(self) -> Blocks | None:
        """Return two blocks of at least two judges each; None where judges agree or too little is known."""
        judges = len(self.judges)
        if judges < 4:
            return None
        first, other = self._parted(DULL)
        if min(first.sum(), other.sum()) < 2:
            return None
        needed = -NormalDist().inv_cdf(_LEVEL / 2.0 ** min(judges, _MOST))
        within = [self._without_each(side, side) for side in (first, other)]
        if any((agree <= needed * np.sqrt(doubt)).any() for agree, doubt in within):
            return None
        agree, doubt = self._without_each(first, other)
        usual = np.sqrt(within[0][0] * within[1][0])
        contradict = agree + needed * np.sqrt(doubt) < DULL * usual
        return self._named(first, other) if contradict.all() else None

    def against(self, few: Flags, heard: Flags) -> Blocks | None:
        """Return the `few`, who do not see what others `heard` see, as a block where they agree together."""
        if few.sum() < 2 or self._agree(few, few, apart=True) < _USUAL:
            return None
        return self._named(heard & ~few, few)

    def alone(self, judge: int) -> bool:
        """Return whether a judge agrees with no other one beyond chance, as one who tosses a coin does, and
        is not with another on the smaller of two sides."""
        for side in self._parted(_CLEAR):
            if side[judge] and 1 < side.sum() < len(side) / 2:
                return False
        z = self.alike[judge] / np.sqrt(np.maximum(self.unsure[judge], 1e-9))
        z[judge] = 0.0
        return float(z.max()) < -NormalDist().inv_cdf(_LEVEL / max(len(z) - 1, 1))

    def _parted(self, least: float) -> tuple[Flags, Flags]:
        """Return the judges on either side, by the first eigenvector, without those that lean less than such
        a part of what the median judge does."""
        first = np.linalg.eigh(self.alike / np.outer(self._scale, self._scale))[1][:, -1]
        clear = np.abs(first) >= least * float(np.median(np.abs(first)))
        return clear & (first > 0), clear & (first < 0)

    def _without_each(self, camp: Flags, other: Flags) -> tuple[Floats, Floats]:
        """Return the agreement of two sets of judges, and its variance, over all pairs of players but those
        of each player in turn: judges who differ about one player alone are of one mind about the rest."""
        met = sum(np.bincount(end, minlength=self._players) for end in self._pairs)
        scores = []
        for part, twice in ((self._leaning, 1.0), (self._doubt, 2.0)):
            ours, theirs = part[:, camp].sum(axis=1), part[:, other].sum(axis=1)
            products = (ours[0] * theirs[1] + ours[1] * theirs[0]) * (twice if camp is other else 1.0)
            by_player = sum(np.bincount(end, products, self._players) for end in self._pairs)
            scores.append(np.asarray(products.sum() - by_player, np.float64)[np.asarray(met) > 0])
        return scores[0], np.maximum(scores[1], 0.0)

    def _agree(self, camp: Flags, other: Flags, *, apart: bool = False) -> float:
        """Return by how many standard deviations two sets of judges agree beyond chance; where `apart`,
        without the agreement of each judge with itself."""
        alike, unsure = (part[np.ix_(camp, other)] for part in (self.alike, self.unsure))
        if apart:
            alike, unsure = alike - np.diag(np.diag(alike)), unsure - np.diag(np.diag(unsure))
        return float(alike.sum() / math.sqrt(max(unsure.sum(), 1e-9) * (2 if apart else 1)))

    def _named(self, camp: Flags, other: Flags) -> Blocks:
        named = [tuple([self.judges[at] for at in np.flatnonzero(side).tolist()]) for side in (camp, other)]
        return Blocks(*sorted(named, key=lambda names: (-len(names), names)))


def _leanings(votes: Votes) -> tuple[Floats, Floats, tuple[Ints, Ints]]:
    """Return the votes that each judge gave one of two players over the other in each half of the matches,
    and their variance: shape (2, judges, pairs of players); and both players of each pair."""
    history, judges = votes.history, len(votes.judges)
    n = history.players
    half = coded(votes.matches)[1] % 2
    low, high = np.minimum(history.first, history.second), np.maximum(history.first, history.second)
    pairs, pair = np.unique(low * n + high, return_inverse=True)
    cell = (half * judges + votes.judge) * len(pairs) + pair
    gap = np.where(history.first == low, history.score - 0.5, 0.5 - history.score)
    square = gap**2
    if votes.worth is not None:  # what no judge was asked about is worth nothing, and says nothing here
        gap = np.where(votes.worth > 0, gap, 0.0)
        square = np.divide(square, votes.worth, out=np.zeros(len(gap)), where=votes.worth > 0)
    shape, size = (2, judges, len(pairs)), 2 * judges * len(pairs)
    mean = np.bincount(votes.judge, square, judges) / np.maximum(
        np.bincount(votes.judge, minlength=judges), 1
    )
    leaning, variance = (np.bincount(cell, part, size) for part in (gap, mean[votes.judge]))
    given, doubt = (np.asarray(part, np.float64).reshape(shape) for part in (leaning, variance))
    first, second = np.divmod(pairs, max(n, 1))
    return given, doubt, (first, second)
