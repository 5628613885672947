"""Does a judge favour an author, or do it down, beyond what chance and the other judges explain?

Only the order in which a judge puts the answers of a contest counts: harsh, generous and clipped scales say
the same, and a vote is an order of two. A judge's orders are held against the strengths of the authors as
all the *other* judges see them, with a slope and a bend of its own (how discerning it is, and where its
scale gives out). What is left for an author is a score test of one more or less in favour of it (Rao 1948),
its normal tail corrected for skewness (Cornish and Fisher 1938), and two-sided.

Nobody is accused of what honest judges show too. Judges whose votes say nothing are named as such first,
and neither count nor are tested. The spread by which judges differ about authors anyway is estimated from
the pairs that do not stand out, and counts as noise, however many marks there are. Pairs that stand out are
set aside from everybody's view of the authors, the largest first, and taken back if they then no longer do:
a leader whom four of nine judges vote down is not the other five's friend. Where about as many judges lean
to the one side of an author as to the other, neither camp is accused. Bonferroni's bound keeps the
chance of any false finding at the level asked for. `bench/collusion.py` measures both error rates.

What is found is favour, not its cause: a judge who likes an author's style, or is a model of the same making,
looks like one who was bribed.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from peerage.judging.comparisons import SPREADS, Compared, compared
from peerage.judging.marks import Flags, Marks
from peerage.judging.votes import Votes
from peerage.ratings.judges import Cells, Slopes, View, others, slopes
from peerage.ratings.kernels import Floats
from peerage.ratings.student import quantile

LEVEL = 0.05
"""The chance of any false finding among an arena's judges."""
FEWEST = 5
"""Marks that a judge must have given an author, and others too, for the pair to be tested."""
JUDGES = 5
"""Judges from which on any is tested, or said to toss a coin: of four two may be friends, and nobody can tell
which two are out of step."""
_STANDS_OUT = 2.8  # standard errors at which a pair is set aside for a closer look
_MOST = 0.3  # share of the pairs that may be set aside
_ROUNDS = 40
_DULL = 0.25  # of the median judge's discernment: less than that says nothing
_ALWAYS = 59  # verdicts, all ties: a judge that tells one pair in twenty apart has done so by then, at 95%
_NORMAL = NormalDist()

Mute: TypeAlias = Literal["alike", "tied", "coin", "contrary"]
"""Why a judge's votes say nothing: it finds all answers alike, has found them so in too few verdicts to say
that it always will (a strict judge may, and is not at fault), tosses a coin, or prefers the worse."""


class Favour(NamedTuple):
    """How a judge treats an author: `excess` is by how much more often than expected it prefers its answers
    to another's, from -1 to 1, below 0 where it does the author down; `marks` are those it gave the author.
    `p` is the chance of as much either way without favour, `q` the chance of any such pair among all those
    tested, `found` whether that is below the level."""

    judge: str
    author: str
    marks: int
    excess: float
    p: float
    q: float
    found: bool


class Examined(NamedTuple):
    """All pairs tested, the most suspicious first, and the judges that were left out, with the reason."""

    favours: list[Favour]
    mute: dict[str, Mute]

    @property
    def faulty(self) -> frozenset[str]:
        """The judges left out that are at fault."""
        return frozenset([judge for judge, why in self.mute.items() if why != "tied"])


class _Scores(NamedTuple):
    """The test of each judge (rows) and author (columns): the `score`, its `information`, its `variance` from
    the judge's own noise and from what is not known of the authors, and its third cumulant."""

    score: Floats
    information: Floats
    variance: Floats
    third: Floats


def favours(given: Marks | Votes, *, level: float = LEVEL, fewest: int = FEWEST) -> Examined:
    """Every judge × author pair with enough marks. Raises ValueError for a level outside of 0 to 1."""
    if not 0 < level < 1:
        raise ValueError(f"level is {level}: expected a share between 0 and 1")
    table = compared(given)
    count, judges = table.marks, len(table.judges)
    if not count.any():
        return Examined([], {})
    enough = (count >= fewest) & (count.sum(axis=1, keepdims=True) - count >= fewest)
    ties = enumerate(table.undecided.tolist())
    mute: dict[int, Mute] = {at: "alike" if count >= _ALWAYS else "tied" for at, count in ties if count}
    while True:
        heard = np.array([at not in mute for at in range(judges)], np.bool_)
        tested = enough & heard[:, None] & (int((heard & enough.any(axis=1)).sum()) >= JUDGES)
        test = _Test(table, tested, heard, level)
        aside = test.settle()
        aside &= ~test.disputed(aside)
        new = {at: why for at, why in test.mute(aside, table.orders.decided).items() if at not in mute}
        if not new:
            break
        mute |= new
    return Examined(_listed(table, test, aside), {table.judges[at]: why for at, why in mute.items()})


