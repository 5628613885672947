"""Preregistration: what an arena will do, written down before its first match, and how settings differ later.

Registered is what decides numbers: players with what answers, games with their versions and rules, pairing,
ratings, and when it is over. Of the owner's own prompts, which are drawn from, there is a commitment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from peerage.engine.registration import ANSWERS, stated
from peerage.games import GAMES, release_of
from peerage.ledger.preregistration import (
    TOPIC,
    Change,
    Plan,
    Preregistration,
    Stop,
    differs_body,
    preregistration,
    registered_body,
)
from peerage.ledger.secret import arena_secret, commitment, read_secret
from peerage.ledger.store import Amendment, Batch, Ledger
from peerage.sealing import COMMITMENT, SALT, committed, salt, seal, sealing_key
from peerage.settings import ArenaError, ArenaSettings, PlayerSettings, SettingsError, rules_of

_OF_A_PLAYER = ("family", "version", "slots", "price", "gpu_hour_price", "watts", *ANSWERS)
"""The settings of a player that decide numbers, beside its name."""


def stop_of(settings: ArenaSettings, stop: Stop) -> Stop:
    """A stopping rule with the budget that the settings state. Raises SettingsError where nothing ends it."""
    budget = _budget(settings)
    if stop.matches is None and stop.until is None and "arena" not in budget:
        raise SettingsError(
            "nothing says when this arena is over: state `--max-matches N` or `--until 2026-12-31`, or write "
            "`budget: 10` (dollars) into arena.yaml"
        )
    return msgspec.structs.replace(stop, budget=budget)


def _budget(settings: ArenaSettings) -> dict[str, float]:
    return {name: float(most) for name, most in settings.budget.model_dump().items() if most is not None}


def plan_of(settings: ArenaSettings, stop: Stop, key: str) -> Plan:
    """What settings say of players and numbers; `key` is the arena's sealing key."""
    players = {}
    for player in sorted(settings.players, key=lambda one: one.name):
        shown = stated(player)
        players[player.name] = {name: shown[name] for name in _OF_A_PLAYER if name in shown} | {
            "model": player.public_model,
            "family": player.family,
        }
        if player.provider in ("command", "http", "https"):
            players[player.name]["address"] = _address(player, key)
    games = {
        name: {
            "version": GAMES[name].version,
            "weight": one.weight,
            "rules": _rules(settings, name, key),
        }
        | _not_ours(name)
        for name, one in sorted(settings.lineup.items())
    }
    return Plan(
        players,
        {
            "games": games,
            "pairing": settings.pairing.model_dump(mode="json"),
            "rating": settings.rating.model_dump(mode="json"),
        },
        stop,
    )


def _not_ours(game: str) -> dict[str, str]:
    """The package or the file, with its digest, that plays a game which is not our own."""
    _, _, release = release_of(game).partition(" ")
    return {"release": release} if release else {}


def _address(player: PlayerSettings, key: str) -> dict[str, str]:
    """A commitment to what is never shown of an agent: its arguments, or credentials and query of its URL."""
    opened = seal(salt(key, f"{TOPIC}/{player.name}"), [player.model, *player.command])
    closed: dict[str, str] = msgspec.json.decode(committed(msgspec.json.encode(opened)))
    return closed


def _rules(settings: ArenaSettings, game: str, key: str) -> dict[str, Any]:
    """A game's rules; what is drawn from is sealed: it is nowhere else on the ledger before it is drawn."""
    rules: dict[str, Any] = rules_of(settings, game).model_dump(mode="json")
    for name in GAMES[game].lists:
        if rules.get(name):
            sealed = seal(salt(key, f"{TOPIC}/{game}/{name}"), rules[name])
            rules[name] = {"how_many": len(rules[name]), "texts": sealed}
    return rules


def preregister(ledger: Ledger, settings: ArenaSettings, stop: Stop, at_ms: int) -> Preregistration:
    """Write down players, settings and stopping rule; the caller holds the runner's lock.

    What is on record already stays; the same once more changes nothing. Raises ArenaError after the first
    match, and where something else was registered; SettingsError where nothing ends the arena.
    """
    rule = stop_of(settings, stop)
    before, issued = preregistration(ledger), ledger.heads()[0]
    where = ledger.address.removeprefix("sqlite:///")
    if before is None and issued:
        raise ArenaError(
            f"{where} has {issued:,} matches already, and what is planned after the first one is no "
            "preregistration. Start a new arena in another folder"
        )
    key = sealing_key(arena_secret(ledger, settings.secret_seed, at_ms=at_ms))
    plan = msgspec.structs.replace(plan_of(settings, rule, key), arena=commitment(ledger))
    body = registered_body(plan)
    if before is None:
        ledger.write(Batch(amendments=[Amendment(TOPIC, body, at_ms)]))
        written = preregistration(ledger)
        assert written is not None
        return written
    again = list(differences(before.plan, msgspec.json.decode(body)["plan"]))
    if before.plan.stop != rule:
        again.append(Change("stop", before.plan.stop.in_words, rule.in_words))
    if again:
        raise ArenaError(
            f"{where} is preregistered as {before.quoted}, and this is something else: "
            f"{'; '.join([one.in_words for one in again])}. It stays as it is; what is done otherwise is "
            "shown as a deviation"
        )
    return before


def differences(before: Plan, now: Mapping[str, Any]) -> Iterator[Change]:
    """How a plan, as plain data, differs from a registered one: players by name, settings by their paths."""
    for name in sorted(before.players.keys() | now["players"].keys()):
        was, is_now = before.players.get(name), now["players"].get(name)
        if was is None or is_now is None:
            yield Change(f"players.{name}", was, is_now)
        else:
            yield from _leaves(f"players.{name}", was, is_now)
    yield from _leaves("", before.settings, now["settings"])
    yield from _leaves("budget", before.stop.budget, now["stop"].get("budget", {}))


def _leaves(path: str, was: Any, now: Any) -> Iterator[Change]:
    if isinstance(was, dict) and (SALT in was or COMMITMENT in was):
        if was != now:
            yield Change(path, "those registered", "others")
    elif isinstance(was, dict) and isinstance(now, dict):
        for key in sorted(was.keys() | now.keys()):
            yield from _leaves(f"{path}.{key}" if path else key, was.get(key), now.get(key))
    elif was != now:
        yield Change(path, was, now)


def differing(ledger: Ledger, settings: ArenaSettings) -> tuple[Change, ...]:
    """How these settings differ from what is registered; nothing where nothing is."""
    found, secret = preregistration(ledger), read_secret(ledger)
    if found is None or secret is None or not secret.value:
        return ()
    stop = msgspec.structs.replace(found.plan.stop, budget=_budget(settings))
    now = msgspec.json.decode(registered_body(plan_of(settings, stop, sealing_key(secret.value))))
    return tuple(differences(found.plan, now["plan"]))


def note_differences(ledger: Ledger, settings: ArenaSettings, at_ms: int) -> None:
    """Put on record how the settings of a run differ from what is registered, where that is new; the caller
    holds the runner's lock."""
    found = preregistration(ledger)
    if found is None:
        return
    changes = differing(ledger, settings)
    if [one.in_words for one in changes] != [one.in_words for one in found.changes]:
        body = differs_body(ledger.heads()[0], changes)
        ledger.write(Batch(amendments=[Amendment(TOPIC, body, at_ms)]))
