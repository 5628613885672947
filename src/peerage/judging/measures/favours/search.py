"""Does a judge favour an author, or do it down, beyond what chance and the other judges explain?

Only the order in which a judge puts answers counts: harsh, generous and clipped scales say the same. It is
held against what all the *other* judges say: votes against the strengths that they see
(`favours.votes`), scores against theirs of the very answers (`favours.scores`). What is left for an author is
tested two-sided, its normal tail corrected for skewness (Cornish and Fisher 1938).

Nobody is accused of what honest judges show too. Judges who say nothing are named as such first, and neither
count nor are tested. The spread by which judges differ about authors anyway, their taste, counts as noise,
however many marks there are: it is estimated from all pairs, and wider for a judge, or about an author, whose
other pairs scatter more. What noise does not explain and taste may is no favour: that judge is out of step
about that author. Pairs that stand out are set aside from everybody's view of the authors, the largest first,
and taken back if they then no longer do: a leader whom four of nine judges vote down is not the other five's
friend. Where about as many judges lean to the one side of an author as to the other, neither camp is accused.
Bonferroni's bound keeps the chance of any false finding at the level asked for. `bench/collusion.py` and
`bench/tastes.py` measure both error rates.

What is found is favour, not its cause: a judge whose love of one author's style has no equal among the tastes
of its peers, or is a model of the same making, looks like one who was bribed.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from peerage.judging.marks.comparisons import in_orders
from peerage.judging.marks.marks import Marks, Votes
from peerage.judging.measures.favours.evidence import (
    JUDGES,
    FavourEvidence,
    FavourScores,
    Mute,
    matched,
    median_of,
)
from peerage.judging.measures.favours.scores import ScoreEvidence
from peerage.judging.measures.favours.two_minds import Blocks, Minds
from peerage.judging.measures.favours.votes import VoteEvidence
from peerage.ratings.arrays import Flags, Floats
from peerage.ratings.table import quantile

LEVEL = 0.05
"""The chance of any false finding among an arena's judges."""
FEWEST = 5
"""Marks that a judge must have given an author, and others too, for the pair to be tested."""
_STANDS_OUT = 2.8  # standard errors at which a pair is set aside for a closer look
_MOST = 0.3  # share of the pairs that may be set aside
_ROUNDS = 40
_CLEARLY = 0.1  # of how far a camp leans: what is against it, and not between the two
_MARGIN = 0.5  # of the level, and less in proportion of fewer than `_MANY` judges, whose tastes are also what
_MANY = 10  # each other is held against: what approximations cost, by simulation
_USUAL = 4.0  # pairs of the usual scatter, counted with those of each judge and of each author
_ALWAYS = 59  # verdicts, all ties: a judge that tells one pair in twenty apart has done so by then, at 95%
_NORMAL = NormalDist()


class Favour(Struct, frozen=True):
    """Treatment of an author by a judge: `excess` is by how much more often than expected it prefers its
    answers to another's (where it scores: to one that it would else find as good), from -1 to 1, below 0
    where it does the author down; `marks` are those it gave the author. `p` is the chance of as much either
    way by noise and by taste, `q` the chance of any such pair among all those tested, `found` whether that is
    below the level. `out_of_step` is a pair that noise alone does not explain, and that taste may."""

    judge: str
    author: str
    marks: int
    excess: float
    p: float
    q: float
    found: bool
    out_of_step: bool


class Examined(NamedTuple):
    """All pairs tested, the most suspicious first, and the judges that were left out, with the reason. Where
    the judges are two `blocks` that contradict each other, nobody can tell which is right: no pair is tested,
    and nobody is said to toss a coin."""

    favours: list[Favour]
    mute: dict[str, Mute]
    blocks: Blocks | None = None

    @property
    def faulty(self) -> frozenset[str]:
        """The judges left out that are at fault."""
        return frozenset([judge for judge, why in self.mute.items() if why != "tied"])