def _listed(table: Compared, test: _Test, aside: Flags) -> list[Favour]:
    scores, z, critical, _ = test.judged(aside)
    tested = test.tested & (scores.information > 1e-9)
    pairs = int(tested.sum())
    many = np.maximum(table.orders.all.games.sum(axis=2), 1)
    found = []
    for judge, author in zip(*np.nonzero(tested), strict=True):
        # a t beyond its critical value counts as the normal beyond its own
        normal = abs(z[judge, author]) / critical[judge, author] * _critical(test.level, pairs)
        p = 2 * _NORMAL.cdf(-normal)
        excess = float(scores.score[judge, author] / many[judge, author])
        is_found = bool(aside[judge, author]) and p * pairs <= test.level
        row = (table.judges[judge], table.authors[author], int(table.marks[judge, author]), excess)
        found.append(Favour(*row, p, min(1.0, p * pairs), is_found))
    return sorted(found, key=lambda pair: (not pair.found, pair.p, pair.judge, pair.author))


class _Test:
    """The search for pairs that stand out, among those `tested` of the judges that are `heard`."""

    def __init__(self, table: Compared, tested: Flags, heard: Flags, level: float) -> None:
        self.cells, self.tested, self.heard, self.level = table.orders.all, tested, heard, level
        self._view: View | None = None
        nobody = np.zeros(tested.shape, np.bool_)
        self._squares = table.squares(slopes(self.cells, nobody, self._seen(nobody).strength, SPREADS).chance)

    def settle(self) -> Flags:
        """The pairs that stand out, once what they do to everybody else's view is out of it."""
        aside = np.zeros(self.tested.shape, np.bool_)
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
        while aside.any():
            _, z, critical, _ = self.judged(aside)
            ratio = np.where(aside, np.abs(z) / critical, np.inf)
            if ratio.min() >= 1:
                break
            aside &= ratio > max(ratio.min(), min(0.5, float(ratio[aside].max()) / 2))
        return aside

    def disputed(self, aside: Flags) -> Flags:
        """The authors about whom as many judges, or more, lean with a whole camp that stands out as against
        it, once everybody is heard: nobody can tell which camp is out of step."""
        found = np.zeros(self.tested.shape[1], np.bool_)
        camps = aside.sum(axis=0) > _MOST * self.tested.sum(axis=0)
        for author in np.flatnonzero(camps).tolist():
            heard = aside.copy()
            heard[:, author] = False
            leaning = (_skewed(self._scores(heard)) * self.tested)[:, author]
            leaning *= np.sign(leaning[aside[:, author]].sum())
            found[author] = (leaning > 0).sum() >= (leaning < 0).sum()
        return found

    def judged(self, aside: Flags) -> tuple[_Scores, Floats, Floats, float]:
        """The scores, standardised, with the critical value of each; and the standard deviation, in
        log-odds, by which judges differ about authors anyway."""
        scores = self._scores(aside)
        kept = self.tested & ~aside & (scores.information > 1e-9)
        spread = 0.0
        if kept.any():
            part = 1 - float(aside.sum()) / int(self.tested.sum())
            median = _NORMAL.inv_cdf((1 + part / 2) / 2) ** 2  # of χ², the largest being set aside
            spread = _heterogeneity(scores, kept, median)
        by_judges = spread * scores.information**2
        total = scores.variance + by_judges
        named = self.tested.any(axis=1).sum() + self.tested.any(axis=0).sum()
        freedom = max(1.0, 0.4 * (int(kept.sum()) - int(named)))  # a median is worth that share of a mean
        free = np.full(total.shape, 1000.0)
        np.divide(freedom * total**2, by_judges**2, out=free, where=by_judges > 0)
        pairs = max(int(self.tested.sum()), 1)
        known, place = np.unique(np.clip(free, 1, 1000).astype(np.int64), return_inverse=True)
        values = np.array([quantile(1 - self.level / pairs, one) for one in known.tolist()])
        z = _skewed(scores._replace(variance=total))
        return scores, z, values[place].reshape(total.shape), math.sqrt(spread)

    def mute(self, aside: Flags, decided: Cells) -> dict[int, Mute]:
        """The judges whose discernment is nothing beside that of the others, or below nothing, where they
        `decided`: who calls a tie unless sure is harsh, and no coin."""
        fitted = slopes(decided, aside, self._seen(aside).strength, SPREADS)
        slope, error = fitted.value[:, 0], np.sqrt(fitted.inverse[:, 0, 0])
        asked = self.heard & (decided.games.sum(axis=(1, 2)) > 0)
        if asked.sum() < JUDGES:
            return {}
        highest = slope + 1.96 * error
        dull = asked & (highest < _DULL * float(np.median(slope[asked]))) & ~_partial(decided, fitted)
        return {at: "contrary" if highest[at] < 0 else "coin" for at in np.flatnonzero(dull).tolist()}

    def _seen(self, aside: Flags) -> View:
        self._view = others(self.cells, ~aside & self.heard[:, None], self._view)
        return self._view

    def _scores(self, aside: Flags) -> _Scores:
        view, n = self._seen(aside), self.tested.shape[1]
        fitted = slopes(self.cells, aside, view.strength, SPREADS)
        weight = self.cells.games * fitted.chance * (1 - fitted.chance)
        among = ~(aside[:, :, None] | aside[:, None, :])
        own = (weight * among).sum(axis=2)
        noise = (self._squares * ~aside).sum(axis=1) / np.maximum(own.sum(axis=1), 1e-9)
        noise = np.maximum(noise, 0.05)[:, None]
        versus = weight * ~aside[:, None, :]
        residual = (self.cells.points - self.cells.games * fitted.chance) * ~aside[:, None, :]
        with_own = _gaps(versus, fitted.columns)
        explained = with_own @ fitted.inverse
        lost = (explained * with_own).sum(axis=2)
        information = versus.sum(axis=2)
        # a pair that entered the judge's slope has drawn it towards itself; one set aside has not
        variance = noise * (information + np.where(aside, lost, -lost))
        steepness = fitted.value[:, :1] + 2 * fitted.value[:, 1:] * view.strength
        change = -versus
        change[:, range(n), range(n)] += information
        drawn = _gaps(weight * among, fitted.columns)
        change = (change - explained @ drawn.transpose(0, 2, 1)) * steepness[:, None, :]
        doubt = np.maximum(((change @ view.covariance) * change).sum(axis=2), 0.0)
        third = noise**2 * (versus * (1 - 2 * fitted.chance)).sum(axis=2)
        return _Scores(
            residual.sum(axis=2),
            np.maximum(np.where(aside, information, information - lost), 0.0),
            np.maximum(variance, 0.0) + doubt + 1e-12,
            third,
        )


