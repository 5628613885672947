"""What everybody did: statistics of players, judges and authors over the finished matches."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import msgspec
from msgspec import Struct

from peerage.accounts import NOTHING, Account, count
from peerage.challenges.drafting import Draft
from peerage.engine.driver import REPAIR
from peerage.judging.statistics import JudgeStatistics, PanelRecord, judge_statistics, panel_record
from peerage.ledger.codec import by_hex, form_of, read_fixture, read_form, read_record, read_reply, withheld
from peerage.ledger.store import Exchange, Ledger, LedgerError
from peerage.match import Fixture, Outcome
from peerage.protocol import SANDBOX, AnyKind, Role, Unusable
from peerage.settings import ArenaSettings
from peerage.standings import DONE, elo_settings, pinned_rating
from peerage.tables.outside import SourceStats, listed
from peerage.tables.played import EVERYTHING, Scope, known
from peerage.tables.readings import Readings, ReadingStats


class PlayerStats(Struct, frozen=True):
    """What one player did in every role.

    `matches` were decided, `void_matches` came to nothing. `calls` are answered requests, `calls_as` counts
    them by role. Of the replies `invalid` were unusable after their one repair, `refused` declined, `void`
    never came (the provider failed); `repaired` had to be asked twice for their format; `lost` are attempts
    without a reply (retried, or cut off by a crash). Latency in seconds, over replies that came; None
    without any. `cost_usd` is None while the cost of any call is unknown.
    """

    player: str
    model: str
    family: str
    matches: int
    wins: int
    draws: int
    losses: int
    void_matches: int
    calls: int
    calls_as: dict[str, int]
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    cost_per_match: float | None
    latency_mean_s: float | None
    latency_p50_s: float | None
    latency_p95_s: float | None
    invalid: int
    refused: int
    void: int
    repaired: int
    lost: int


class JudgeStats(Struct, frozen=True):
    """One player as a judge; see `judging.statistics.JudgeStatistics`. `flips` counts what changed with the
    order of the answers, `agreement` is with the other judges of the same matches."""

    player: str
    votes: int
    abstentions: int
    ties: int
    unusable: int
    flips: int
    flip_share: float | None
    agreement: float | None
    first_share: float | None
    kin_lean: float | None
    kin_votes: int


class AuthorStats(Struct, frozen=True):
    """One player as an author: finished `drafts`, how many were `approved`, the mean share of the committee
    that approved (None where no vote was valid), and `turns_lost` by an unusable, refused or void text."""

    player: str
    drafts: int
    approved: int
    approval: float | None
    turns_lost: int


class Stats(Struct, frozen=True):
    """All statistics of an arena; `voids` counts void matches by reason, `readings` are tables under each
    reading of its game, one after another (none where the game has but one), `outside` the imported results
    by source."""

    matches: int
    voids: dict[str, int]
    players: tuple[PlayerStats, ...]
    judges: tuple[JudgeStats, ...]
    authors: tuple[AuthorStats, ...]
    readings: tuple[ReadingStats, ...]
    outside: tuple[SourceStats, ...]

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON data."""
        found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        return found


def stats(ledger: Ledger, settings: ArenaSettings, scope: Scope = EVERYTHING) -> Stats:
    """Statistics over the finished matches of a scope; reads every record and exchange once.

    Raises ScopeError for a game or topic without a match, LedgerError when the ledger cannot be read.
    """
    return _Count(ledger, settings, scope).result()


@dataclass
class _Replies:
    calls: dict[str, int] = field(default_factory=dict)
    latency_ms: array[int] = field(default_factory=lambda: array("q"))
    statuses: dict[str, int] = field(default_factory=dict)
    repaired: int = 0
    lost: int = 0


@dataclass
class _Drafts:
    drafts: int = 0
    approved: int = 0
    approvals: list[float] = field(default_factory=list)
    turns_lost: int = 0