def favours(given: Marks | Votes, *, level: float = LEVEL) -> Examined:
    """Every judge × author pair with enough marks. Raises ValueError for a level outside of 0 to 1."""
    if not 0 < level < 1:
        raise ValueError(f"level is {level}: expected a share between 0 and 1")
    table = evidence(given)
    count, judges = table.marks, len(table.judges)
    if not count.any():
        return Examined([], {})
    enough = (count >= FEWEST) & (count.sum(axis=1, keepdims=True) - count >= FEWEST)
    ties = enumerate(table.undecided.tolist())
    mute: dict[int, Mute] = {at: "alike" if count >= _ALWAYS else "tied" for at, count in ties if count}
    minds = Minds(given if isinstance(given, Votes) else in_orders(given))
    if blocks := minds.blocks():
        return Examined([], {table.judges[at]: why for at, why in mute.items()}, blocks)
    while True:
        heard = np.array([at not in mute for at in range(judges)], np.bool_)
        tested = enough & heard[:, None] & (int((heard & enough.any(axis=1)).sum()) >= JUDGES)
        test = _Test(table, tested, heard, level)
        aside = test.settle()
        aside &= ~test.disputed(aside)
        dull = {at: why for at, why in table.mute(aside, heard).items() if at not in mute}
        if blocks := minds.against(np.isin(np.arange(judges), list(dull)), heard):
            return Examined([], {table.judges[at]: why for at, why in mute.items()}, blocks)
        new = {at: why for at, why in dull.items() if minds.alone(at)}
        if not new:
            break
        mute |= new
    return Examined(_listed(table, test, aside), {table.judges[at]: why for at, why in mute.items()})


def evidence(given: Marks | Votes) -> FavourEvidence:
    """Votes, or marks of which no judge gave more than two in a contest, as orders; other marks as scores."""
    if isinstance(given, Votes):
        if given.scores is None:
            return VoteEvidence(given)
        given = given.scores
    marks = given.single
    return ScoreEvidence(marks) if np.bincount(marks.sheet, minlength=1).max() > 2 else VoteEvidence(marks)


def _listed(table: FavourEvidence, test: _Test, aside: Flags) -> list[Favour]:
    if not test.tested.any():
        return []
    scores, z, critical, _ = test.judged(aside)
    tested = test.tested & (scores.information > 1e-9)
    pairs = int(tested.sum())
    favours = []
    for judge, author in zip(*np.nonzero(tested), strict=True):
        # a t beyond its critical value counts as the normal beyond its own
        normal = abs(z[judge, author]) / critical[judge, author] * _critical(test.level, pairs)
        p = 2 * _NORMAL.cdf(-normal)
        is_found = bool(aside[judge, author]) and p * pairs <= test.level
        row = (
            table.judges[judge],
            table.authors[author],
            int(table.marks[judge, author]),
            float(scores.excess[judge, author]),
        )
        noise = abs(scores.score[judge, author]) / math.sqrt(scores.variance[judge, author])
        beyond_noise = noise > _critical(test.level, pairs)
        favours.append(Favour(*row, p, min(1.0, p * pairs), is_found, bool(beyond_noise and not is_found)))
    return sorted(favours, key=lambda pair: (not pair.found, pair.p, pair.judge, pair.author))