def _partial(decided: Cells, fitted: Slopes) -> Flags:
    """The judges that take sides for some authors or against them, whatever their slope: what a coin gives
    each author scatters no more than chance does (Pearson's χ², at 99%; more where the median judge's does),
    and who prefers its kin is no coin."""
    games, chance = decided.games, fitted.chance
    left = (decided.points - games * chance).sum(axis=2)
    noise = (games * chance * (1 - chance)).sum(axis=2)
    known = (noise > 1e-9).sum(axis=1)
    squares = np.divide(left**2, noise, out=np.zeros_like(noise), where=noise > 1e-9).sum(axis=1)
    free = np.maximum(known - 2.0, 1.0)
    spread = 2 / (9 * free)  # of the cube root (Wilson, Hilferty 1931)
    most = (1 - spread + 2.33 * np.sqrt(spread)) ** 3
    ratio = squares * (1 - 1 / np.maximum(known, 2)) / free
    return np.asarray(
        ratio > most * max(1.0, float(np.median(ratio[known > 2])) if (known > 2).any() else 1.0)
    )


def _gaps(weight: Floats, columns: Floats) -> Floats:
    """How far each author is from the others by `columns`: weighted sums for each judge and author."""
    return np.asarray(weight.sum(axis=2)[:, :, None] * columns - weight @ columns)


def _critical(level: float, pairs: int) -> float:
    """The normal's two-sided critical value under Bonferroni's bound."""
    return _NORMAL.inv_cdf(1 - level / 2 / max(pairs, 1))


def _skewed(scores: _Scores) -> Floats:
    """Standardised scores, as normal as their third cumulant makes them."""
    z = scores.score / np.sqrt(scores.variance)
    skewness = np.clip(scores.third / scores.variance**1.5, -1, 1)
    normal = z - skewness * (z**2 - 1) / 6
    return np.where(np.sign(normal) == np.sign(z), normal, 0.0)


def _heterogeneity(scores: _Scores, kept: Flags, median: float) -> float:
    """The variance, in log-odds, at which the squared standardised scores have that median."""
    square, known = scores.score[kept] ** 2, scores.variance[kept]
    information = scores.information[kept] ** 2
    low, high = 0.0, 9.0
    if np.median(square / known) <= median:
        return 0.0
    for _ in range(40):
        middle = (low + high) / 2
        above = np.median(square / (known + middle * information)) > median
        low, high = (middle, high) if above else (low, middle)
    return high
