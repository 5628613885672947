"""Time that players take to answer: one definition for tables, pages and charts.

An answer is a reply that came to a request a player got as a contestant, usable or not; what it did as an
author, on a committee or as a judge does not count, as it does not in the price of a match.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from peerage.ledger import Ledger
from peerage.ledger.forms.codec import read_said
from peerage.ledger.forms.codec_requests import read_form, read_shown
from peerage.ledger.topics.series import shown
from peerage.reading.matches import lookup
from peerage.reading.reading import Reading
from peerage.reading.scope import EVERYTHING, Scope

NEWEST = 100
"""Of each player so many of its newest matches are timed."""
FEW = 10
"""With fewer answers than so many a speed is shown, but ranks nobody."""


class Speed(NamedTuple):
    """The median time of a player's `answers`, in seconds."""

    seconds: float
    answers: int


def quantile(waits: Mapping[int, int], share: float) -> float | None:
    """The least wait, in seconds, that `share` do not exceed, None of none; `waits` counts milliseconds."""
    reached, needed = 0, math.ceil(share * sum(waits.values()))
    for wait, count in sorted(waits.items()):
        reached += count
        if reached >= needed:
            return wait / 1e3
    return None


def speeds_of(reading: Reading, scope: Scope = EVERYTHING, players: Collection[str] = ()) -> dict[str, Speed]:
    """The speed of each of these players, or of everybody, in its `NEWEST` matches of a scope among
    those that others may see; who has no answer is left out. Reads the requests and replies of these
    matches alone."""
    ledger = reading.moment
    timed = _newest(ledger, shown(ledger), scope, frozenset(players))
    waits: dict[str, Counter[int]] = {}
    text, roles = lookup(ledger), dict[str, str]()
    for first, end in _ranges([place for place, _ in timed.values()]):
        for row in ledger.exchanges(first, end):
            if row.reply is None or row.player not in timed[row.match][1]:
                continue
            asked, reply = read_shown(row.request), read_said(row.reply)
            if asked is None or reply.status == "void":
                continue
            if asked.form not in roles:
                roles[asked.form] = read_form(text(asked.form))[0]
            if roles[asked.form] == "contestant":
                waits.setdefault(row.player, Counter())[row.latency_ms or 0] += 1
    return {player: Speed(quantile(took, 0.5) or 0.0, took.total()) for player, took in waits.items()}


def _newest(
    ledger: Ledger, last: int, scope: Scope, players: frozenset[str]
) -> dict[int, tuple[int, list[str]]]:
    """The matches to time, by number: the place of each, and who is timed in it."""
    newest: dict[int, tuple[int, list[str]]] = {}
    seen: Counter[str] = Counter()
    for place, row in reversed([*enumerate(ledger.summaries(1, last), 1)]):
        if not scope.holds(row.game, row.topic):
            continue
        own = [name for name in row.players if seen[name] < NEWEST and (not players or name in players)]
        if own:
            seen.update(own)
            newest[row.number] = place, own
    return dict(reversed(newest.items()))


def _ranges(places: list[int]) -> Iterator[tuple[int, int]]:
    """The first and the last of places that follow one another."""
    for _, run in groupby(enumerate(places), lambda pair: pair[1] - pair[0]):
        run_places = [place for _, place in run]
        yield run_places[0], run_places[-1]
