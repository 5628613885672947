"""The matches in which players took one side, such as attack or defence, of games that have sides."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any

import msgspec

from peerage.game.match import rated
from peerage.game.spec import GameSpec
from peerage.games import installed
from peerage.ledger import Summary
from peerage.reading.results.played import PlayedMatches, known
from peerage.reading.rows import whole_of

ELSEWHERE = "\0"
"""Parts the name of a player from the side it was on, where that is not the one asked for."""


def sides_of(games: Iterable[str]) -> tuple[str, ...]:
    """The sides that there are in some games."""
    specs = [spec for name in games if (spec := installed(name)) is not None]
    return tuple(dict.fromkeys([side for spec in specs for side in spec.seating.sides]))


def by_side(played: PlayedMatches, side: str) -> PlayedMatches:
    """The matches of games that have this side, where everybody on another stands for somebody else: so a
    match counts whole. Raises ScopeError when no match has it."""
    known("side", side, sides_of(played.games))
    specs: dict[str, GameSpec[Any]] = {
        name: spec
        for name in {match.game for match in played.finished}
        if (spec := installed(name)) is not None and side in spec.seating.sides
    }
    ours = copy(played)
    ours.finished = [match for match in played.finished if match.game in specs]
    wanted = {match.number: match for match in ours.finished}
    again: dict[int, Summary] = {}
    for fixture, outcome in whole_of(played.ledger, wanted):
        seats = [
            (seat.label, seat.player if on == side else f"{seat.player}{ELSEWHERE}{on}")
            for seat in fixture.seats
            for on in [specs[fixture.game].seating.side(fixture, seat.label)]
        ]
        result = rated(seats, outcome.void, outcome.scores, outcome.costs)
        again[fixture.number] = msgspec.structs.replace(
            wanted[fixture.number],
            players=result.players,
            scores=result.scores,
            costs=result.costs,
            raw=(),
            cost_elo=(),
        )
    return ours.instead(again, frozenset())
