"""Calls and tokens that matches on record took, next to those of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from peerage.engine.record.probed import probed_tokens
from peerage.game.match import DONE
from peerage.ledger import Ledger
from peerage.ledger.forms.codec import by_hex, read_fixture, read_reply
from peerage.ledger.forms.codec_requests import read_form, read_shown
from peerage.values import grouped

LEARNED_FROM = 100
"""Last matches on record from which it is known what calls take."""
PRIOR = 1.0
"""Calls, or seats, that a plan's estimate counts for next to those on record, on a logarithmic scale."""

Part: TypeAlias = tuple[str, str, str]
"""A game, a role in it, and a player."""


class CallSums(NamedTuple):
    """Sums over `seats` in matches: calls, and their tokens."""

    seats: float = 0.0
    calls: float = 0.0
    input_tokens: float = 0.0
    output_tokens: float = 0.0

    def plus(self, *more: float) -> CallSums:
        """Return the sum with seats, calls and tokens."""
        return CallSums(*[own + other for own, other in zip(self, more, strict=True)])


NOTHING = CallSums()


class OnRecord(NamedTuple):
    """Usage in the last `matches` by part, and the output tokens of each player's last probe."""

    matches: int = 0
    parts: Mapping[Part, CallSums] = {}
    probes: Mapping[str, int] = {}


class Ratios(NamedTuple):
    """Calls of a seat, and tokens of a call, as multiples of those planned."""

    calls: float = 1.0
    input_tokens: float = 1.0
    output_tokens: float = 1.0


def on_record(ledger: Ledger) -> OnRecord:
    """Return what the last matches on record took. Raises LedgerError."""
    _, last = ledger.heads()
    first, texts = max(1, last - LEARNED_FROM + 1), by_hex(ledger.texts())
    parts: dict[Part, CallSums] = {}
    games: dict[int, str] = {}
    roles: dict[str, str] = {}
    for issued, row in zip(ledger.fixtures(first, last), ledger.summaries(first, last), strict=True):
        if row.status == DONE:
            fixture = read_fixture(issued.body, texts)
            games[issued.number] = fixture.game
            asked_now = tuple([seat for seat in fixture.seats if seat.label not in fixture.given])
            for role, seats in {"contestant": asked_now, **fixture.officials}.items():
                for seat in seats:
                    part = (fixture.game, role, seat.player)
                    parts[part] = parts.get(part, NOTHING).plus(1, 0, 0, 0)
    for exchange in ledger.exchanges(first, last) if games else ():
        asked = None if exchange.reply is None else read_shown(exchange.request)
        if asked is None or exchange.match not in games:
            continue
        if asked.form not in roles:
            roles[asked.form] = read_form(texts(asked.form))[0]
        took = read_reply(exchange)
        part = (games[exchange.match], roles[asked.form], exchange.player)
        parts[part] = parts.get(part, NOTHING).plus(0, 1, took.input_tokens or 0, took.output_tokens or 0)
    return OnRecord(len(games), parts, probed_tokens(ledger))


def corrections(planned: Mapping[Part, CallSums], on_record: OnRecord) -> dict[Part, Ratios]:
    """Return by how much what is on record differs from what is planned: of each player in a role, or where
    it took little or nothing yet, of all players in that role. Pure."""
    roles = grouped((part[:2], (plan, on_record.parts.get(part, NOTHING))) for part, plan in planned.items())
    whole = {role: _nearer(Ratios(), pairs) for role, pairs in roles.items()}
    return {
        part: _nearer(whole[part[:2]], [(plan, on_record.parts.get(part, NOTHING))])
        for part, plan in planned.items()
    }


def _nearer(prior: Ratios, pairs: list[tuple[CallSums, CallSums]]) -> Ratios:
    """Return the ratios of planned and taken usage, drawn to the `prior` ones."""
    ratios: list[float] = []
    for measure, of, before in zip((1, 2, 3), (0, 1, 1), prior, strict=True):
        number = sum(taken[of] for _, taken in pairs)
        taken = sum(taken[measure] for _, taken in pairs)
        foreseen = before * sum(
            [taken[of] * plan[measure] / plan[of] for plan, taken in pairs if plan[of]], 0.0
        )
        known = taken > 0 and foreseen > 0
        ratios.append(before * (taken / foreseen) ** (number / (number + PRIOR)) if known else before)
    return Ratios(*ratios)
