"""Votes as judges of known skill and known faults would cast them: what detectors are measured with.

    log-odds of judge j for a over b = g_j (s_a - s_b + noise of the match) + what sways it

Who meets whom, who judges and what was shown first stand in a `Schedule`, drawn or recorded. Used by
`peerage audit` on an arena's own schedule, and by `bench/biases.py` on drawn ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from peerage.judging.corrections import Recorded
from peerage.judging.marks import Flags
from peerage.ratings.history import duels
from peerage.ratings.kernels import Floats, Ints

NOISE = 0.5
"""Standard deviation, in log-odds, by which answers are better or worse than their authors."""
_CERTAIN = 99.0


@dataclass(frozen=True, eq=False)
class Schedule:
    """Who votes on whose answers, one element a vote: `first` and `second` number `players`, `judge` numbers
    `judges`, `match` the matches from 0. `shown` is 1 where the first player's answer alone was shown first,
    -1 where the second's was, 0 where the judge saw both orders."""

    players: tuple[str, ...]
    judges: tuple[str, ...]
    first: Ints
    second: Ints
    judge: Ints
    match: Ints
    shown: Ints

    def recorded(self, score: Floats) -> Recorded:
        """These votes with the first player's points; those of a match weigh as one match."""
        weight = 1 / np.bincount(self.match)[self.match]
        history = duels(len(self.players), self.first, self.second, score, weight)
        named = [self.judges[at] for at in self.judge.tolist()]
        return Recorded(self.players, history, named, self.match.tolist(), self.shown.tolist())


@dataclass(frozen=True, eq=False)
class Fault:
    """What sways judges. `towards`: log-odds added to each vote for its first player. `always`: 1 where a
    vote goes to the first player, -1 where to the second, whatever they wrote, 0 where it is honest.
    `first_shown`: each judge's lean, in log-odds, to the answer shown first. `coin` and `alike`: judges
    who toss a coin, and who find all answers alike."""

    towards: Floats
    always: Ints
    first_shown: Floats
    coin: Flags
    alike: Flags


def honest(schedule: Schedule) -> Fault:
    """No fault at all."""
    votes, judges = len(schedule.first), len(schedule.judges)
    nobody = np.zeros(judges, np.bool_)
    return Fault(np.zeros(votes), np.zeros(votes, np.int64), np.zeros(judges), nobody, nobody)


def cast(
    rng: np.random.Generator, schedule: Schedule, skill: Floats, discernment: Floats, fault: Fault
) -> Floats:
    """Points that each vote gives its first player: 1, ½ or 0; in both orders the mean of two verdicts.
    `skill` of the players is in log-odds for a judge of `discernment` 1. All chances are drawn alike whatever
    the fault, so that two calls with equal generators differ by the fault alone."""
    a, b, judge = schedule.first, schedule.second, schedule.judge
    noise = rng.normal(0, NOISE, int(schedule.match.max(initial=-1)) + 1)[schedule.match]
    drawn = rng.random((2, len(a)))
    gap = discernment[judge] * ~fault.coin[judge] * (skill[a] - skill[b] + noise)
    gap = np.where(fault.always == 0, gap + fault.towards, _CERTAIN * fault.always)
    orders = np.array([[1.0], [-1.0]])
    said = drawn < 1 / (1 + np.exp(-gap - orders * fault.first_shown[judge]))
    score = np.where(schedule.shown == 0, said.mean(axis=0), np.where(schedule.shown > 0, said[0], said[1]))
    return np.asarray(np.where(fault.alike[judge], 0.5, score))
