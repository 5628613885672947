"""Registration, UNER's first stage: who plays, with which settings and price, on a chained stream of its own.

A player is registered when it first plays and again whenever its settings or its price change, so the ledger
says at any match what "openai:gpt-5-mini, temperature 0.2" meant. Keys never come near it: settings name only
the variable that holds one, and credentials in an address are left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from peerage.ledger.amendments import chained
from peerage.ledger.store import Amendment, Ledger
from peerage.players.prices import Price
from peerage.settings import PlayerSettings, without_credentials

STREAM = "players"


class _Named(msgspec.Struct):
    name: str


def card(player: PlayerSettings, price: Price) -> dict[str, Any]:
    """What is kept of a player: its stated settings, its price and where that comes from, and how many tokens
    it may think for a reply with the reason for so many."""
    stated = player.model_dump(mode="json", exclude_defaults=True, exclude={"key_env", "command"})
    if player.base_url:
        stated["base_url"] = without_credentials(player.base_url)
    stated["model"] = player.public_model
    if price.thinking.tokens:
        stated |= {"thinking_tokens": price.thinking.tokens, "thinking_because": price.thinking.reason}
    return stated | {"price_source": price.source, "price_known": price.known}


def registered(ledger: Ledger) -> dict[str, dict[str, Any]]:
    """The newest card of every player that ever played, by name."""
    return _cards(ledger.amendments(STREAM))


def _cards(stream: Iterable[Amendment]) -> dict[str, dict[str, Any]]:
    bodies = [amendment.body for amendment in stream]
    return {msgspec.json.decode(body, type=_Named).name: msgspec.json.decode(body) for body in bodies}


def registrations(
    ledger: Ledger, players: Iterable[tuple[PlayerSettings, Price]], after_match: int, at_ms: int
) -> list[Amendment]:
    """The amendments that register new and changed players, valid from the match after `after_match`."""
    known = registered(ledger)
    new: list[bytes] = []
    for player, price in players:
        now = {"name": player.name, "family": player.family} | card(player, price)
        before = dict(known.get(player.name, {}))
        before.pop("after_match", None)
        if before == now:
            continue
        new.append(msgspec.json.encode(now | {"after_match": after_match}))
    return chained(ledger, STREAM, new, at_ms) if new else []
