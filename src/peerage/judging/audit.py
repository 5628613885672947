"""Would a fault of the judges have been noticed? Known faults planted into an arena's own schedule.

Every vote on record is cast again by chance, by judges as discerning and players as strong as the record
says, in the same matches before the same panels: once as they are, once with a fault planted. What the
judges' report finds in either, and how far the ratings move, says what the arena could have noticed, with
what power, and what would have gone by. Two names for one player show how often a table of it claims a
difference that is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from peerage.judging.corrections import CORRECTIONS, Recorded, corrected
from peerage.judging.favours import favours
from peerage.judging.marks import of_votes
from peerage.judging.planted import Fault, Schedule, cast, honest
from peerage.ratings.bradley_terry import fit_duels
from peerage.ratings.judges import counted, reliabilities
from peerage.ratings.kernels import Floats, Ints
from peerage.ratings.rows import fit_covariates
from peerage.ratings.table import POINTS

FEWEST_VOTES = 20
"""Votes that a judge must have cast, and pairs must have shared, for a fault to be planted there."""
_RING = 0.4
_WANTED = tuple([one for one in CORRECTIONS if one != "style"])

Pairs = frozenset[tuple[str, str]]


class Plant(NamedTuple):
    """A fault, in words; the `fault` itself, given 0 to 1 for each vote at random, None for none; the
    `judges`, or `pairs` of judge and author, one of whom is named when it is noticed; and `whom` it moves, by
    number, empty for everybody."""

    about: str
    fault: Callable[[Floats], Fault] | None
    judges: frozenset[str] = frozenset()
    pairs: Pairs = frozenset()
    whom: tuple[int, ...] = ()


class Power(Struct, frozen=True):
    """What came of a `plant` in `arenas` simulated ones: the share in which somebody guilty was named, None
    where nobody can be, and that in which somebody innocent was; by how many points it moved those it is
    about (everybody: mean distance), as the votes are and corrected, None where nothing was planted."""

    plant: str
    noticed: float | None
    false_alarms: float
    moved: float | None
    corrected: float | None
    arenas: int


@dataclass(frozen=True, eq=False)
class Pool:
    """What an arena's record says of its players and judges: strengths and discernment, noise shrunk away."""

    schedule: Schedule
    skill: Floats
    discernment: Floats


def pool_of(votes: Recorded) -> Pool:
    """The schedule of recorded votes, and who took part. Raises ValueError without votes."""
    if not votes.judges:
        raise ValueError("no votes are on record: there is nothing to audit")
    history = votes.history
    names, judge = np.unique(np.asarray(votes.judges, np.str_), return_inverse=True)
    _, match = np.unique(np.asarray(votes.matches, np.int64), return_inverse=True)
    table = fit_duels(history)
    gap = (table.rating - table.rating.mean()) / POINTS
    spread, error = float(np.mean(gap**2)), float(np.mean((table.error / POINTS) ** 2))
    nobody = np.zeros((len(names), history.players), np.bool_)
    found, _ = reliabilities(counted(history, judge, len(names)), nobody)
    schedule = Schedule(
        votes.players,
        tuple(names.tolist()),
        history.first,
        history.second,
        judge.astype(np.int64),
        match.astype(np.int64),
        np.asarray(votes.shown, np.int64),
    )
    shrunk = np.sqrt(max(0.0, 1 - error / spread)) if spread > 0 else 0.0
    return Pool(schedule, gap * shrunk, np.clip(found, 0.3, 2.0))