class _Test:
    """The search for pairs that stand out, among those `tested` of the judges that are `heard`."""

    def __init__(self, evidence: FavourEvidence, tested: Flags, heard: Flags, level: float) -> None:
        self.evidence, self.tested, self.heard, self.level = evidence, tested, heard, level
        self.widest = np.zeros(tested.shape[1], np.int64)
        self._last: tuple[Flags, FavourScores] | None = None

    def settle(self) -> Flags:
        """The pairs that stand out, once what they do to everybody else's view is out of it."""
        aside = np.zeros(self.tested.shape, np.bool_)
        if not self.tested.any():
            return aside
        turned = np.zeros(self.tested.shape[1], np.bool_)
        most = int(_MOST * self.tested.sum())
        needed = max(_STANDS_OUT, _critical(self.level, max(int(self.tested.sum()), 1)) - 0.8)
        for _ in range(_ROUNDS):
            z = np.abs(_skewed(self._scores(aside))) * (self.tested & ~aside)
            # the worst of its judge and of its author: they hardly depend on each other
            worst = (z >= z.max(axis=1, keepdims=True)) & (z >= z.max(axis=0, keepdims=True)) & (z >= needed)
            worst &= z >= 0.7 * z.max(initial=0.0)
            if not worst.any() or aside.sum() + worst.sum() > most:
                break
            aside |= worst
            # of two camps about an author the smaller is out of step
            over = (2 * aside.sum(axis=0) > self.tested.sum(axis=0)) & ~turned
            aside[:, over] = self.tested[:, over] & ~aside[:, over]
            turned |= over
        self.widest = aside.sum(axis=0)
        while aside.any():
            _, z, critical, _ = self.judged(aside)
            ratio = np.where(aside, np.abs(z) / critical, np.inf)
            if ratio.min() >= 1:
                break
            aside &= ratio > max(ratio.min(), min(0.5, float(ratio[aside].max()) / 2))
        return aside

    def disputed(self, aside: Flags) -> Flags:
        """The authors about whom as many judges, or more, lean with a whole camp that stands out as clearly
        against it, once everybody is heard, or about whom no majority is left: nobody can tell which camp is
        out of step."""
        many = self.tested.sum(axis=0)
        contested: Flags = (2 * np.maximum(aside.sum(axis=0), self.widest) >= many) & (many > 0)
        camps = ~contested & (aside.sum(axis=0) > _MOST * many)
        for author in np.flatnonzero(camps).tolist():
            heard = aside.copy()
            heard[:, author] = False
            leaning = (self._scores(heard).excess * self.tested)[:, author]
            usual = float(np.median(leaning[aside[:, author]]))
            leaning *= np.sign(usual)
            contested[author] = (leaning > 0).sum() >= (leaning < -_CLEARLY * abs(usual)).sum()
        return contested

    def judged(self, aside: Flags) -> tuple[FavourScores, Floats, Floats, float]:
        """The scores, standardised, with the critical value of each; and the standard deviation by which
        judges differ about authors anyway."""
        scores = self._scores(aside)
        kept = self.tested & ~aside & (scores.information > 1e-9)
        spread = 0.0
        if kept.any():  # the largest being set aside
            spread = self.evidence.spread(scores, kept, 1 - float(aside.sum()) / int(self.tested.sum()))
            # what stands out was chosen by these very numbers: the spread of all pairs, by
            # their median, bounds it
            every = self.tested & (scores.information > 1e-9)
            spread = max(spread, matched(scores, every, np.median, median_of(1.0)))
        by_judges = spread * scores.information**2
        square = np.where(kept, scores.score**2 / (scores.variance + by_judges), 0.0)
        by_judges = by_judges * np.maximum(_wider(square, kept, 0), _wider(square, kept, 1))
        total = scores.variance + by_judges
        named = self.tested.any(axis=1).sum() + self.tested.any(axis=0).sum()
        freedom = max(1.0, self.evidence.worth * (int(kept.sum()) - int(named)))
        free = np.full(total.shape, 1000.0)
        doubt = by_judges**2 / freedom + scores.variance**2 / self.evidence.freedom
        np.divide(total**2, doubt, out=free, where=doubt > 0)  # Satterthwaite 1946
        pairs = max(int(self.tested.sum()), 1)
        margin = _MARGIN * min(1.0, int(self.tested.any(axis=1).sum()) / _MANY)
        known, place = np.unique(np.clip(free, 1, 1000).astype(np.int64), return_inverse=True)
        values = np.array([quantile(1 - margin * self.level / pairs, freedom) for freedom in known.tolist()])
        z = _skewed(scores._replace(variance=total))
        return scores, z, values[place].reshape(total.shape), math.sqrt(spread)

    def _scores(self, aside: Flags) -> FavourScores:
        if self._last is None or not np.array_equal(self._last[0], aside):
            self._last = aside.copy(), self.evidence.scores(aside, self.heard, self.tested)
        return self._last[1]


def _wider(square: Floats, kept: Flags, axis: int) -> Floats:
    """By how much more, as a variance, the other pairs of each one's author (axis 0) or judge (axis 1)
    scatter than all pairs do; 1 at least. Some pairs of the usual scatter are counted with them."""
    many = kept.sum(axis=axis, keepdims=True) - kept
    total = square.sum(axis=axis, keepdims=True) - square * kept
    return np.asarray(np.maximum((total + _USUAL) / (many + _USUAL), 1.0))


def _critical(level: float, pairs: int) -> float:
    """The normal's two-sided critical value under Bonferroni's bound."""
    return _NORMAL.inv_cdf(1 - level / 2 / max(pairs, 1))


def _skewed(scores: FavourScores) -> Floats:
    """Standardised scores, as normal as their third cumulant makes them."""
    z = scores.score / np.sqrt(scores.variance)
    skewness = np.clip(scores.third / scores.variance**1.5, -1, 1)
    normal = z - skewness * (z**2 - 1) / 6
    return np.where(np.sign(normal) == np.sign(z), normal, 0.0)
