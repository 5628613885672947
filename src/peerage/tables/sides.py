"""Players rated apart by the side that they were on: as wolves, and as villagers too.

A match counts whole, since who lost to whom matters: everybody in it stands for a player on a side, all of
these are rated together, and a table shows those of one side.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import replace
from typing import Any, TypeVar

import msgspec
import numpy as np

from peerage.games import installed
from peerage.games.game import GameSpec
from peerage.ledger.codec import read_fixture, read_record
from peerage.ledger.store import Ledger, LedgerError, Summary
from peerage.match import Fixture, Seat, rated
from peerage.tables.matches import lookup
from peerage.tables.played import PlayedMatches, known
from peerage.tables.rated import Ratings

_ELSEWHERE = "\0"
"""Parts the name of a player from the side it was on, where that is not the one asked for."""
Value = TypeVar("Value")


def sides_of(games: Iterable[str]) -> tuple[str, ...]:
    """The sides that there are in some games."""
    specs = [spec for name in games if (spec := installed(name)) is not None]
    return tuple(dict.fromkeys([side for spec in specs for side in spec.sides]))


def by_side(ledger: Ledger, played: PlayedMatches, side: str) -> PlayedMatches:
    """The matches of games that have this side, where everybody on another stands for somebody else. Raises
    ScopeError when no match has it."""
    known("side", side, sides_of(played.games))
    specs: dict[str, GameSpec[Any]] = {
        name: spec
        for name in {one.game for one in played.finished}
        if (spec := installed(name)) is not None and side in spec.sides
    }
    found = copy(played)
    found.finished = [one for one in played.finished if one.game in specs]
    wanted = {one.number: one for one in found.finished}
    texts = lookup(ledger)
    again: dict[int, Summary] = {}
    for row in ledger.fixtures():
        if summary := wanted.get(row.number):
            fixture = read_fixture(row.body, texts)
            on = [specs[fixture.game].side(fixture, seat.label) for seat in fixture.seats]
            if fixture.slots:
                again[row.number] = _seat_by_seat(ledger, summary, fixture, on, side)
                continue
            names = _named(summary.players, fixture.seats, on, side)
            again[row.number] = msgspec.structs.replace(summary, players=names)
    return found.instead(again, frozenset())


def _seat_by_seat(
    ledger: Ledger, summary: Summary, fixture: Fixture, on: Iterable[str], side: str
) -> Summary:
    """A match in which somebody holds several seats: those on one side count together."""
    rows = ledger.match(summary.number, exchanges=False)
    if rows is None or rows.record is None:
        raise LedgerError(f"{ledger.address} lacks match {summary.number}; `peerage verify` says more")
    outcome = read_record(rows.record.body).outcome
    seats = [
        (seat.label, seat.player if its == side else f"{seat.player}{_ELSEWHERE}{its}")
        for seat, its in zip(fixture.seats, on, strict=True)
    ]
    found = rated(seats, fixture.slots, outcome.void, outcome.scores, outcome.costs)
    return msgspec.structs.replace(
        summary, players=found.players, scores=found.scores, costs=found.costs, raw=(), cost_elo=()
    )


def _named(players: Iterable[str], seats: Iterable[Seat], on: Iterable[str], side: str) -> tuple[str, ...]:
    """The players of a match, which are those of its seats in order but for the unranked, told apart."""
    left = iter(zip(seats, on, strict=True))
    where = [next(its for seat, its in left if seat.player == player) for player in players]
    named = zip(players, where, strict=True)
    return tuple([player if its == side else f"{player}{_ELSEWHERE}{its}" for player, its in named])


def here(found: Mapping[str, Value]) -> dict[str, Value]:
    """What is known of players on the side asked for."""
    return {name: value for name, value in found.items() if _ELSEWHERE not in name}


def on_side(rated: Ratings) -> Ratings:
    """The ratings of those on the side asked for, rated together with the others."""
    kept = [at for at, name in enumerate(rated.players) if _ELSEWHERE not in name]

    def some(values: Any) -> Any:
        return None if values is None else np.asarray(values)[kept]

    return replace(
        rated,
        players=tuple([rated.players[at] for at in kept]),
        rating=some(rated.rating),
        error=some(rated.error),
        apart=lambda: rated.above[np.ix_(kept, kept)],
        mu=some(rated.mu),
        sigma=some(rated.sigma),
        center=some(rated.center),
    )