def plants(pool: Pool) -> Iterator[Plant]:
    """The faults that can be planted into this arena."""
    s, clean = pool.schedule, honest(pool.schedule)
    cast_by = np.bincount(s.judge, minlength=len(s.judges))
    eligible = [at for at in np.argsort(cast_by, kind="stable").tolist() if cast_by[at] >= FEWEST_VOTES]
    yield Plant("nothing", None)
    if eligible:
        one = eligible[len(eligible) // 2]
        here, name = np.arange(len(s.judges)) == one, s.judges[one]
        named = frozenset([name])
        yield Plant(
            f"{name} picks the answer shown first",
            lambda sold: replace(clean, first_shown=99.0 * here),
            named,
        )
        yield Plant(f"{name} tosses a coin", lambda sold: replace(clean, coin=here), named)
        yield Plant(f"{name} finds all answers alike", lambda sold: replace(clean, alike=here), named)
    if s.shown.any():
        lean = np.full(len(s.judges), 1.0)
        yield Plant(
            "all judges lean to the answer shown first", lambda sold: replace(clean, first_shown=lean)
        )
    yield from _friends(pool, clean)
    leader = int(np.argmax(pool.skill))
    about = (s.first == leader) | (s.second == leader)
    on_leader = np.bincount(s.judge[about], minlength=len(s.judges))
    rivals = [at for at in eligible if on_leader[at] >= FEWEST_VOTES and s.judges[at] != s.players[leader]]
    ring = rivals[: int(_RING * len(rivals))]
    if len(ring) > 1:
        down = np.isin(s.judge, ring) * ((s.second == leader) * 1 - (s.first == leader))
        yield Plant(
            f"{len(ring)} of {len(rivals)} judges always vote against {s.players[leader]}",
            lambda sold: replace(clean, always=down),
            pairs=frozenset([(s.judges[at], s.players[leader]) for at in ring]),
            whom=(leader,),
        )


def _friends(pool: Pool, clean: Fault) -> Iterator[Plant]:
    """The two players that judged each other most."""
    s = pool.schedule
    number = {name: at for at, name in enumerate(s.players)}
    judged = np.zeros((len(s.judges), len(s.players)), np.int64)
    np.add.at(judged, (s.judge, s.first), 1)
    np.add.at(judged, (s.judge, s.second), 1)
    both = [
        (min(judged[i, number[b]], judged[j, number[a]]), i, j)
        for i, a in enumerate(s.judges)
        for j, b in enumerate(s.judges)
        if i < j and a in number and b in number
    ]
    shared, i, j = max(both, default=(0, 0, 0))
    if shared < FEWEST_VOTES:
        return
    a, b = s.judges[i], s.judges[j]

    def bought(share: float, sold: Floats) -> Fault:
        always: Ints = np.zeros(len(s.judge), np.int64)
        for judge, ally in ((i, number[b]), (j, number[a])):
            always += ((s.judge == judge) & (sold < share)) * ((s.first == ally) * 1 - (s.second == ally))
        return replace(clean, always=always)

    named, whom = frozenset([(a, b), (b, a)]), (number[a], number[b])
    yield Plant(
        f"{a} and {b} always vote for each other", lambda sold: bought(1.0, sold), pairs=named, whom=whom
    )
    yield Plant("the same, in half of their votes", lambda sold: bought(0.5, sold), pairs=named, whom=whom)


def audited(pool: Pool, seed: int, arenas: int) -> Iterator[Power]:
    """What each plant comes to in as many simulated arenas, one after another."""
    yield from (_power(pool, one, seed, arenas) for one in plants(pool))
    twins = _twins(pool, seed, arenas)
    if twins is not None:
        yield twins


def _power(pool: Pool, plant: Plant, seed: int, arenas: int) -> Power:
    noticed = alarms = 0
    moved: list[tuple[float, float]] = []
    clean = honest(pool.schedule)
    for arena in range(arenas):
        sold = np.random.default_rng([seed, arena, 1]).random(len(pool.schedule.judge))
        dirty = _votes(pool, seed, arena, plant.fault(sold) if plant.fault else clean)
        judges, pairs = _named(dirty)
        noticed += bool(judges & plant.judges or pairs & plant.pairs)
        alarms += bool(judges - plant.judges or pairs - plant.pairs)
        if plant.fault is not None:
            with_it = corrected(dirty, _WANTED)
            without = corrected(_votes(pool, seed, arena, clean), _WANTED)
            shift = with_it.before.rating - without.before.rating
            left = with_it.after.rating - without.after.rating
            if plant.whom:
                moved.append((float(shift[list(plant.whom)].mean()), float(left[list(plant.whom)].mean())))
            else:
                moved.append((float(np.abs(shift).mean()), float(np.abs(left).mean())))
    found = noticed / arenas if plant.judges or plant.pairs else None
    before, after = np.mean(moved, axis=0).tolist() if moved else (None, None)
    return Power(plant.about, found, alarms / arenas, before, after, arenas)


def _votes(pool: Pool, seed: int, arena: int, fault: Fault) -> Recorded:
    rng = np.random.default_rng([seed, arena])
    return pool.schedule.recorded(cast(rng, pool.schedule, pool.skill, pool.discernment, fault))


def _named(votes: Recorded) -> tuple[frozenset[str], Pairs]:
    """The judges whose votes are found to say nothing, and the pairs found guilty of favour."""
    examined = favours(of_votes(votes.players, votes.history, votes.judges, votes.matches))
    pairs = frozenset([(pair.judge, pair.author) for pair in examined.favours if pair.found])
    return frozenset(examined.mute), pairs


def _twins(pool: Pool, seed: int, arenas: int) -> Power | None:
    """The player of most matches under two names, each in half of them at random."""
    s = pool.schedule
    met = np.bincount(np.concatenate([s.first, s.second]), minlength=len(s.players))
    one, other = int(np.argmax(met)), len(s.players)
    if met[one] < 2 * FEWEST_VOTES:
        return None
    apart = 0
    for arena in range(arenas):
        votes = _votes(pool, seed, arena, honest(s))
        half = np.random.default_rng([seed, arena, 2]).random(int(s.match.max()) + 1)[s.match] < 0.5
        first, second = (np.where(half & (side == one), other, side) for side in (s.first, s.second))
        history = replace(votes.history, players=other + 1, first=first, second=second)
        table = fit_covariates(history, np.zeros((len(first), 0)), [], clusters=[s.match])
        apart += bool(table.above[one, other] or table.above[other, one])
    return Power(
        f"{s.players[one]} twice, under two names: told apart", None, apart / arenas, None, None, arenas
    )


def told(rows: Sequence[Power]) -> Iterator[str]:
    """What the figures come to, in words."""
    weak = [row.plant for row in rows if row.noticed is not None and row.noticed < 0.8]
    costly = [row.plant for row in rows if row.corrected is not None and abs(row.corrected) >= 10]
    if weak:
        yield f"Would often go unnoticed here: {'; '.join(weak)}."
    if costly:
        yield f"Would move ratings by 10 points or more even when corrected: {'; '.join(costly)}."
    if not weak and not costly:
        yield "Each of these faults would be noticed here, and corrected to within 10 points."