class _Count:
    """One pass over records, one over exchanges."""

    def __init__(self, ledger: Ledger, settings: ArenaSettings, scope: Scope) -> None:
        self._ledger = ledger
        self._settings = settings
        self._scope = scope
        self._counted: set[int] = set()
        self._texts = by_hex(ledger.texts())
        self._last = ledger.heads()[1]
        self._forms: dict[str, tuple[Role, AnyKind]] = {}
        self._accounts: dict[str, Account] = {}
        self._replies: dict[str, _Replies] = {}
        self._authors: dict[str, _Drafts] = {}
        self._flips: dict[str, int] = {}
        self._voids: dict[str, int] = {}
        self._readings = Readings()

    def result(self) -> Stats:
        known = {player.name: player for player in self._settings.players}
        families = {player.name: player.family for player in self._settings.players}
        judged = judge_statistics(self._panels(), families)
        for exchange in self._ledger.exchanges(1, self._last):
            if exchange.player != SANDBOX and exchange.match in self._counted:
                self._exchange(exchange)
        names = [*known, *sorted((self._accounts.keys() | self._replies.keys()) - known.keys())]
        return Stats(
            len(self._counted),
            self._voids,
            tuple(
                [self._player(name, getattr(known.get(name), "public_model", ""), families) for name in names]
            ),
            tuple([self._judge(name, found) for name, found in judged.items()]),
            tuple([_author(name, self._authors[name]) for name in sorted(self._authors)]),
            self._readings.rows(elo_settings(pinned_rating(self._ledger.meta(), self._settings.rating))),
            listed(self._ledger),
        )

    def _panels(self) -> Iterator[PanelRecord]:
        """The panels of the matches that count; counts, on the way, what else the records tell."""
        games, topics = set(), set()
        rows = zip_longest(
            self._ledger.fixtures(1, self._last),
            self._ledger.records(1, self._last),
            self._ledger.summaries(1, self._last),
        )
        for issued, row, summary in rows:
            if not (issued and row and summary and issued.number == row.number == summary.number):
                raise LedgerError(f"{self._ledger.address} lacks rows; `peerage verify` says which")
            games.add(summary.game)
            topics.add(summary.topic)
            if not self._scope.holds(summary):
                continue
            self._counted.add(summary.number)
            fixture, record = read_fixture(issued.body, self._texts), read_record(row.body)
            count(self._accounts, summary, record.totals)
            if summary.status != DONE:
                self._voids[summary.status] = self._voids.get(summary.status, 0) + 1
            self._drafts(fixture, record.outcome)
            self._readings.add(fixture, record.outcome)
            panel = panel_record(fixture, record.outcome)
            if panel is not None:
                for ballot in panel.ballots:
                    judge = panel.players[ballot.judge]
                    self._flips[judge] = self._flips.get(judge, 0) + ballot.flipped
                yield panel
        known("game", self._scope.game, games)
        known("topic", self._scope.topic, topics)

    def _drafts(self, fixture: Fixture, outcome: Outcome) -> None:
        seats = {seat.label: seat.player for seat in fixture.all_seats()}
        for draft in msgspec.convert(outcome.detail.get("drafts", ()), tuple[Draft, ...]):
            # A draft can be written and fall all the same: a program of its author that does not run.
            silent = [seats[label] for stage, label in draft.authors.items() if stage not in draft.keys]
            if silent:
                self._authors.setdefault(silent[0], _Drafts()).turns_lost += 1
                continue
            for player in dict.fromkeys(seats[label] for label in draft.authors.values()):
                tally = self._authors.setdefault(player, _Drafts())
                tally.drafts += 1
                tally.approved += draft.accepted
                if draft.approval is not None:
                    tally.approvals.append(draft.approval)

    def _exchange(self, exchange: Exchange) -> None:
        tally = self._replies.get(exchange.player)
        if tally is None:
            tally = self._replies[exchange.player] = _Replies()
        if exchange.reply is None:
            tally.lost += 1
            return
        raw = read_reply(exchange.key, exchange.reply)
        role, kind = self._form(form_of(exchange.request))
        tally.calls[role] = tally.calls.get(role, 0) + 1
        status: str = raw.status
        if status != "void":
            tally.latency_ms.append(raw.latency_ms)
        if exchange.key.endswith(REPAIR):
            tally.repaired += 1
        if status == "ok" and not withheld(exchange.reply):
            try:
                kind.parse(raw.text)
            except Unusable:
                # A first unusable reply is followed by its repair, which decides.
                status = "invalid" if exchange.key.endswith(REPAIR) else "repairing"
        tally.statuses[status] = tally.statuses.get(status, 0) + 1

    def _form(self, digest: str) -> tuple[Role, AnyKind]:
        if digest not in self._forms:
            self._forms[digest] = read_form(self._texts(digest))
        return self._forms[digest]

    def _player(self, name: str, model: str, families: dict[str, str]) -> PlayerStats:
        account = self._accounts.get(name, NOTHING)
        said = self._replies.get(name, _Replies())
        waits = sorted(said.latency_ms)
        return PlayerStats(
            name,
            model,
            families.get(name, ""),
            account.matches,
            account.wins,
            account.draws,
            account.losses,
            account.void,
            account.calls,
            dict(sorted(said.calls.items())),
            account.input_tokens,
            account.output_tokens,
            account.cost_usd,
            account.cost_per_match,
            sum(waits) / len(waits) / 1e3 if waits else None,
            _quantile(waits, 0.5),
            _quantile(waits, 0.95),
            said.statuses.get("invalid", 0),
            said.statuses.get("refused", 0),
            said.statuses.get("void", 0),
            said.repaired,
            said.lost,
        )

    def _judge(self, name: str, found: JudgeStatistics) -> JudgeStats:
        return JudgeStats(
            name,
            found.votes,
            found.abstentions,
            found.ties,
            found.unusable,
            self._flips.get(name, 0),
            found.flip_share,
            found.agreement,
            found.first_share,
            found.kin_lean,
            found.kin_votes,
        )


def _author(name: str, tally: _Drafts) -> AuthorStats:
    mean = sum(tally.approvals) / len(tally.approvals) if tally.approvals else None
    return AuthorStats(name, tally.drafts, tally.approved, mean, tally.turns_lost)


def _quantile(ordered_ms: Sequence[int], share: float) -> float | None:
    """The smallest value, in seconds, that at least `share` of the values do not exceed."""
    if not ordered_ms:
        return None
    return ordered_ms[max(0, math.ceil(share * len(ordered_ms)) - 1)] / 1e3
