"""Findings and costs of probes, as they are on record.

Each run that probes writes two entries: what is about to be sent, with what it may cost at most, and what
came back. So a probe cut short by a crash counts at its worst, like any open call; and a probe is never a
match's call, nor in any match's totals.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from msgspec import Struct

from peerage.game.media import Kind
from peerage.ledger import Exchange, Ledger, amended
from peerage.ledger.forms.codec import read_said
from peerage.ledger.forms.rows import LEFT_OPEN, NOT_SENT

TOPIC = "probes"
LAST_CALLS = 64
"""Last matches on record among whose calls a player's last one is looked for."""


class ProbeResult(Struct, frozen=True, omit_defaults=True):
    """One probe's finding, as it is on record. `status` is ok, refused, cut (at its token limit), failed
    (until something is changed) or void (the provider failed for now). `cost_nano` is null where it is
    unknown; `worst_nano` is what it may have cost beyond that, null without a price. `thinks` says that the
    model was seen to think before it answers. `media` says of each kind that it was asked about whether it
    takes that."""

    status: str
    reason: str = ""
    requests: int = 1
    cost_nano: int | None = 0
    worst_nano: int | None = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    latency_ms: int = 0
    snapshot: str = ""
    thinks: bool = False
    media: dict[Kind, bool] = {}


class ProbeEntry(Struct, frozen=True, omit_defaults=True):
    """One entry: `sent` with what each probe may cost at most, or what they `found`."""

    sent: dict[str, int | None] = {}
    found: dict[str, ProbeResult] = {}


class ProbeCost(Struct, frozen=True):
    """Costs of one player's probes over all runs, in 1e-9 dollars: for certain, and what they may have
    cost beyond that (no usage reported, or a crash). `failed` are the requests of probes without a reply."""

    probes: int = 0
    failed: int = 0
    billed_nano: int = 0
    possibly_nano: int = 0
    unknown: int = 0

    @property
    def most_nano(self) -> int:
        """Return what counts against a budget."""
        return self.billed_nano + self.possibly_nano


def entries(ledger: Ledger) -> Iterable[ProbeEntry]:
    """All entries in order. Raises LedgerError for a row that is none."""
    return amended(ledger, TOPIC, ProbeEntry)


def probed_tokens(ledger: Ledger) -> dict[str, int]:
    """Return each player's output tokens in its last answered probe, thought included. Raises LedgerError."""
    answered = [item for entry in entries(ledger) for item in entry.found.items() if item[1].status == "ok"]
    return {name: result.output_tokens for name, result in answered if result.output_tokens is not None}


def reachable(ledger: Ledger) -> set[str]:
    """Return the players whose last probe was answered, and whose last call in matches, if there was one, got
    a reply. Raises LedgerError."""
    statuses: dict[str, str] = {}
    for entry in entries(ledger):
        statuses |= dict.fromkeys(entry.sent, "sent")
        statuses |= {name: result.status for name, result in entry.found.items()}
    _, recorded = ledger.heads()
    last: dict[str, Exchange] = {}
    for call in ledger.exchanges(max(1, recorded - LAST_CALLS)):
        heard = call.reply is not None or (call.failure and call.failure.reason not in (LEFT_OPEN, NOT_SENT))
        if heard and (call.player not in last or call.id > last[call.player].id):
            last[call.player] = call
    silent = {
        name for name, call in last.items() if call.reply is None or read_said(call.reply).status == "void"
    }
    return {name for name, status in statuses.items() if status in ("ok", "cut")} - silent


def seen_to_think(ledger: Ledger) -> frozenset[str]:
    """The players whose last answered probe showed that they think. Raises LedgerError."""
    thinks: dict[str, bool] = {}
    for entry in entries(ledger):
        thinks |= {name: probe.thinks for name, probe in entry.found.items() if probe.status in ("ok", "cut")}
    return frozenset(name for name, seen in thinks.items() if seen)


def probed_media(ledger: Ledger) -> dict[str, dict[Kind, bool]]:
    """Return what each player was last found to take and not to take of media. Raises LedgerError."""
    known: dict[str, dict[Kind, bool]] = {}
    for entry in entries(ledger):
        for name, result in entry.found.items():
            known.setdefault(name, {}).update(result.media)
    return known


def probe_costs(ledger: Ledger, *, after: int = 0) -> dict[str, ProbeCost]:
    """Return what probes cost so far, by player, without the first `after` entries. Raises LedgerError."""
    costs: dict[str, ProbeCost] = {}
    under_way: dict[str, int | None] = {}

    def add(player: str, billed: int, possibly: int | None, failed: int) -> None:
        was = costs.get(player, ProbeCost())
        costs[player] = ProbeCost(
            probes=was.probes + 1,
            failed=was.failed + failed,
            billed_nano=was.billed_nano + billed,
            possibly_nano=was.possibly_nano + (possibly or 0),
            unknown=was.unknown + (possibly is None),
        )

    def cut_short(players: Iterable[str]) -> None:
        for player in players:
            add(player, 0, under_way.pop(player), 1)

    for entry in islice(entries(ledger), after, None):
        cut_short(entry.sent.keys() & under_way.keys())  # others may be asked at the same time
        under_way.update(entry.sent)
        for player, result in entry.found.items():
            under_way.pop(player, None)
            failed = result.requests if result.status in ("failed", "void") else 0
            add(player, result.cost_nano or 0, result.worst_nano, failed)
    cut_short([*under_way])
    return costs
