"""Series on record, and how much of a ledger others may see while one of them goes on.

The matches of a series share a task, or roles that follow from each other, so the result of one shows what
the next ones hide. Others are therefore shown a ledger that ends before the first match of a series still
open: no page, no table, no export of theirs holds anything that came after.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from peerage.game.match import Fixture
from peerage.ledger.forms.codec import StoredFixture, read_issued
from peerage.ledger.ledger import Ledger

SERIES = "series"
"""The fact that says what the series of an arena are; in a ledger without it there are none."""
ANSWERS = "answers"
"""The fact that matches may share answers; in a ledger without it none do."""


def in_series(ledger: Ledger, first: int = 1) -> Iterator[StoredFixture]:
    """Those of the matches from place `first` on that are in a series."""
    if ledger.meta().get(SERIES):
        headers = (read_issued(row.body) for row in ledger.fixtures(first))
        yield from (header for header in headers if header.series)


def clusters_of(ledger: Ledger) -> dict[int, int]:
    """The first match that each one in a series, or with shared answers, hangs together with, by number."""
    if ledger.meta().get(ANSWERS) is None:
        return {header.number: header.series for header in in_series(ledger)}
    headers = (read_issued(row.body) for row in ledger.fixtures())
    return {header.number: first for header in headers if (first := header.series or header.shares)}


def given_of(ledger: Ledger) -> dict[int, tuple[str, ...]]:
    """The contestants who gave their answer before, of each match that has any, by its number."""
    rows = ledger.fixtures() if ledger.meta().get(ANSWERS) else ()
    headers = (read_issued(row.body) for row in rows if b'"given":{' in row.body)
    return {header.number: gave_before(header) for header in headers}


def gave_before(fixture: StoredFixture | Fixture) -> tuple[str, ...]:
    """The contestants of a match who gave their answer before."""
    return tuple([seat.player for seat in fixture.seats if seat.label in fixture.given])


def shown(ledger: Ledger) -> int:
    """Return how many matches others may see, in folding order: those before the first open series."""
    issued, done = ledger.heads()
    if issued == done or not ledger.meta().get(SERIES):
        return done
    open_now = [(header.series, header.number) for header in in_series(ledger, done + 1)]
    earlier = [number for first, last in dict(sorted(open_now)).items() for number in range(first, last)]
    return min([done + 1, *[ledger.place(number) for number in earlier]]) - 1


def matches_of(ledger: Ledger, series: int) -> list[int]:
    """The numbers of the matches of a series, which were issued together and have consecutive ones."""
    numbers = list[int]()
    for number in count(series):
        rows = ledger.match(number, exchanges=False)
        if rows is None or read_issued(rows.fixture.body).series != series:
            break
        numbers.append(number)
    return numbers
