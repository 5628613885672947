"""How rows of an SQL ledger are read: by numbers of matches, and attempts with all their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby, starmap
from operator import itemgetter
from typing import Any

from peerage.ledger.database import BLOCK, END, Row
from peerage.ledger.sql_database import Query, among
from peerage.ledger.store import Exchange, Failure

Read = Callable[[Query], Iterable[Any]]
"""Gives the rows of a query."""

_ATTEMPTS = Query(
    (
        *("i.match", "i.key", "i.attempt", "i.player", "i.body", "r.body", "i.worst_nano", "r.cost_nano"),
        *("i.id", "i.checksum", "r.id", "r.checksum", "r.at_ms", "r.latency_ms"),
    ),
    "intents AS i LEFT JOIN replies AS r ON r.intent = i.id",
    order=("i.match", "i.key", "i.attempt"),
)
_WITHOUT_BODIES = _ATTEMPTS._replace(
    columns=(
        *_ATTEMPTS.columns[:4],
        "CASE WHEN r.id IS NULL THEN i.body ELSE ? END AS request",
        "CASE WHEN r.id IS NOT NULL THEN ? END AS reply",
        *_ATTEMPTS.columns[6:],
    ),
    values=(b"", b""),
)
_FAILED = Query(("intent", "id", "reason", "cost_nano", "at_ms"), "failures")


def within(wanted: Query, column: str, numbers: range) -> Query:
    """The rows whose numbers are in a range, or one without an end."""
    if numbers.stop == END:
        return wanted.where(f"{column} >= ?", numbers.start)
    return wanted.where(f"{column} BETWEEN ? AND ?", numbers.start, numbers.stop - 1)


def picked(read: Read, wanted: Query, matches: Sequence[int]) -> Iterable[Row]:
    """The rows of these matches, in their order; their first column is the match's number."""
    if isinstance(matches, range):
        return read(within(wanted, wanted.columns[0], matches))
    return _one_by_one(read, wanted, matches)


def _one_by_one(read: Read, wanted: Query, matches: Sequence[int]) -> Iterator[Row]:
    match = wanted.columns[0]
    for at in range(0, len(matches), BLOCK):
        block = matches[at : at + BLOCK]
        places = {number: place for place, number in enumerate(block)}
        yield from sorted(read(wanted.where(among(match, block), *block)), key=lambda row: places[row[0]])


def attempts(
    read: Read, matches: Sequence[int], *, unanswered: bool = False, bodies: bool = True
) -> Iterator[Exchange]:
    """Every attempt in the matches, by match and in order of writing; without `bodies` those of what was
    answered are empty."""
    wanted = _ATTEMPTS if bodies else _WITHOUT_BODIES
    if unanswered:
        wanted = wanted.where("r.id IS NULL")
    found = groupby(picked(read, wanted, matches), itemgetter(0))
    return chain.from_iterable(_of_match(read, rows) for _, rows in found)


def _of_match(read: Read, found: Iterable[Row]) -> Iterable[Exchange]:
    # They come in the order of the index; sorting here spares the database a copy of every body.
    rows = sorted(found, key=itemgetter(8))
    if None not in map(itemgetter(5), rows):
        return starmap(Exchange, rows)
    failed = within(_FAILED, "intent", range(rows[0][8], rows[-1][8] + 1))
    failures = {row[0]: Failure(*row[1:]) for row in read(failed)}
    return [Exchange(*row, failures.get(row[8])) for row in rows]  # type: ignore[call-arg]
