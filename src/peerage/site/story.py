"""Finished matches as pages tell them: what was asked in which order, what each seat saw and said.

Like `tables.transcript`, for thousands of matches: a request is told by what filled it, which the pages link
to, and is not rendered word for word; its templates stand once, on the page of methods. House answers' hidden
quality never appears.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from peerage.challenges.drafting import Draft
from peerage.engine.records import answered_first
from peerage.judging.panel import Ballot
from peerage.ledger.codec import (
    Part,
    by_hex,
    read_answer,
    read_fixture,
    read_form,
    read_record,
    read_shown,
    read_templates,
    withheld,
)
from peerage.ledger.merkle import GENESIS
from peerage.ledger.merkle import digest as record_digest
from peerage.ledger.store import Exchange, FixtureRow, Ledger, LedgerError, RecordRow, Summary
from peerage.match import Fixture, MatchRecord, Seat
from peerage.protocol import SANDBOX, AnyKind, Chosen, Role, Unusable, ran

FORM = '{"role":'
"""How a stored form begins."""

_shown = lru_cache(maxsize=4096)(read_shown)  # thousands of matches ask a judge in the same words


class Step(NamedTuple):
    """One request and its reply, as `tables.views.ExchangeView`; `parts` are what filled the form `form`.
    `reply` of a choice is its reason."""

    key: str
    label: str
    role: str
    player: str
    form: str
    parts: tuple[Part, ...]
    status: str
    reply: str
    reason: str
    choice: str
    input_tokens: int | None
    output_tokens: int | None
    latency_s: float | None
    cost_usd: float | None
    model: str
    truncated: bool
    attempts: int

    @property
    def about(self) -> str:
        """What the key says beside the label, which it often holds."""
        rest = self.key.removesuffix(self.label).removeprefix(self.label).strip("/")
        return "" if rest == "answer" else rest

    @property
    def quotes(self) -> list[Part]:
        """The parts that a player, or the user, wrote."""
        return [part for part in self.parts if part.label is not None]


class Form(NamedTuple):
    """What many requests share: the digest that they name it by (hex), and its messages with their places."""

    digest: str
    role: Role
    messages: tuple[tuple[str, str], ...]


class Story(NamedTuple):
    """A finished match. `groups` are its steps in the order they were asked, consecutive ones of one role
    together; `previous` is the chain value before its record, all digests in hex."""

    fixture: Fixture
    record: MatchRecord
    summary: Summary
    groups: tuple[tuple[str, tuple[Step, ...]], ...]
    drafts: tuple[Draft, ...]
    ballots: tuple[Ballot, ...]
    record_digest: str
    previous: str
    chain: str

    @property
    def players(self) -> dict[str, str]:
        """Who sits at each label."""
        return {seat.label: seat.player for seat in self.fixture.all_seats()}

    @property
    def task(self) -> str:
        """What was drawn for the match or given by the user, where nobody wrote it."""
        drawn = self.fixture.drawn
        return next((str(drawn[what]) for what in ("statement", "prompt") if what in drawn), "")

    @property
    def programs(self) -> list[tuple[str, int | None, str, list[str]]]:
        """Contestants' programs: player, bytes (None without one), what came of it, each test's verdict."""
        found: dict[str, Any] = self.record.outcome.detail.get("programs", {})
        players = self.players
        return [(players[label], one["bytes"], one["result"], one["tests"]) for label, one in found.items()]

    @property
    def places(self) -> dict[str, int]:
        """The number of each step, counted from 1, by its request's key."""
        keys = [step.key for _, steps in self.groups for step in steps]
        return {key: place for place, key in enumerate(keys, 1)}

    @property
    def verdicts(self) -> dict[str, str]:
        """What judges' replies said, by key: the preferred contestant by its own label, whatever label the
        judge saw it under."""
        players = self.players
        return {
            f"{ballot.judge}/{order}": f"for {verdict}, {players[verdict]}" if verdict in players else verdict
            for ballot in self.ballots
            for order, verdict in ballot.verdicts.items()
        }

    @property
    def verdict(self) -> str:
        """What the match came to, in words."""
        outcome = self.record.outcome
        if outcome.void:
            return f"void: {outcome.void}"
        if not self.contestants:  # nobody plays where recorded answers are judged
            authors = [f"{player} ({label})" for label, player in self.fixture.drawn["authors"].items()]
            found = f"{100 * float(outcome.detail['share']):.0f} % for the first"
            return f"answers of {' and '.join(authors)} judged again: {found}"
        winners = [seat.player for seat in self.contestants if outcome.scores.get(seat.label) == self.best]
        what = f"{winners[0]} wins" if len(winners) == 1 else f"a tie of {' and '.join(winners)}"
        decided, share = outcome.detail.get("decided"), outcome.detail.get("share")
        if isinstance(share, float) and len(self.fixture.seats) == 2:
            share = max(share, 1 - share)
            return f"{what}, {decided} with {100 * share:.0f} % of their weight"
        return f"{what}, {decided}" if decided else what

    @property
    def best(self) -> float:
        """The best score."""
        return max(self.record.outcome.scores.values(), default=0.0)

    @property
    def contestants(self) -> tuple[Seat, ...]:
        """The contestants, the best score first."""
        scores = self.record.outcome.scores
        return tuple(sorted(self.fixture.seats, key=lambda seat: -scores.get(seat.label, 0.0)))


