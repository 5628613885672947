"""Arenas that are simulated, in one process or several, and what they come to as rows: see
`judging.simulation`."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import msgspec
import numpy as np

from peerage.judging.audit import pool_of, shrunk
from peerage.judging.simulated_tournaments import SCORE_KINDS
from peerage.judging.simulation import KINDS, Found, Power, Results, Rounds, Setup, power, simulated
from peerage.ledger.store import Ledger
from peerage.parallel import Processes, in_order
from peerage.ratings.bradley_terry import fit_duels
from peerage.ratings.merging import coded
from peerage.scheduling import standing
from peerage.scheduling.policies import Policy
from peerage.scheduling.standing import History, Standing
from peerage.settings import ArenaSettings
from peerage.tables import Shown
from peerage.tables.played import PlayedMatches, Scope

Planted = tuple[str, int]
"""A plant by name, and how many take part, 0 for as many as usual."""
Arenas = Sequence[Sequence[Found | None]]
"""What simulated arenas of one setup came to: of each, the arena as it is and then plant by plant."""


class SimulatedRow(Shown, frozen=True):
    """What a `plant` (`kind` is its short name, empty for nothing) did to arenas of so many `players` and
    `matches`. `needed` matches bring the mean half-width of the 95% intervals, as the votes are, to the
    accuracy asked for; of a tournament that is one match of so many `questions`, `needed` are questions, and
    figures are in points of its scale. `usd` is what `matches` cost, `needed_usd` what those cost.
    All else is as in `audit`; None is what cannot be known."""

    players: int
    matches: int
    kind: str
    plant: str
    arenas: int
    held: float | None
    held_corrected: float | None
    moved: float | None
    corrected: float | None
    corrected_error: float | None
    noticed: float | None
    false_alarms: float | None
    tau: float | None
    tau_corrected: float | None
    half_width: float | None
    needed: int | None
    usd: float | None
    needed_usd: float | None
    questions: int | None = None


def simulate(
    setups: Sequence[Setup], plants: Sequence[Planted], arenas: int, workers: int
) -> Generator[tuple[int, list[Found | None]], None, None]:
    """The place of a setup in `setups` and what one of its arenas comes to, the arenas of each one after the
    other; the same for any number of `workers`."""
    tasks = [(at, number) for at in range(len(setups)) for number in range(arenas)]
    one = partial(_one, tuple(setups), tuple(plants))
    if workers < 2:
        yield from map(one, tasks)
        return
    with Processes(workers) as helpers:
        yield from in_order(helpers, one, [(task,) for task in tasks])


def _one(
    setups: Sequence[Setup], plants: Sequence[Planted], task: tuple[int, int]
) -> tuple[int, list[Found | None]]:
    at, number = task
    return at, simulated(setups[at], plants, number, paired_rounds)


def paired_rounds(setup: Setup) -> Rounds:
    """Pairing as arenas do it."""
    history, results = History(), standing.Results()
    policy = Policy(setup.pairing, setup.width, setup.places)

    def pairs(ratings: Sequence[float], ended: Results, lot: str) -> list[tuple[int, int]]:
        for a, b, score in ended:
            results.note((str(a), str(b)), (score, 1 - score))
        standings = [Standing(str(at), str(at), one, one) for at, one in enumerate(ratings)]
        found = policy.pair(standings, history, results, lot)
        for both in found:
            history.remember(both)
        return [(int(a), int(b)) for a, b in found]

    return pairs


def rows(
    setup: Setup, plants: Sequence[Planted], found: Arenas, accuracy: float, usd_per_match: float | None
) -> Iterator[SimulatedRow]:
    """What arenas of one setup come to, the first row without a plant; `accuracy` is in points."""
    kinds = SCORE_KINDS if setup.questions else KINDS
    named = [("", "nothing"), *[(kind, kinds[kind].in_words(count, setup.players)) for kind, count in plants]]
    for place, (kind, about) in enumerate(named if not setup.seats else named[:1]):
        known = [one for arena in found if (one := arena[place]) is not None]
        if known:
            yield _row(setup, kind, power(about, known), accuracy, usd_per_match)


def _row(setup: Setup, kind: str, of: Power, accuracy: float, usd_per_match: float | None) -> SimulatedRow:
    needed = None
    if of.half_width is not None:
        needed = math.ceil((setup.questions or setup.matches) * (of.half_width / accuracy) ** 2)
    cost = [
        None if usd_per_match is None or count is None else count * usd_per_match
        for count in (setup.questions or setup.matches, needed)
    ]
    return SimulatedRow(
        players=setup.players,
        matches=setup.matches,
        kind=kind,
        plant=of.plant,
        arenas=of.arenas,
        held=of.held,
        held_corrected=of.held_corrected,
        moved=of.moved,
        corrected=of.corrected,
        corrected_error=of.corrected_error,
        noticed=of.noticed,
        false_alarms=None if setup.seats else of.false_alarms,
        tau=of.tau,
        tau_corrected=of.tau_corrected,
        half_width=of.half_width,
        needed=needed,
        usd=cost[0],
        needed_usd=cost[1],
        questions=setup.questions or None,
    )


class Own(NamedTuple):
    """An arena as a setup, and what one of its matches cost on average, None where nobody knows."""

    setup: Setup
    usd_per_match: float | None


def own(ledger: Ledger, settings: ArenaSettings, seed: int = 0) -> Own:
    """An arena's players with the strengths and discernment that its record says, chance taken away, its
    panels or tables, its pairing and its costs."""
    played = PlayedMatches(ledger, Scope())
    votes = played.votes()
    policy = settings.pairing.policy
    setup = Setup(
        len(settings.players),
        max(len(played.decided), 1),
        pairing="order" if policy == "place" else policy,
        k=settings.rating.k_factor,
        width=settings.pairing.width,
        places=settings.pairing.top or 1,
        seed=seed,
    )
    spent = [one.spent_nano / 1e9 for one in played.finished]
    usd = sum(spent) / len(spent) if spent else None
    if votes.judges:
        pool = pool_of(votes)
        judges = dict(zip(pool.schedule.judges, pool.discernment.tolist(), strict=True))
        ballots = np.bincount(coded(votes.matches)[1])
        setup = msgspec.structs.replace(
            setup,
            players=len(votes.players),
            panel=int(np.median(ballots)),
            once=bool(votes.shown.any()),
            skills=tuple(pool.skill.tolist()),
            discernment=tuple([judges.get(name, 1.0) for name in votes.players]),
        )
    elif played.decided:
        table = fit_duels(played.history)
        seats = int(np.median([len(one.players) for one in played.decided]))
        setup = msgspec.structs.replace(
            setup, players=len(played.players), seats=max(seats, 2), skills=tuple(shrunk(table).tolist())
        )
    return Own(setup, usd)
