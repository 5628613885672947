"""The line-up: all matches of an arena in one order, those on record as they were folded, then the others.

A match's number is its name; its place in the line-up is where it was folded, counted from 1. Where no match
ever waited the two are the same. Otherwise the log tells the order: matches entered it as they were folded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import NamedTuple

from peerage.ledger.forms.log import WAITS, finished, of_play
from peerage.ledger.forms.rows import COPY, LedgerError
from peerage.ledger.stores.contract import END
from peerage.ledger.tables import StoredRows

MOST_OPEN = 10**7
"""More matches than that are never under way; a number beyond was not counted by us."""


class Order(NamedTuple):
    """All issued matches in order, the first `folded` on record, with places, by the log to a `position`."""

    folded: int
    numbers: Sequence[int]
    places: Mapping[int, int]
    position: int


class LineUp:
    """One reader's knowledge of the order; the log only grows, so it is read once."""

    def __init__(self, rows: StoredRows) -> None:
        self._rows = rows
        self._position = 0
        self._folded: dict[int, None] = {}
        self._order: Order | None = None
        self._lock = Lock()

    def order(self) -> Order | None:
        """Return the order as it is now; None where no match has waited."""
        with self._lock:
            if self._order is None and not self._rows.has_amendments(WAITS):
                return None
            for entry in self._rows.log(self._position):
                self._position = entry.position
                if number := finished(entry.about):
                    self._folded.setdefault(number)
            issued, _ = self._rows.newest()
            folded = len(self._folded)
            if issued > folded + MOST_OPEN:
                raise LedgerError(f"the table fixtures holds a match {issued}, which was never issued")
            known = self._order
            if known is None or (known.folded, len(known.numbers)) != (folded, max(folded, issued)):
                others = [number for number in range(1, issued + 1) if number not in self._folded]
                numbers = [*self._folded, *others]
                places = {number: place for place, number in enumerate(numbers, 1)}
                known = Order(folded, numbers, places, self._position)
            self._order = known._replace(position=self._position)
            return self._order

    def heads(self) -> tuple[int, int]:
        """Return the numbers of matches issued and folded."""
        newest, order = self._rows.newest(), self.order()
        return newest if order is None else (max(newest[0], len(order.numbers)), order.folded)

    def numbers(self, first: int, last: int | None) -> Sequence[int]:
        """The numbers of the matches at places first..last."""
        order = self.order()
        if order is None or (last is not None and last < 1):
            return range(first, END if last is None else last + 1)
        return order.numbers[max(first, 1) - 1 : last]

    def place(self, number: int) -> int:
        """The place of a match."""
        order = self.order()
        return number if order is None else order.places.get(number, number)


def in_play(rows: StoredRows, order: Order | None, folded: int) -> tuple[str, bytes]:
    """The log's entry about all that is in play behind the matches `folded`."""
    numbers = range(folded + 1, END) if order is None else order.numbers[folded:]
    return f"in play {folded}", of_play(rows.fixtures(numbers), rows.exchanges(numbers))


def changed_in_play(rows: StoredRows, order: Order | None, folded: int) -> bool:
    """Return whether anything behind the matches `folded` is not as it was when the last run ended. While a
    run goes on, or after one was killed, and in a copy without what is in play, no log says so."""
    last = rows.last_entry()
    if last is None or not last.about.startswith("in play ") or COPY in rows.facts():
        return False
    return in_play(rows, order, folded) != (last.about, last.digest)
