"""Registration, UNER's first stage: who plays, with which settings and price, as entries of the log.

A player is registered when it first plays and again whenever its price, its limits or what Peerage chose for
it change, so the ledger says at any match what "openai:gpt-5-mini, temperature 0.2" meant. What answers stays
the same under one name: another model, address, prompt or sampling setting is another version. Keys never
come near it: settings name only the variable that holds one, and credentials in an address are left out.
"""

from __future__ import annotations

import hmac
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import date
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec

from peerage.engine.record.probed import seen_to_think
from peerage.ledger import Amendment, Ledger
from peerage.ledger.topics.settings_log import PLAYERS
from peerage.ledger.topics.settings_log import registrations as read_registrations
from peerage.players.models.thinking import ThinkingRoom
from peerage.players.prices import Price, price_of
from peerage.settings import ArenaSettings, PlayerSettings, without_credentials

ANSWERS = (
    "model",
    "command",
    "base_url",
    "system_prompt",
    "template",
    "temperature",
    "top_p",
    "max_tokens",
    "thinking_tokens",
    "reasoning_effort",
    "provider",
    "extra_body",
    "structured",
    "faults",
)
"""The settings that say what answers, and so what a rating is of."""
AGENT_ANSWERS = ("acp", "allow", "mcp", "network", "env", "files")
"""The same of an agent over ACP, next to those."""


def identity(player: PlayerSettings, key: str) -> str:
    """A digest of what answers; `key` (the arena's sealing key) keeps a program's arguments from being
    guessed."""
    settings = player.model_dump(mode="json")
    answers = {name: settings[name] for name in (*ANSWERS, *(AGENT_ANSWERS if player.acp else ()))}
    answers["base_url"] = without_credentials(player.base_url)
    return hmac.new(key.encode(), msgspec.json.encode(answers, order="sorted"), sha256).hexdigest()


def changed(ledger: Ledger, players: Iterable[PlayerSettings], key: str) -> dict[str, list[str]]:
    """The players under whose name something else answered before, each with the settings that differ."""
    known = registered(ledger)
    changes: dict[str, list[str]] = {}
    for player in players:
        card = known.get(player.name)
        if card is None or card.get("identity") == identity(player, key):
            continue
        now = stated(player)
        differ = [name for name in (*ANSWERS, *AGENT_ANSWERS) if name not in ("command", "thinking_tokens")]
        differ = [name for name in differ if card.get(name) != now.get(name)]
        if not differ and "identity" in card:
            hidden = "the agent's arguments, env, files or mcp" if player.acp else "thinking_tokens"
            differ = ["command" if player.provider == "command" else hidden]
        if differ:
            changes[player.name] = differ
    return changes


def card(player: PlayerSettings, price: Price) -> dict[str, Any]:
    """Return what is kept of a player: its stated settings, its price and where that comes from, and how many
    tokens it may think for a reply with the reason for so many."""
    shown = stated(player)
    if price.thinking.tokens:
        shown |= {"thinking_tokens": price.thinking.tokens, "thinking_because": price.thinking.reason}
    return shown | {"price_source": price.source, "price_known": price.known}


def prices(ledger: Ledger, players: Iterable[PlayerSettings], today: date) -> dict[str, Price]:
    """Return what the players' replies cost today, by name, with their room to think. Room that Peerage chose
    stays as it is on record, whatever it would choose now, so that the same answers under one name; but a
    model without any that a probe saw to think has some from then on."""
    seen, cards = seen_to_think(ledger), registered(ledger)
    priced = {}
    for player in players:
        price = price_of(player, today, player.name in seen)
        card = cards.get(player.name, {})
        chosen = int(card.get("thinking_tokens", 0))
        late = player.name in seen and not chosen
        if "identity" in card and player.thinking_tokens is None and not late:
            price = replace(price, thinking=ThinkingRoom(chosen, str(card.get("thinking_because", ""))))
        priced[player.name] = price
    return priced


_HIDDEN = {"key_env", "command", "acp", "mcp", "env", "files"}


def stated(player: PlayerSettings) -> dict[str, Any]:
    """The stated settings of a player that may be shown."""
    shown = player.model_dump(mode="json", exclude_defaults=True, exclude=_HIDDEN)
    shown |= player.shown_agent
    if player.base_url:
        shown["base_url"] = without_credentials(player.base_url)
    shown["model"] = player.public_model
    if player.version > 1:
        shown["versions_of"] = player.unversioned
    return shown


def registered(ledger: Ledger) -> dict[str, dict[str, Any]]:
    """Return the newest card of every registered player, by name."""
    return {registration.name: dict(registration.card) for registration in read_registrations(ledger)}


class _RegistrationLine(NamedTuple):
    """The part of a registration with a player's family."""

    family: str = ""
    model: str = ""
    version: int = 1
    versions_of: str = ""


def models_and_families(
    cards: Mapping[str, Mapping[str, Any]], players: Iterable[PlayerSettings]
) -> dict[str, tuple[str, str]]:
    """Everybody's model and family: those of these players, and of players that left as `cards` last
    registered them. A later version of an agent that is its own family is in that of the first."""
    lines = {
        name: _RegistrationLine(**{key: card[key] for key in _RegistrationLine._fields if key in card})
        for name, card in cards.items()
    }
    for player in players:
        lines[player.name] = _RegistrationLine(
            player.family, player.public_model, player.version, player.unversioned
        )
    first: dict[str, str] = {}
    for name, line in sorted(lines.items(), key=lambda known: known[1].version):
        first.setdefault(line.versions_of or name, line.family)
    return {
        name: (line.model, first[line.versions_of or name] if line.family == line.model else line.family)
        for name, line in lines.items()
    }


def only_judging(cards: Mapping[str, Mapping[str, Any]], settings: ArenaSettings) -> set[str]:
    """The names of those who only judge, by the settings or, of who left, by the last registration."""
    playing = {player.name for player in settings.players}
    judging = {name for name, card in cards.items() if card.get("role") == "judge"}
    return (judging | {judge.name for judge in settings.judges}) - playing


def as_registered(ledger: Ledger, player: PlayerSettings, price: Price) -> bool:
    """Return whether a player's settings, price and limits are still those of its last registration."""
    before, now = registered(ledger).get(player.name, {}), card(player, price)
    return all(before.get(name) == value for name, value in now.items() if name != "price_source")


def registrations(
    ledger: Ledger,
    players: Iterable[tuple[PlayerSettings, Price]],
    key: str,
    after_match: int,
    at_ms: int,
    left_out: Mapping[str, Iterable[str]] = {},
    judges: Collection[str] = (),
) -> list[Amendment]:
    """The amendments that register new and changed players, valid from the match after `after_match`;
    `key` is the arena's sealing key. `left_out` names by player what its server was found not to take; what
    is on record of that stays. `judges` are the names of those who only judge."""
    known = registered(ledger)
    new: list[Amendment] = []
    for player, price in players:
        now = {"name": player.name, "family": player.family} | card(player, price)
        now["identity"] = identity(player, key)
        if player.name in judges:
            now["role"] = "judge"
        before = dict(known.get(player.name, {}))
        before.pop("after_match", None)
        if refused := sorted({*before.get("left_out", ()), *left_out.get(player.name, ())}):
            now["left_out"] = refused
        if before == now:
            continue
        new.append(Amendment(PLAYERS, msgspec.json.encode(now | {"after_match": after_match}), at_ms))
    return new