class Reader:
    """Reads stories from a ledger whose texts it holds."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.texts = by_hex(ledger.texts())
        self._forms: dict[str, tuple[Role, AnyKind]] = {}

    def stories(self, first: int, last: int) -> Iterator[Story]:
        """The finished matches first..last. Raises LedgerError when rows are missing."""
        exchanges = {
            number: list(rows)
            for number, rows in groupby(self._ledger.exchanges(first, last), attrgetter("match"))
        }
        before = next((row.chain for row in self._ledger.records(first - 1, first - 1)), GENESIS)
        rows = zip(
            self._ledger.fixtures(first, last),
            self._ledger.records(first, last),
            self._ledger.summaries(first, last),
            strict=False,
        )
        for issued, row, summary in rows:
            if not issued.number == row.number == summary.number:
                raise LedgerError(f"{self._ledger.address} lacks rows; `peerage verify` says which")
            yield self._story(issued, row, summary, exchanges.get(row.number, []), before)
            before = row.chain

    def forms(self) -> list[Form]:
        """Every form of request on record, by role."""
        found: list[Form] = []
        for digest, text in self._ledger.texts().items():
            if text.startswith(FORM):
                with suppress(msgspec.MsgspecError):  # something else that begins like one
                    found.append(Form(digest.hex(), read_form(text)[0], read_templates(text)))
        return sorted(found, key=attrgetter("role", "digest"))

    def _story(
        self, issued: FixtureRow, row: RecordRow, summary: Summary, exchanges: list[Exchange], before: bytes
    ) -> Story:
        fixture, record = read_fixture(issued.body, self.texts), read_record(row.body)
        attempts: dict[str, int] = {}
        for exchange in exchanges:
            attempts[exchange.key] = attempts.get(exchange.key, 0) + 1
        steps = [self._step(one, attempts[key]) for key, one in answered_first(exchanges).items()]
        detail = record.outcome.detail
        return Story(
            fixture,
            record,
            summary,
            tuple([(role, tuple(found)) for role, found in groupby(steps, attrgetter("role"))]),
            msgspec.convert(detail.get("drafts", ()), tuple[Draft, ...]),
            msgspec.convert(detail.get("ballots", ()), tuple[Ballot, ...]),
            record_digest(row.body),
            before.hex(),
            row.chain.hex(),
        )

    def _step(self, exchange: Exchange, attempts: int) -> Step:
        key, player = exchange.key, exchange.player
        shown = _shown(exchange.request)
        label, form, parts = (SANDBOX, "", ()) if shown is None else shown
        role, kind = ("sandbox", None) if shown is None else self._form(form)
        if exchange.reply is None:
            return Step(
                key, label, role, player, form, parts, "waiting", "", "", "", None, None, None, None, "",
                False, attempts,
            )  # fmt: skip
        raw, made = read_answer(key, exchange.reply)
        status, reply, reason, choice = str(raw.status), raw.text, raw.reason, ""
        if withheld(exchange.reply):
            pass
        elif kind is None and status == "ok":
            done = ran(raw.text)
            status, reply, reason = done.status, done.stdout, done.stderr
        elif kind is not None and status == "ok":
            try:
                value = kind.parse(raw.text)
            except Unusable as unusable:
                status, reason = "invalid", str(unusable)
            else:
                if isinstance(value, Chosen):
                    choice, reply = value.choice, value.reason
        return Step(
            key,
            label,
            role,
            player,
            form,
            parts,
            status,
            reply,
            reason,
            choice,
            raw.input_tokens,
            raw.output_tokens,
            raw.latency_ms / 1e3,
            None if raw.cost_nano is None else raw.cost_nano / 1e9,
            made.model,
            made.truncated,
            attempts,
        )

    def _form(self, digest: str) -> tuple[Role, AnyKind]:
        if digest not in self._forms:
            self._forms[digest] = read_form(self.texts(digest))
        return self._forms[digest]
