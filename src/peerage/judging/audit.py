"""Would a fault of the judges have been noticed? Known faults planted into an arena's own schedule.

Every vote or score on record is given again by chance, by judges as discerning (and strict, and noisy) and
players as strong as the record says, in the same matches: once as they are, once with a fault planted. What
the judges' report finds in either, and how far the ratings move, says what the arena could have noticed, with
what power, and what would have gone by. Two names for one player show how often a table of it claims a
difference that is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from peerage.judging import planted, simulated_scores
from peerage.judging.planted import FEWEST_VOTES, NOTHING, Luck, Plant, Pool, Schedule
from peerage.judging.scored_pool import ScorePool
from peerage.judging.simulated_scores import ScorePlant
from peerage.judging.simulation import Chance, Judged, Planting, Power, SimulatedArena, power
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


def score_plants(pool: ScorePool) -> Iterator[ScorePlant]:
    """The faults that can be planted into a tournament of scores."""
    made, marks = pool.made, pool.made.marks
    given = np.bincount(marks.judge, minlength=len(marks.judges))
    eligible = [at for at in np.argsort(given, kind="stable").tolist() if given[at] >= FEWEST_VOTES]
    yield simulated_scores.NONE
    if not eligible:
        return
    one, leader = eligible[len(eligible) // 2], int(np.argmax(made.skill))
    for build in (simulated_scores.lazy, simulated_scores.random, simulated_scores.harsh):
        yield build(made, [one])
    other = next((at for at in eligible if marks.judges[at] != marks.authors[leader]), one)
    yield simulated_scores.favour(made, other, leader, points=-2.0)
    if marks.judges == marks.authors:
        shared = np.zeros((len(marks.judges), len(marks.judges)), np.int64)
        np.add.at(shared, (marks.judge, marks.author), 1)
        a, b = np.unravel_index(int(np.argmax(np.minimum(shared, shared.T))), shared.shape)
        for share in (1.0, 0.5):
            yield simulated_scores.friends(made, int(a), int(b), share=share)
    members = round(planted.RING * (len(marks.judges) - 1))
    if members > 1:
        yield simulated_scores.ring(made, members)


def audited(pool: Pool | ScorePool, seed: int, arenas: int) -> Iterator[Power]:
    """What each plant comes to in as many simulated arenas."""
    if isinstance(pool, ScorePool):
        chances = [pool.made.chances(rng) for rng in _draws(seed, arenas)]
        yield from _audited(pool, list(score_plants(pool)), chances, seed)
    else:
        yield from _audited(pool, list(plants(pool)), _lucks(pool, seed, arenas), seed)


def _draws(seed: int, arenas: int) -> list[np.random.Generator]:
    return [np.random.default_rng([seed, number]) for number in range(arenas)]


def _lucks(pool: Pool, seed: int, arenas: int) -> list[Luck]:
    s = pool.schedule
    return [Luck.of(rng, s.matches, len(s.judge)) for rng in _draws(seed, arenas)]


def _audited(
    pool: Judged[Chance, Planting], planned: Sequence[Planting], lucks: Sequence[Chance], seed: int
) -> Iterator[Power]:
    found = []
    for luck in lucks:
        arena: SimulatedArena[Chance, Planting] = SimulatedArena(pool, luck)
        found.append([arena.found(plant) for plant in planned])
    yield from (power(plant.about, of) for plant, of in zip(planned, zip(*found, strict=True), strict=True))
    twins = _twins(pool, lucks, seed)
    if twins is not None:
        yield twins


def _twins(pool: Judged[Chance, Planting], lucks: Sequence[Chance], seed: int) -> Power | None:
    """The player of most matches under two names, each in half of them at random."""
    apart = 0
    for number, luck in enumerate(lucks):
        votes = pool.under(luck, None)
        sides, match = (votes.history.first, votes.history.second), coded(votes.matches)[1]
        met = np.bincount(np.concatenate(sides), minlength=len(votes.players))
        one, other = int(np.argmax(met)), len(votes.players)
        if met[one] < 2 * FEWEST_VOTES:
            return None
        rng = np.random.default_rng([seed, number, 2])
        half = rng.random(int(match.max()) + 1)[match] < 0.5
        first, second = (np.where(half & (side == one), other, side) for side in sides)
        history = replace(votes.history, players=other + 1, first=first, second=second)
        table = fit_covariates(history, np.zeros((len(first), 0)), [], clusters=[match])
        apart += bool(table.above[one, other] or table.above[other, one])
    about = f"{votes.players[one]} twice, under two names: told apart"
    return Power(about, None, apart / len(lucks), None, None, len(lucks))


def in_words(rows: Sequence[Power]) -> Iterator[str]:
    """What the figures come to, in words."""
    if all(row.moved is None for row in rows):
        yield f"Nothing was planted: no judge gave {FEWEST_VOTES} votes or scores yet, or none on one other."
        return
    weak = [row.plant for row in rows if row.noticed is not None and row.noticed < 0.8]
    costly = [row.plant for row in rows if row.corrected is not None and abs(row.corrected) >= 10]
    if weak:
        yield f"Would often go unnoticed here: {'; '.join(weak)}."
    if costly:
        yield f"Would move ratings by 10 points or more even when corrected: {'; '.join(costly)}."
    if not weak and not costly:
        yield "Each of these faults would be noticed here, and corrected to within 10 points."
