"""A ledger as it stood after one of its records, whatever a runner has written since."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property, partial
from itertools import islice
from typing import Any, NoReturn, TypeVar

from peerage.ledger import (
    Amendment,
    Columns,
    Entry,
    Exchange,
    FixtureRow,
    Ledger,
    LedgerError,
    MatchRows,
    RecordRow,
    Summary,
)
from peerage.ledger.forms.columns import of_summaries
from peerage.ledger.forms.log import finished
from peerage.ledger.forms.rows import Attempts
from peerage.ledger.out.disclosure import disclosed, redacted
from peerage.ledger.topics.series import shown

T = TypeVar("T")


def public(ledger: Ledger) -> Ledger:
    """A ledger as others may see it now: without what came after the first match of a series still open."""
    number = shown(ledger)
    return ledger if number == ledger.heads()[1] else Moment(ledger, number)


class Moment(Ledger):
    """A ledger that ends with record `number`, to be read alone; what is sealed is redacted. The narrow table
    and the amendments on each topic are read once and kept: most of the numbers on every page come from them.
    `known` is the beginning of the table, where that was read before. `revealed` are the salts of what is
    shown all the same, by default those that the retirement of challenges disclosed."""

    def __init__(
        self,
        ledger: Ledger,
        number: int,
        known: Sequence[Summary] = (),
        revealed: Collection[str] | None = None,
    ) -> None:
        vars(self).update(vars(ledger))
        vars(self).pop("_shown", None)  # of another moment
        self.number = number
        self._ledger = ledger
        self._known = known
        self._revealed = revealed
        self._summaries: Sequence[Summary] | None = None
        self._amendments: dict[str, Sequence[Amendment]] = {}

    @cached_property
    def _shown(self) -> Callable[..., Any]:
        revealed = disclosed(self._ledger) if self._revealed is None else self._revealed
        return partial(redacted, revealed=revealed)

    @property
    def rows(self) -> Sequence[Summary]:
        """The narrow table as matches were folded. Raises LedgerError where rows are missing."""
        if self._summaries is None:
            known = self._known[: self.number]
            if known or not self.number:
                rows = [*known, *self._ledger.summaries(len(known) + 1, self.number)]
            else:  # to the end, where it is held against the log
                rows = list(self._ledger.summaries())[: self.number]
            if len(rows) != self.number or len({row.number for row in rows}) != self.number:
                raise LedgerError(
                    f"{self.address} lacks rows of its narrow table; `peerage verify` says more"
                )
            self._summaries, self._known = rows, ()
        return self._summaries

    def summaries(self, first: int = 1, last: int | None = None) -> Iterator[Summary]:
        if self._summaries is None and (last is not None or first > 1):  # a few of them
            return self._ledger.summaries(first, self._end(last))
        return islice(self.rows, max(first, 1) - 1, None if last is None else max(last, 0))

    def columns(self) -> Columns:
        return of_summaries(self.rows)

    def heads(self) -> tuple[int, int]:
        return self.number, self.number

    def match(self, number: int, *, exchanges: bool = True) -> MatchRows | None:
        stored = self._ledger.match(number, exchanges=exchanges)
        if stored is None or stored.record is None or self.place(number) > self.number:
            return None
        fixture, record = self._shown(stored.fixture), self._shown(stored.record)
        return MatchRows(fixture, record, list(map(self._shown, stored.exchanges)))

    def fixtures(self, first: int = 1, last: int | None = None) -> Iterator[FixtureRow]:
        return map(self._shown, self._ledger.fixtures(first, self._end(last)))

    def records(self, first: int = 1, last: int | None = None) -> Iterator[RecordRow]:
        return map(self._shown, self._ledger.records(first, self._end(last)))

    def exchanges(
        self, first: int, last: int | None = None, *, unanswered: bool = False
    ) -> Iterator[Exchange]:
        return map(self._shown, self._ledger.exchanges(first, self._end(last), unanswered=unanswered))

    def attempts(self, first: int, last: int | None = None) -> Iterator[Attempts]:
        for part in self._ledger.attempts(first, self._end(last)):
            yield Attempts.of(map(self._shown, part.rows()))

    def snapshot(self, at_most: int | None = None) -> tuple[int, bytes] | None:
        return self._ledger.snapshot(self._end(at_most))

    def snapshots(self) -> Iterator[tuple[int, bytes, bool]]:
        return (row for row in self._ledger.snapshots() if row[0] <= self.number)

    def log(self) -> Iterator[Entry]:
        seen = {0}
        for entry in self._ledger.log():
            seen.add(finished(entry.about))
            if len(seen) > self.number + 1:
                return
            yield entry

    def as_stored(self) -> Ledger:
        return Moment(self._ledger.as_stored(), self.number, self._known, self._revealed)

    def at_one_moment(self, work: Callable[[Ledger], T]) -> T:
        return self._ledger.at_one_moment(
            lambda then: work(Moment(then, self.number, self._known, self._revealed))
        )

    def spent_by(self, last: int | None = None, replies_of: Collection[str] | None = None) -> dict[str, int]:
        return self._ledger.spent_by(self._end(last), replies_of)

    def amendments(self, topic: str = "") -> Iterator[Amendment]:
        if not topic:
            return map(self._shown, self._ledger.amendments())
        if topic not in self._amendments:
            self._amendments[topic] = [*map(self._shown, self._ledger.amendments(topic))]
        return iter(self._amendments[topic])

    def runner(self) -> NoReturn:
        raise LedgerError("a moment of a ledger is only read")

    def _end(self, last: int | None) -> int:
        return self.number if last is None else min(last, self.number)
