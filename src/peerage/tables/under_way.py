"""A match under way, as far as everybody may know: a player may be watching."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from peerage.engine.records import answered_first
from peerage.ledger.codec import MissingText, by_hex, read_fixture, read_reply, read_request
from peerage.ledger.store import Ledger, LedgerError
from peerage.protocol import Ask, render

UNDER_WAY = "under way"
MARK = "········"
"""What stands for the markers around quotes, each of which one player alone was shown."""


class UnderWay(Struct, frozen=True):
    """A match that is not settled.

    `sent` are the texts that every contestant has been sent, in order; `answered` and `waiting` count
    requests. Nothing else of it is shown before it is settled, not even who plays: players may be watching.
    """

    number: int
    round: int
    game: str
    sent: tuple[str, ...]
    answered: int
    waiting: int
    status: str = UNDER_WAY


def under_way(ledger: Ledger, number: int) -> UnderWay | None:
    """What may be shown of a match under way; None for one that is settled. Raises LedgerError for a match
    that was not issued."""
    at = ledger.place(number)
    issued = next(iter(ledger.fixtures(at, at)), None)
    if issued is None:
        raise LedgerError(f"there is no match {number} yet")
    if next(iter(ledger.records(at, at)), None) is not None:
        return None
    try:
        texts = by_hex(ledger.texts())
        fixture = read_fixture(issued.body, texts)
        asked = answered_first(ledger.exchanges(at, at))
        said = {key: read_reply(key, one.reply).text for key, one in asked.items() if one.reply is not None}
        sent: dict[str, list[str]] = {seat.label: [] for seat in fixture.seats}
        for key, one in asked.items():
            ask = read_request(key, one.request, texts, _said(said))
            if isinstance(ask, Ask) and ask.to in sent:
                sent[ask.to] += [
                    render(message, MARK) for message in ask.messages if message.speaker == "user"
                ]
    except (MissingText, ValueError) as error:
        raise LedgerError(f"match {number} cannot be read ({error}); `peerage verify` says more") from error
    first, *others = sent.values() or [[]]
    everybody = tuple(dict.fromkeys(text for text in first if all(text in other for other in others)))
    answered = sum(one.reply is not None for one in asked.values())
    return UnderWay(fixture.number, fixture.round, fixture.game, everybody, answered, len(asked) - answered)


def _said(said: dict[str, str]) -> Callable[[str], str]:
    return lambda key: said.get(key, "")
