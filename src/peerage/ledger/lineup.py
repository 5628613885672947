"""The line-up: all matches of an arena in one order, those on record as they were folded, then the others.

A match's number is its name; its place in the line-up is where it was folded, counted from 1. Where no match
ever waited the two are the same. Otherwise the log tells the order: matches entered it as they were folded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import Any

from sqlalchemy import Select, func, select

from peerage.ledger.log import finished
from peerage.ledger.store import LedgerError
from peerage.ledger.tables import ENTRIES, FIXTURES, LOG
from peerage.ledger.waits import TOPIC

MOST_OPEN = 10**7
"""More matches than that are never under way; a number beyond was not counted by us."""

Read = Callable[[Select[Any]], Iterable[Sequence[Any]]]


class LineUp:
    """What one reader knows of the order; the log only grows, so it is read once."""

    def __init__(self) -> None:
        self._position = 0
        self._folded: dict[int, None] = {}
        self._lock = Lock()

    def folded(self, read: Read) -> Sequence[int] | None:
        """The numbers of the matches on record, as they were folded; None where no match ever waited."""
        said, entry = ENTRIES.c, LOG.c
        if not any(True for _ in read(select(said.position).where(said.topic == TOPIC).limit(1))):
            return None
        with self._lock:
            newer = select(entry.position, entry.about).where(entry.position > self._position)
            for self._position, about in read(newer.order_by(entry.position)):
                if number := finished(about):
                    self._folded.setdefault(number)
            return list(self._folded)

    def whole(self, read: Read) -> Sequence[int] | None:
        """The numbers of all matches issued, in order; None where no match ever waited."""
        folded = self.folded(read)
        if folded is None:
            return None
        issued = next(iter(read(select(func.coalesce(func.max(FIXTURES.c.number), 0)))))[0]
        if issued > len(folded) + MOST_OPEN:
            raise LedgerError(f"the table fixtures holds a match {issued}, which was never issued")
        over = set(folded)
        return [*folded, *[number for number in range(1, issued + 1) if number not in over]]
