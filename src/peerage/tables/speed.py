"""How long players take to answer: one definition for tables, pages and charts.

An answer is a reply that came to a request a player got as a contestant, usable or not; what it did as an
author, on a committee or as a judge does not count, as it does not in the price of a match.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple, TypeAlias

from peerage.ledger.codec import read_said
from peerage.ledger.codec_requests import read_form, read_shown
from peerage.ledger.store import Ledger
from peerage.tables.matches import lookup
from peerage.tables.played import EVERYTHING, Scope

NEWEST = 100
"""Of each player so many of its newest matches are timed."""
FEW = 10
"""With fewer answers than so many a speed is shown, but ranks nobody."""


Waits: TypeAlias = Mapping[str, Sequence[int]]
"""How long each player of a match that is timed in it took for its answers, in milliseconds."""


class Speed(NamedTuple):
    """The median time of a player's `answers`, in seconds."""

    seconds: float
    answers: int


def quantile(waits: Mapping[int, int], share: float) -> float | None:
    """The smallest wait, in seconds, that at least `share` of all do not exceed, None of none; `waits` counts
    them by milliseconds."""
    reached, needed = 0, math.ceil(share * sum(waits.values()))
    for wait, count in sorted(waits.items()):
        reached += count
        if reached >= needed:
            return wait / 1e3
    return None


def speeds_of(
    ledger: Ledger, last: int, scope: Scope = EVERYTHING, players: Collection[str] = ()
) -> dict[str, Speed]:
    """The speed of each of these players, or of everybody, in its `NEWEST` matches of a scope among the
    `last` finished ones; those without an answer are left out. Reads the requests and replies of these
    matches alone."""
    return speeds(newest_waits(ledger, last, scope, players))


def speeds(waits: Mapping[int, Waits]) -> dict[str, Speed]:
    """The speed of everybody who waited, over all these matches."""
    found: dict[str, Counter[int]] = {}
    for match in waits.values():
        for player, took in match.items():
            found.setdefault(player, Counter()).update(took)
    return {player: Speed(quantile(took, 0.5) or 0.0, took.total()) for player, took in found.items() if took}


def newest_waits(
    ledger: Ledger,
    last: int,
    scope: Scope = EVERYTHING,
    players: Collection[str] = (),
    known: Mapping[int, Waits] = {},
) -> dict[int, dict[str, list[int]]]:
    """What `speeds_of` rests on, by the number of the match. Matches are not read that are `known`: what the
    same was when fewer had finished."""
    timed = _newest(ledger, last, scope, frozenset(players))
    found = {
        number: {player: [*known.get(number, {}).get(player, ())] for player in mine}
        for number, (_, mine) in timed.items()
    }
    text, roles = lookup(ledger), dict[str, str]()
    for first, end in _ranges([place for number, (place, _) in timed.items() if number not in known]):
        for one in ledger.exchanges(first, end):
            if one.reply is None or one.player not in found[one.match]:
                continue
            asked, said = read_shown(one.request), read_said(one.reply)
            if asked is None or said.status == "void":
                continue
            if asked.form not in roles:
                roles[asked.form] = read_form(text(asked.form))[0]
            if roles[asked.form] == "contestant":
                found[one.match][one.player].append(one.latency_ms or 0)
    return found


def _newest(
    ledger: Ledger, last: int, scope: Scope, players: frozenset[str]
) -> dict[int, tuple[int, list[str]]]:
    """The matches to time, by number: the place of each, and who is timed in it."""
    found: dict[int, tuple[int, list[str]]] = {}
    seen: Counter[str] = Counter()
    for place, row in reversed([*enumerate(ledger.summaries(1, last), 1)]):
        if not scope.holds(row.game, row.topic):
            continue
        mine = [name for name in row.players if seen[name] < NEWEST and (not players or name in players)]
        if mine:
            seen.update(mine)
            found[row.number] = place, mine
    return dict(reversed(found.items()))


def _ranges(places: list[int]) -> Iterator[tuple[int, int]]:
    """The first and the last of places that follow one another."""
    for _, run in groupby(enumerate(places), lambda pair: pair[1] - pair[0]):
        found = [place for _, place in run]
        yield found[0], found[-1]
