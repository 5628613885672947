"""Matches as they are read from a ledger, each exchange once: all that tables, pages and terminals show of
them comes from here.

    for match in Matches(ledger).read(1, 20):
        print(match.number, match.verdict, match.blocks)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import groupby, zip_longest
from operator import attrgetter

from msgspec.structs import replace

from peerage.game.protocol import (
    REPAIR,
    SANDBOX,
    Choice,
    Chosen,
    Format,
    FormatError,
    Ran,
    Role,
    unusable_reason,
)
from peerage.ledger import Exchange, FixtureRow, Ledger, LedgerError
from peerage.ledger.forms.codec import StoredReply, by_hex, read_fixture, read_record, read_said
from peerage.ledger.forms.codec_requests import read_form, read_ran, read_shown
from peerage.ledger.forms.merkle import GENESIS
from peerage.reading.match import Match, Recorded, Step
from peerage.reading.scope import EVERYTHING, Scope

_shown = lru_cache(maxsize=4096)(read_shown)  # thousands of matches ask a judge in the same words


@lru_cache(maxsize=4096)
def _chosen(expects: Choice, reply: str) -> Chosen:
    """Return what a vote says; many are in the same words, and reading them is most of the work."""
    return expects.parse(reply)


class Matches:
    """Reads matches of a ledger; `whole` holds its long texts, for many matches, else they are looked up."""

    def __init__(self, ledger: Ledger, *, whole: bool = True) -> None:
        self._ledger = ledger
        self._texts = by_hex(ledger.texts()) if whole else lookup(ledger)
        self._forms: dict[str, tuple[Role, Format]] = {}

    def read(self, first: int, last: int, scope: Scope = EVERYTHING) -> Iterator[Match]:
        """The finished matches first..last of a scope, in order. Raises LedgerError when rows are missing."""
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
            before, chain = chain, row.chain
            own = exchanges if number == row.number else iter(())
            if scope.holds(summary.game, summary.topic):
                yield self._match(issued, Recorded(read_record(row.body), row, before), own)
            if number == row.number:
                number, exchanges = next(asked, (0, iter(())))

    def match(self, number: int) -> Match:
        """The match of that number, finished or under way. Raises LedgerError when there is no such match."""
        ledger = self._ledger
        stored = ledger.match(number)
        if stored is None:
            last = self._last_begun()
            there = (
                f"this arena has matches 1 to {last}" if last else "nothing was played yet; see `peerage run`"
            )
            raise LedgerError(f"there is no match {number}: {there}")
        recorded, row = None, stored.record
        if row is not None:
            before = ledger.place(number) - 1
            chain = next((first.chain for first in ledger.records(before, before)), GENESIS)
            recorded = Recorded(read_record(row.body), row, chain)
        return self._match(stored.fixture, recorded, stored.exchanges)

    def _last_begun(self) -> int:
        """The last match of which something is on record; a round is issued before its matches begin."""
        for number in range(self._ledger.heads()[0], 0, -1):
            stored = self._ledger.match(number)
            if stored is not None and (stored.record is not None or stored.exchanges):
                return number
        return 0

    def _match(self, issued: FixtureRow, recorded: Recorded | None, rows: Iterable[Exchange]) -> Match:
        fixture = read_fixture(issued.body, self._texts)
        steps = self._repaired([self._step(row) for row in rows])
        return Match(fixture, issued, recorded, steps, self._texts)

    def _repaired(self, steps: list[Step]) -> list[Step]:
        """The steps; a reply of a format that is not known here was unusable if it was to be repaired."""
        repairs = {step.key.removesuffix(REPAIR): step for step in steps if step.key.endswith(REPAIR)}
        if not repairs:
            return steps
        return [
            replace(step, status="invalid", reason=self._problem(repairs[step.key]), value=None)
            if step.status == "ok" and step.key in repairs
            else step
            for step in steps
        ]

    def _problem(self, repair: Step) -> str:
        """Return what was wrong with a reply, from the request for its repair."""
        problem = next((part for part in repair.parts if part.place == "problem"), None)
        return "" if problem is None else self._texts(problem.digest) if problem.digest else problem.text

    def _step(self, asked: Exchange) -> Step:
        key, player = asked.key, asked.player
        shown = _shown(asked.request)
        stored = None if asked.reply is None else read_said(asked.reply)
        if shown is None:
            return _run(asked, stored)
        label, form, parts = shown
        if form not in self._forms:
            self._forms[form] = read_form(self._texts(form))
        role, expects = self._forms[form]
        step = Step(key, player, label, role, asked, form=form, parts=parts, stored=stored)
        if stored is None:
            return step
        status, reply, reason, choice, value = stored.status, stored.words, stored.reason, "", None
        if status == "ok" and not stored.withheld:
            try:
                value = _chosen(expects, reply) if isinstance(expects, Choice) else expects.parse(reply)
            except FormatError as unusable:
                status, reason = "invalid", unusable_reason(stored.cut, reply, reason, unusable)
            else:
                if isinstance(value, Chosen):
                    choice, reply = value.choice, value.reason
        return replace(step, status=status, reply=reply, reason=reason, choice=choice, value=value)


def _run(asked: Exchange, reply: StoredReply | None) -> Step:
    step = Step(asked.key, asked.player, SANDBOX, "sandbox", asked, stored=reply)
    if reply is None:
        return step
    if reply.status != "ok" or reply.withheld:
        return replace(step, status=reply.status, reply=reply.words, reason=reply.reason)
    value = read_ran(asked.request, reply.words)
    if isinstance(value, Ran):
        return replace(step, status=value.status, reply=value.stdout, reason=value.stderr, value=value)
    reason = f"exit code {value.code}" if value.code else ""
    return replace(step, status=value.status, reply=value.output, reason=reason, value=value)


def lookup(ledger: Ledger) -> Callable[[str], str]:
    """Gives the ledger's texts by digest (hex), each read when it is first asked for."""
    held: dict[str, str] = {}

    def text(digest: str) -> str:
        if digest not in held:
            wanted = bytes.fromhex(digest)
            texts: Mapping[bytes, str] = ledger.texts([wanted])
            if wanted not in texts:
                raise LedgerError(
                    f"{ledger.address} lacks the text {digest}; `peerage verify` says what is whole"
                )
            held[digest] = texts[wanted]
        return held[digest]

    return text
