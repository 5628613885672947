"""Would a fault of the judges have been noticed? Known faults planted into an arena's own schedule.

Every vote on record is cast again by chance, by judges as discerning and players as strong as the record
says, in the same matches before the same panels: once as they are, once with a fault planted. What the
judges' report finds in either, and how far the ratings move, says what the arena could have noticed, with
what power, and what would have gone by. Two names for one player show how often a table of it claims a
difference that is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from peerage.judging import planted
from peerage.judging.planted import FEWEST_VOTES, NOTHING, Luck, Plant, Pool, Schedule, honest
from peerage.judging.simulation import Arena, Power, power
from peerage.judging.votes import Votes
from peerage.ratings.bradley_terry import BradleyTerry, fit_duels
from peerage.ratings.judges import counted, reliabilities
from peerage.ratings.kernels import Floats
from peerage.ratings.merging import coded
from peerage.ratings.rows import fit_covariates
from peerage.ratings.table import POINTS


def pool_of(votes: Votes) -> Pool:
    """The schedule of recorded votes, and who took part. Raises ValueError without votes."""
    if not votes.judges:
        raise ValueError("no votes are on record: there is nothing to audit")
    history = votes.history
    nobody = np.zeros((len(votes.judges), history.players), np.bool_)
    found, _ = reliabilities(counted(history, votes.judge, len(votes.judges)), nobody)
    match = coded(votes.matches)[1]
    pair = history.first, history.second
    schedule = Schedule(votes.players, votes.judges, *pair, votes.judge, match, votes.shown)
    return Pool(schedule, shrunk(fit_duels(history)), np.clip(found, 0.3, 2.0))


def shrunk(table: BradleyTerry) -> Floats:
    """The strengths of a table in log-odds, mean 0, drawn together by what of their spread is chance."""
    gap = (table.rating - table.rating.mean()) / POINTS
    spread, error = float(np.mean(gap**2)), float(np.mean((table.error / POINTS) ** 2))
    return np.asarray(gap * np.sqrt(max(0.0, 1 - error / spread)) if spread > 0 else gap)


def plants(pool: Pool) -> Iterator[Plant]:
    """The faults that can be planted into this arena."""
    s = pool.schedule
    cast_by = np.bincount(s.judge, minlength=len(s.judges))
    eligible = [at for at in np.argsort(cast_by, kind="stable").tolist() if cast_by[at] >= FEWEST_VOTES]
    yield NOTHING
    if eligible:
        one = eligible[len(eligible) // 2]
        for build in (planted.lazy, planted.random, planted.alike, planted.harsh):
            yield build(pool, [one], s.judges[one])
    of_many = (
        planted.position(pool),
        planted.friends(pool),
        planted.friends(pool, 0.5),
        planted.ring(pool),
    )
    yield from [plant for plant in of_many if plant is not None]


def audited(pool: Pool, seed: int, arenas: int) -> Iterator[Power]:
    """What each plant comes to in as many simulated arenas."""
    planned = list(plants(pool))
    found = [
        [arena.found(plant) for plant in planned]
        for arena in (Arena(pool, _luck(pool, seed, number)) for number in range(arenas))
    ]
    yield from (power(plant.about, of) for plant, of in zip(planned, zip(*found, strict=True), strict=True))
    twins = _twins(pool, seed, arenas)
    if twins is not None:
        yield twins


def _luck(pool: Pool, seed: int, arena: int) -> Luck:
    return Luck.of(np.random.default_rng([seed, arena]), pool.schedule.matches, len(pool.schedule.judge))


def _twins(pool: Pool, seed: int, arenas: int) -> Power | None:
    """The player of most matches under two names, each in half of them at random."""
    s = pool.schedule
    met = np.bincount(np.concatenate([s.first, s.second]), minlength=len(s.players))
    one, other = int(np.argmax(met)), len(s.players)
    if met[one] < 2 * FEWEST_VOTES:
        return None
    apart = 0
    for arena in range(arenas):
        votes = pool.votes(_luck(pool, seed, arena), honest(s))
        half = np.random.default_rng([seed, arena, 2]).random(s.matches)[s.match] < 0.5
        first, second = (np.where(half & (side == one), other, side) for side in (s.first, s.second))
        history = replace(votes.history, players=other + 1, first=first, second=second)
        table = fit_covariates(history, np.zeros((len(first), 0)), [], clusters=[s.match])
        apart += bool(table.above[one, other] or table.above[other, one])
    return Power(
        f"{s.players[one]} twice, under two names: told apart", None, apart / arenas, None, None, arenas
    )


def told(rows: Sequence[Power]) -> Iterator[str]:
    """What the figures come to, in words."""
    if all(row.moved is None for row in rows):
        yield f"Nothing was planted: no judge has {FEWEST_VOTES} votes yet, in all or on one other."
        return
    weak = [row.plant for row in rows if row.noticed is not None and row.noticed < 0.8]
    costly = [row.plant for row in rows if row.corrected is not None and abs(row.corrected) >= 10]
    if weak:
        yield f"Would often go unnoticed here: {'; '.join(weak)}."
    if costly:
        yield f"Would move ratings by 10 points or more even when corrected: {'; '.join(costly)}."
    if not weak and not costly:
        yield "Each of these faults would be noticed here, and corrected to within 10 points."
