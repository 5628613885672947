"""Finished matches, each read once: what was asked, what came back, and what was made of it.

    for match in Matches(ledger).read(1, 20):
        print(match.fixture.game, [(step.key, step.status) for step in match.steps])

From here come both what matches tell (`tables.told`) and their transcripts in bulk (`site.story`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import groupby, zip_longest
from operator import attrgetter
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct

from peerage.challenges.drafting import Draft
from peerage.engine.driver import cut_reason
from peerage.judging.ballots import ballots_of
from peerage.judging.panel import Ballot
from peerage.ledger.codec import (
    Part,
    Said,
    by_hex,
    read_fixture,
    read_form,
    read_record,
    read_said,
    read_shown,
)
from peerage.ledger.merkle import GENESIS
from peerage.ledger.store import Exchange, Ledger, LedgerError, RecordRow, Summary
from peerage.match import Fixture, MatchRecord
from peerage.protocol import SANDBOX, Chosen, Format, FormatError, Role, ran
from peerage.tables.played import EVERYTHING, Scope

_shown = lru_cache(maxsize=4096)(read_shown)  # thousands of matches ask a judge in the same words


class Step(Struct, frozen=True, gc=False):
    """An attempt at a request, and what came of it.

    `label` is whose turn it was, `parts` are what filled the form `form` (hex; a run has none). `said` is the
    reply as it was stored, None while there is none. `status` is that of an `ExchangeView`; `reply` is its
    text, of a choice the reason, of a run what it printed; `reason` says what went wrong.
    """

    key: str
    player: str
    label: str
    role: Role | Literal["sandbox"]
    form: str
    parts: tuple[Part, ...]
    said: Said | None
    status: str = "waiting"
    reply: str = ""
    reason: str = ""
    choice: str = ""


class Finished(NamedTuple):
    """A finished match: its fixture, its record and what that holds, and all `steps` in the order asked.

    `row` is the record as it was chained, `before` the chain value before it. `players` says who sat at each
    label.
    """

    fixture: Fixture
    record: MatchRecord
    row: RecordRow
    before: bytes
    summary: Summary
    players: Mapping[str, str]
    drafts: tuple[Draft, ...]
    ballots: tuple[Ballot, ...]
    steps: list[Step]


class Matches:
    """Reads finished matches from a ledger whose texts it holds."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._texts = by_hex(ledger.texts())
        self._forms: dict[str, tuple[Role, Format]] = {}

    def read(self, first: int, last: int, scope: Scope = EVERYTHING) -> Iterator[Finished]:
        """The finished matches first..last of a scope, in order. Raises LedgerError when rows are
        missing."""
        ledger = self._ledger
        asked = groupby(ledger.exchanges(first, last), attrgetter("match"))
        number, exchanges = next(asked, (0, iter(())))
        records = ledger.records(max(first - 1, 1), last)
        earlier = next(records, None) if first > 1 else None
        chain = earlier.chain if earlier else GENESIS
        for issued, row, summary in zip_longest(
            ledger.fixtures(first, last), records, ledger.summaries(first, last)
        ):
            if not (issued and row and summary and issued.number == row.number == summary.number):
                raise LedgerError(f"{ledger.address} lacks rows; `peerage verify` says which")
            mine = exchanges if number == row.number else iter(())
            before, chain = chain, row.chain
            if not scope.holds(summary):
                if number == row.number:
                    number, exchanges = next(asked, (0, iter(())))
                continue
            fixture, record = read_fixture(issued.body, self._texts), read_record(row.body)
            yield Finished(
                fixture,
                record,
                row,
                before,
                summary,
                {seat.label: seat.player for seat in fixture.all_seats()},
                msgspec.convert(record.outcome.detail.get("drafts", ()), tuple[Draft, ...]),
                ballots_of(record.outcome),
                [self._step(one) for one in mine],
            )
            if number == row.number:
                number, exchanges = next(asked, (0, iter(())))

    def _step(self, asked: Exchange) -> Step:
        key, player = asked.key, asked.player
        shown = _shown(asked.request)
        said = None if asked.reply is None else read_said(asked.reply)
        if shown is None:
            return _run(key, player, said)
        label, form, parts = shown
        if form not in self._forms:
            self._forms[form] = read_form(self._texts(form))
        role, kind = self._forms[form]
        if said is None:
            return Step(key, player, label, role, form, parts, None)
        status, reply, reason, choice = said.status, said.words, said.reason, ""
        if status == "ok" and not said.withheld:
            try:
                value = kind.parse(reply)
            except FormatError as unusable:
                status, reason = "invalid", cut_reason(said.cut) if said.cut else str(unusable)
            else:
                if isinstance(value, Chosen):
                    choice, reply = value.choice, value.reason
        return Step(key, player, label, role, form, parts, said, status, reply, reason, choice)


def _run(key: str, player: str, said: Said | None) -> Step:
    if said is None:
        return Step(key, player, SANDBOX, "sandbox", "", (), None)
    status, reply, reason = said.status, said.words, said.reason
    if status == "ok" and not said.withheld:
        done = ran(reply)
        status, reply, reason = done.status, done.stdout, done.stderr
    return Step(key, player, SANDBOX, "sandbox", "", (), said, status, reply, reason)
