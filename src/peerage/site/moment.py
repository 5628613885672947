"""A ledger as it stood after one of its records, whatever a runner has written since."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property, partial
from itertools import islice
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

from peerage.accounts import Position, position, snapshot_body
from peerage.ledger.disclosure import disclosed, redacted
from peerage.ledger.store import (
    Amendment,
    Batch,
    Exchange,
    FixtureRow,
    Ledger,
    LedgerError,
    RecordRow,
    Summary,
    Unanswered,
)
from peerage.ratings.elo import EloSettings

STOPS = 20
"""Ratings are followed over so many moments at most."""

Row = TypeVar("Row")


class _Held(NamedTuple):
    """The rows of the matches first..last, in number order."""

    first: int
    last: int
    fixtures: list[FixtureRow]
    records: list[RecordRow]
    summaries: list[Summary]
    exchanges: list[Exchange]


class Moment:
    """A `Ledger` that ends with record `number`, to be read alone; what is sealed is redacted.

    The narrow table is read once and kept: from it come most of the numbers on every page. `known` is its
    beginning, where that was read before. `revealed` are the salts of what is shown all the same, by default
    those that the retirement of challenges disclosed.
    """

    def __init__(
        self,
        ledger: Ledger,
        number: int,
        known: Sequence[Summary] = (),
        revealed: Collection[str] | None = None,
    ) -> None:
        self.address = ledger.address
        self.number = number
        self._ledger = ledger
        self._known = known
        self._revealed = revealed
        self._summaries: Sequence[Summary] | None = None
        self._held: _Held | None = None
        self._snapshot: tuple[int, bytes] | None = None

    @cached_property
    def _shown(self) -> Callable[[Any], Any]:
        revealed = disclosed(self._ledger) if self._revealed is None else self._revealed
        return partial(redacted, revealed=revealed)

    @property
    def narrow(self) -> Sequence[Summary]:
        """The narrow table in number order, without gaps. Raises LedgerError where there is one."""
        if self._summaries is None:
            known = self._known[: self.number]
            rows = [*known, *self._ledger.summaries(len(known) + 1, self.number)] if self.number else []
            if len(rows) != self.number or any(row.number != due for due, row in enumerate(rows, start=1)):
                raise LedgerError(
                    f"{self.address} lacks rows of its narrow table; `peerage verify` says more"
                )
            self._summaries, self._known = rows, ()
        return self._summaries

    def hold(self, first: int, last: int) -> None:
        """Read these matches now and keep them, until others are held: many small readings of them come from
        there."""
        self._held = None
        self._held = _Held(
            first,
            self._end(last),
            list(self.fixtures(first, last)),
            list(self.records(first, last)),
            list(self.summaries(first, last)),
            list(self.exchanges(first, last)),
        )

    def _within(self, first: int, last: int | None) -> _Held | None:
        """What is held, if that is all of these matches."""
        held = self._held
        return held if held and held.first <= first and self._end(last) <= held.last else None

    def summaries(self, first: int = 1, last: int | None = None) -> Iterator[Summary]:
        if held := self._within(first, last):
            return _span(held.summaries, "number", first, self._end(last))
        if self._summaries is None and (last is not None or first > 1):  # a few of them
            return self._ledger.summaries(first, self._end(last))
        return islice(self.narrow, max(first, 1) - 1, None if last is None else max(last, 0))

    def heads(self) -> tuple[int, int]:
        return self.number, self.number

    def fixtures(self, first: int = 1, last: int | None = None) -> Iterator[FixtureRow]:
        if held := self._within(first, last):
            return _span(held.fixtures, "number", first, self._end(last))
        return map(self._shown, self._ledger.fixtures(first, self._end(last)))

    def records(self, first: int = 1, last: int | None = None) -> Iterator[RecordRow]:
        if held := self._within(first, last):
            return _span(held.records, "number", first, self._end(last))
        return map(self._shown, self._ledger.records(first, self._end(last)))

    def exchanges(self, first: int, last: int | None = None) -> Iterator[Exchange]:
        if held := self._within(first, last):
            return _span(held.exchanges, "match", first, self._end(last))
        return map(self._shown, self._ledger.exchanges(first, self._end(last)))

    def damaged(self, first: int, last: int | None = None) -> Iterator[tuple[int, str]]:
        return self._ledger.damaged(first, self._end(last))

    def snapshot(self, at_most: int | None = None) -> tuple[int, bytes] | None:
        if self._snapshot is not None and self._end(at_most) == self.number:
            return self._snapshot
        return self._ledger.snapshot(self._end(at_most))

    def position(self, elo: EloSettings) -> Position:
        """Where the arena stands at this moment. Folded once: from then on it is the newest snapshot that
        tables find here."""
        found = position(self, elo)
        if self._snapshot is None:
            self._snapshot = self.number, snapshot_body(*found)
        return found

    def unanswered(self, first: int) -> Iterator[Unanswered]:
        return (row for row in self._ledger.unanswered(first) if row.match <= self.number)

    def meta(self) -> Mapping[str, str]:
        return self._ledger.meta()

    def texts(self, digests: Iterable[bytes] | None = None) -> dict[bytes, str]:
        return self._ledger.texts(digests)

    def spent(self) -> tuple[int, int, int]:
        return self._ledger.spent()

    def spent_by(self) -> dict[str, int]:
        return self._ledger.spent_by()

    def amendments(self, stream: str) -> Iterator[Amendment]:
        return map(self._shown, self._ledger.amendments(stream))

    def streams(self) -> Sequence[str]:
        return self._ledger.streams()

    def stream_heads(self) -> Mapping[str, bytes]:
        return self._ledger.stream_heads()

    def close(self) -> None:
        self._ledger.close()

    def runner(self) -> AbstractContextManager[None]:
        raise LedgerError("a moment of a ledger is only read")

    def write(self, batch: Batch) -> None:
        raise LedgerError("a moment of a ledger is only read")

    def replace_summaries(self, summaries: Iterable[Summary]) -> None:
        raise LedgerError("a moment of a ledger is only read")

    def _end(self, last: int | None) -> int:
        return self.number if last is None else min(last, self.number)


def _span(rows: list[Row], number: str, first: int, last: int) -> Iterator[Row]:
    key = attrgetter(number)
    return islice(rows, bisect_left(rows, first, key=key), bisect_right(rows, last, key=key))


def stops(number: int) -> list[int]:
    """After which of `number` matches ratings are followed: round ones, which further matches leave be."""
    if not number:
        return []
    step = next(
        size * 10**zeros for zeros in range(20) for size in (1, 2, 5) if size * 10**zeros * STOPS > number
    )
    return list(range(step, number + 1, step))
