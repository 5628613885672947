"""How rows of an SQL ledger are read: by numbers of matches, and attempts with all their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import ColumnElement, LargeBinary, Select, case, literal, select

from peerage.ledger.database import BLOCK, END, Row
from peerage.ledger.sql_tables import FAILURES, INTENTS, REPLIES
from peerage.ledger.store import Exchange, Failure

Read = Callable[[Select[Any]], Iterable[Row]]


_EMPTY = literal(b"", LargeBinary)
_REQUEST = case((REPLIES.c.id.is_(None), INTENTS.c.body), else_=_EMPTY).label("request")
_REPLY = case((REPLIES.c.id.is_not(None), _EMPTY)).label("reply")


def span(column: ColumnElement[int], matches: range) -> ColumnElement[bool]:
    """Numbers within a range, or without an end."""
    return column >= matches.start if matches.stop == END else column.between(matches.start, matches.stop - 1)


def picked(read: Read, wanted: Select[Any], matches: Sequence[int]) -> Iterator[Row]:
    """The rows of these matches, in their order; their first column is the match's number."""
    match = wanted.selected_columns[0]
    if isinstance(matches, range):
        yield from read(wanted.where(span(match, matches)))
        return
    for at in range(0, len(matches), BLOCK):
        block = matches[at : at + BLOCK]
        places = {number: place for place, number in enumerate(block)}
        yield from sorted(read(wanted.where(match.in_(block))), key=lambda row: places[row[0]])


def attempts(
    read: Read, matches: Sequence[int], *, unanswered: bool = False, bodies: bool = True
) -> Iterator[Exchange]:
    """Every attempt in the matches, by match and in order of writing; without `bodies` those of what was
    answered are empty."""
    i, r, f = INTENTS.c, REPLIES.c, FAILURES.c
    said = (i.body, r.body) if bodies else (_REQUEST, _REPLY)
    asked = (i.match, i.key, i.attempt, i.player, *said, i.worst_nano, r.cost_nano)
    wanted = (
        select(*asked, i.id, i.checksum, r.id, r.checksum, r.at_ms)
        .select_from(INTENTS.outerjoin(REPLIES, r.intent == i.id))
        .order_by(i.match, i.key, i.attempt)
    )
    if unanswered:
        wanted = wanted.where(r.id.is_(None))
    # In the order of the index; sorting here spares the database a copy of every body.
    for _, found in groupby(picked(read, wanted, matches), itemgetter(0)):
        rows = sorted(found, key=itemgetter(8))
        failures: dict[int, Failure] = {}
        if any(row[5] is None for row in rows):
            failed = select(f.intent, f.id, f.reason, f.cost_nano, f.at_ms).where(
                f.intent.between(rows[0][8], rows[-1][8])
            )
            failures = {row[0]: Failure(*row[1:]) for row in read(failed)}
        for row in rows:
            yield Exchange(*row, failures.get(row[8]))  # type: ignore[call-arg]
