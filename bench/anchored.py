"""Whether ratings anchored to people hold, where judges share a bias that no comparison between judges shows.

Five judges of each duel see its truth through noise, and all of them add a taste for some players that
people do not have; people judge a part of the duels, by chance, or rather those on which judges split.
Counted is how often 95% intervals hold the truth, and how wide they are next to those of people alone.
Usage: python -m bench.anchored [ARENAS]
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from peerage.ratings import prediction_powered
from peerage.ratings.bradley_terry import BradleyTerry
from peerage.ratings.history import duels
from peerage.ratings.kernels import Floats, Ints
from peerage.ratings.rows import fit_clustered
from peerage.ratings.soft_votes import calibrate
from peerage.ratings.table import POINTS
from peerage.tables.people_votes import strata

JUDGES = 5
SKILL = 150 / POINTS


class Arena(NamedTuple):
    """Duels between players of `truth` (log-odds, mean 0), the judges' votes on each, people's (NaN where
    nobody looked), and the stratum: 1 where the judges split."""

    truth: Floats
    first: Ints
    second: Ints
    votes: Floats
    people: Floats
    stratum: Ints

    @property
    def told_apart(self) -> Ints:
        """The strata that a table tells apart."""
        return strata(self.stratum, ~np.isnan(self.people))

    @property
    def soft(self) -> Floats:
        """The judges' votes as the probability that people agree."""
        duel, judge = np.divmod(np.arange(self.votes.size), self.votes.shape[1])
        return calibrate(duel, judge, self.votes.ravel(), self.people, self.votes.shape[1]).probability


def arena(
    rng: np.random.Generator,
    players: int,
    count: int,
    share: float,
    bias: float,
    noise: float,
    *,
    telling: bool,
) -> Arena:
    """One arena: `bias` is the spread of the taste that all judges share, `noise` that of each vote, in
    log-odds."""
    truth = rng.normal(0, SKILL, players)
    truth -= truth.mean()
    taste = rng.normal(0, bias, players)
    first = rng.integers(0, players, count)
    second = (first + rng.integers(1, players, count)) % players
    seen = truth[first] - truth[second] + rng.logistic(0, 1, count)
    judged = seen + taste[first] - taste[second] + rng.logistic(0, max(noise, 1e-9), (JUDGES, count))
    votes = np.where(np.abs(judged) < 0.2, 0.5, judged > 0).T
    split = (np.ptp(votes, axis=1) > 0) | (votes[:, 0] == 0.5)
    wanted = np.where(split, 3.0, 1.0) if telling else np.ones(count)
    looked = rng.random(count) < wanted / wanted.mean() * share
    people = np.where(looked, (seen > 0).astype(float), np.nan)
    return Arena(truth, first, second, votes, people, split.astype(np.int64))


def by_judges(one: Arena) -> BradleyTerry:
    """The table of the judges' votes alone."""
    duel = np.repeat(np.arange(len(one.first)), JUDGES)
    weight = np.full(len(duel), 1 / JUDGES)
    votes = duels(len(one.truth), one.first[duel], one.second[duel], one.votes.ravel(), weight)
    return fit_clustered(votes, duel)


class Found(NamedTuple):
    """Shares of 95% intervals that hold the truth, anchored, of people alone and of judges alone; the width
    of the first against the second, NaN where nothing is claimed; whether people's votes compared everybody
    without a prior."""

    anchored: float
    people: float
    judges: float
    width: float
    compared: bool


def found(one: Arena) -> Found:
    """What an arena's tables come to."""
    n = len(one.truth)
    history = duels(n, one.first, one.second, one.soft)
    powered = prediction_powered.fit(history, one.people, stratum=one.told_apart)
    alone = prediction_powered.fit(history, one.people, stratum=one.told_apart, trust=0.0)
    judged = by_judges(one)
    truth = 1500 + one.truth * POINTS

    def held(lower: Floats, upper: Floats) -> float:
        return float(((lower < truth) & (truth < upper)).mean()) if np.isfinite(lower).all() else np.nan

    wide = [float((upper - lower).mean()) for lower, upper in (powered.bounds, alone.bounds)]
    return Found(
        held(*powered.bounds),
        held(*alone.bounds),
        held(judged.lower, judged.upper),
        wide[0] / wide[1],
        powered.groups == 1,
    )


CASES = (
    ("judges of another taste", 0.6, 1.0),
    ("good judges", 0.0, 0.6),
    ("judges who toss coins", 0.0, 30.0),
)
SIZES = (
    (4, 100, 0.1),
    (4, 100, 0.3),
    (6, 200, 0.3),
    (8, 500, 0.1),
    (8, 500, 0.2),
    (10, 2_000, 0.1),
    (10, 2_000, 0.3),
)


COLUMNS = (
    "judges", "players", "duels", "annotated", "drawn", "judges alone", "people alone", "anchored", "width",
    "prior",
)  # fmt: skip


def main(arenas: int) -> None:
    print(f"| {' | '.join(COLUMNS)} |\n|---|--:|--:|--:|---|--:|--:|--:|--:|--:|")
    for name, bias, noise in CASES:
        for players, count, share in SIZES:
            for telling in (False, True):
                rows = []
                for seed in range(arenas):
                    rng = np.random.default_rng([players, count, int(100 * share), seed])
                    rows.append(found(arena(rng, players, count, share, bias, noise, telling=telling)))
                anchored, people, judges, width, compared = np.nanmean(rows, axis=0)
                told = [
                    name,
                    f"{players}",
                    f"{count:,}",
                    f"{share:.0%}",
                    "telling" if telling else "by chance",
                ]
                told += [f"{judges:.1%}", f"{people:.1%}", f"{anchored:.1%}", f"{width:.2f}"]
                print(f"| {' | '.join(told)} | {1 - compared:.0%} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
