"""From a match's replies and outcome to its record and summary. Pure: live runs and replays share it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from msgspec import UNSET

from peerage.engine.record.benches import BENCHED
from peerage.game.match import DONE, Fixture, MatchRecord, Outcome, Totals, rated
from peerage.game.protocol import Reply
from peerage.ledger import Exchange, Summary
from peerage.ledger.forms.codec import read_said, record_body, reply_of
from peerage.ledger.forms.merkle import leaf, match_root
from peerage.ratings.sequential.elo import EloSettings
from peerage.standings.fold import Standings, after_match, moves_elo

ENGINE = "engine"
"""`Outcome.detail["by"]` of a match that the engine voided without the game's saying so."""


NOT_ITS_FAULT = ("deadline", "withdrawn", "daily_budget", "match_budget", "player_budget", "arena_budget")
"""First words of the reasons for which a run did not ask a player."""


class MatchTally:
    """A match's exchanges as they come in: their digests, sums by player, why players were `benched`, who
    `failed` and why last, the `models` that providers named, by player, and the `replies` by key."""

    __slots__ = ("benched", "failed", "leaves", "models", "replies", "sums")

    def __init__(self) -> None:
        self.benched: dict[str, str] = {}
        self.failed: dict[str, str] = {}
        self.leaves: dict[str, bytes] = {}
        self.models: dict[str, set[str]] = {}
        self.replies: dict[str, Reply] = {}
        self.sums: dict[str, list[int]] = {}

    def add(self, key: str, player: str, raw: Reply, digest: bytes, model: str = "") -> None:
        self.leaves[key], self.replies[key] = digest, raw
        sums = self.sums.setdefault(player, [0, 0, 0, 0, 0])
        sums[0] += 1
        sums[1] += raw.input_tokens or 0
        sums[2] += raw.output_tokens or 0
        sums[3] += raw.cost_nano or 0
        sums[4] += raw.cost_nano is None
        if raw.status == "void" and raw.reason.startswith(BENCHED):
            self.benched.setdefault(player, raw.reason.removeprefix(BENCHED))
        elif raw.status == "void" and not raw.reason.startswith(NOT_ITS_FAULT):
            self.failed[player] = raw.reason
        if model:
            self.models.setdefault(player, set()).add(model)

    def add_recorded(self, exchange: Exchange) -> Reply:
        """Count an answered exchange from the ledger; returns its raw reply."""
        assert exchange.reply is not None
        stored = read_said(exchange.reply)
        raw = reply_of(exchange, stored)
        digest = leaf(exchange.key, exchange.player, exchange.request, exchange.reply)
        self.add(exchange.key, exchange.player, raw, digest, stored.model)
        return raw

    def root(self) -> str:
        """The root of the exchanges, in hex."""
        return match_root(self.leaves)


def answered_first(exchanges: Iterable[Exchange]) -> dict[str, Exchange]:
    """For each key the answered attempt, or the last one when none was answered."""
    best: dict[str, Exchange] = {}
    for exchange in exchanges:
        known = best.get(exchange.key)
        if known is None or known.reply is None:
            best[exchange.key] = exchange
    return best


def recorded_tally(exchanges: Iterable[Exchange]) -> MatchTally:
    """Return the tally of what is answered among these exchanges."""
    tally = MatchTally()
    for exchange in answered_first(exchanges).values():
        if exchange.reply is not None:
            tally.add_recorded(exchange)
    return tally


class Settled(NamedTuple):
    """A finished match: its record with the stored bytes, its row of the narrow table, standings after it."""

    record: MatchRecord
    body: bytes
    summary: Summary
    standings: Standings


def settle(
    fixture: Fixture,
    digest: str,
    tally: MatchTally,
    outcome: Outcome,
    before: Standings,
    elo: EloSettings,
    at_ms: int,
) -> Settled:
    """Fold a match into the standings and write its record; `digest` is the fixture's, in hex. A contestant
    that the outcome leaves unranked is in the record alone: no table counts the match as its."""
    seated = [(seat.label, seat.player) for seat in fixture.seats]
    names, scores, costs = rated(seated, outcome.void, outcome.scores, outcome.costs)
    after = after_match(before, fixture.game, names, scores, costs, elo)
    was = [before.of(name, elo.initial) for name in names]
    now = [after.of(name, elo.initial) for name in names]
    moved: dict[str, dict[str, tuple[float, float]]] = {}
    if moves_elo(fixture.game, scores, elo.unrated):
        moved = {
            "raw": {name: (a.raw, b.raw) for name, a, b in zip(names, was, now, strict=True)},
            "cost": {name: (a.cost, b.cost) for name, a, b in zip(names, was, now, strict=True)},
        }
    elif scores:
        moved = {"trueskill": {name: (before.skill(name).rating, after.skill(name).rating) for name in names}}
    failed = tally.failed.keys() & {player for _, player in seated}
    totals = {player: _totals(sums, player in failed) for player, sums in sorted(tally.sums.items())}
    record = MatchRecord(fixture.number, digest, tally.root(), outcome, moved, totals)
    summary = Summary(
        number=fixture.number,
        round=fixture.round,
        game=fixture.game,
        topic=fixture.topic,
        players=names,
        status=outcome.void or DONE,
        scores=scores,
        costs=costs,
        spent_nano=sum([total.cost_nano for total in totals.values()]),
        raw=tuple([change.raw for change in now]),
        cost_elo=tuple([change.cost for change in now]),
        at_ms=at_ms,
    )
    return Settled(record, record_body(record), summary, after)


def _totals(sums: list[int], failed: bool) -> Totals:
    calls, input_tokens, output_tokens, cost_nano, unknown_costs = sums
    return Totals(calls, input_tokens, output_tokens, cost_nano, unknown_costs, failed or UNSET)
