"""Series on record, and how much of a ledger others may see while one of them goes on.

The matches of a series share a task, or roles that follow from each other, so what one came to tells what the
next ones hide. Others are therefore shown a ledger that ends before the first match of a series still open:
no page, no table, no export of theirs holds anything that came after.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from peerage.ledger.store import FixtureRow, Ledger

SERIES = "series"
"""The fact that says what the series of an arena are; in a ledger without it there are none."""


class _Light(msgspec.Struct):
    """The little of a fixture that tells of its series."""

    number: int
    series: int = 0


_read = msgspec.json.Decoder(_Light).decode


def series_of(ledger: Ledger, first: int = 1, last: int | None = None) -> dict[int, int]:
    """The first match of each match's series, by number, of those at places first..last that are in one."""
    if not ledger.meta().get(SERIES):
        return {}
    return dict(_told(ledger.fixtures(first, last)))


def _told(rows: Iterable[FixtureRow]) -> Iterator[tuple[int, int]]:
    for row in rows:
        said = _read(row.body)
        if said.series:
            yield said.number, said.series


def shown(ledger: Ledger) -> int:
    """How many matches others may see, in the order in which they were folded: all those before the first
    whose series goes on."""
    issued, done = ledger.heads()
    if issued == done or not ledger.meta().get(SERIES):
        return done
    open_now = series_of(ledger, done + 1)
    first = done + 1
    for series in set(open_now.values()):
        newest = max(number for number, own in open_now.items() if own == series)
        first = min(first, *map(ledger.place, range(series, newest + 1)))
    return first - 1


def matches_of(ledger: Ledger, series: int) -> list[int]:
    """The numbers of the matches of a series, which were issued together and have consecutive ones."""
    issued, found = ledger.heads()[0], list[int]()
    for number in range(series, issued + 1):
        at = ledger.place(number)
        if dict(_told(ledger.fixtures(at, at))) != {number: series}:
            break
        found.append(number)
    return found
