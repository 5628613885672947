"""How rows of an SQL ledger are read in order: by the line-up of matches, and exchanges with all columns.

The line-up is all matches of an arena in one order, those on record as they were folded, then the others. A
match's number is its name; its place in the line-up is where it was folded, counted from 1. Where no match
ever waited the two are the same. Otherwise the log tells the order: matches entered it as they were folded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from threading import Lock
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, func, select

from peerage.ledger.log import finished
from peerage.ledger.sql_tables import ENTRIES, FAILURES, FIXTURES, INTENTS, LOG, REPLIES
from peerage.ledger.store import Exchange, Failure, LedgerError
from peerage.ledger.waits import TOPIC

BLOCK = 500
"""Rows that are read at once."""

MOST_OPEN = 10**7
"""More matches than that are never under way; a number beyond was not counted by us."""

Row = tuple[Any, ...]
Read = Callable[[Select[Any]], Iterable[Row]]


class Order(NamedTuple):
    """The numbers of all matches issued in order, the first `folded` of them on record, and their places."""

    folded: int
    numbers: Sequence[int]
    places: Mapping[int, int]


class LineUp:
    """What one reader knows of the order; the log only grows, so it is read once."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._position = 0
        self._folded: dict[int, None] = {}
        self._order: Order | None = None
        self._lock = Lock()

    def order(self) -> Order | None:
        """The order as it is now; None where no match ever waited."""
        said, entry = ENTRIES.c, LOG.c
        with self._lock:
            if self._order is None and not any(
                True for _ in self._read(select(said.position).where(said.topic == TOPIC).limit(1))
            ):
                return None
            newer = select(entry.position, entry.about).where(entry.position > self._position)
            for position, about in self._read(newer.order_by(entry.position)):
                self._position = position
                if number := finished(about):
                    self._folded.setdefault(number)
            issued = next(iter(self._read(select(func.coalesce(func.max(FIXTURES.c.number), 0)))))[0]
            folded = len(self._folded)
            if issued > folded + MOST_OPEN:
                raise LedgerError(f"the table fixtures holds a match {issued}, which was never issued")
            known = self._order
            if known is None or (known.folded, len(known.numbers)) != (folded, max(folded, issued)):
                others = [number for number in range(1, issued + 1) if number not in self._folded]
                numbers = [*self._folded, *others]
                places = {number: place for place, number in enumerate(numbers, 1)}
                self._order = Order(folded, numbers, places)
            return self._order

    def rows(self, wanted: Select[Any], first: int, last: int | None) -> Iterator[Row]:
        """Rows of the matches at places first..last; their first column is the match's number."""
        order = self.order()
        if order is None or (last is not None and last < 1):
            yield from self._read(wanted.where(span(wanted.selected_columns[0], first, last)))
        else:
            yield from in_order(self._read, wanted, order.numbers[max(first, 1) - 1 : last])


def span(column: ColumnElement[int], first: int, last: int | None) -> ColumnElement[bool]:
    """Numbers from `first` to `last`, or without an end."""
    return column >= first if last is None else column.between(first, last)


def in_order(read: Read, wanted: Select[Any], numbers: Sequence[int]) -> Iterator[Row]:
    """The rows of these matches, in this order; their first column is the match's number."""
    match = wanted.selected_columns[0]
    for at in range(0, len(numbers), BLOCK):
        block = numbers[at : at + BLOCK]
        places = {number: place for place, number in enumerate(block)}
        yield from sorted(read(wanted.where(match.in_(block))), key=lambda row: places[row[0]])


def attempts(read: Read, pick: Read, *, unanswered: bool = False) -> Iterator[Exchange]:
    """Every attempt in the matches that `pick` reads, by match and in order of writing."""
    i, r, f = INTENTS.c, REPLIES.c, FAILURES.c
    asked = (i.match, i.key, i.attempt, i.player, i.body, r.body, i.worst_nano, r.cost_nano)
    wanted = (
        select(*asked, i.id, i.checksum, r.id, r.checksum, r.at_ms)
        .select_from(INTENTS.outerjoin(REPLIES, r.intent == i.id))
        .order_by(i.match, i.key, i.attempt)
    )
    if unanswered:
        wanted = wanted.where(r.id.is_(None))
    # In the order of the index; sorting here spares the database a copy of every body.
    for _, found in groupby(pick(wanted), itemgetter(0)):
        rows = sorted(found, key=itemgetter(8))
        failures: dict[int, Failure] = {}
        if any(row[5] is None for row in rows):
            failed = select(f.intent, f.id, f.reason, f.cost_nano, f.at_ms).where(
                f.intent.between(rows[0][8], rows[-1][8])
            )
            failures = {row[0]: Failure(*row[1:]) for row in read(failed)}
        for row in rows:
            yield Exchange(*row, failures.get(row[8]))  # type: ignore[call-arg]
