"""Settings that decide numbers: a run writes them down whenever they are other than before.

Of lists that are drawn from, such as the owner's own tasks, the log holds how many there are and a keyed
digest. What answers under a player's name is registered with the player (`registration`).
"""

from __future__ import annotations

import hmac
from hashlib import sha256
from typing import Any

import msgspec

from peerage.game.texts import digests
from peerage.games import GAMES, release_of
from peerage.ledger import Amendment, Batch, Ledger
from peerage.ledger.topics.settings_log import TOPIC, Stated, statements
from peerage.settings import ArenaSettings, rules_of
from peerage.settings.game_texts import TEXTS


def log_settings(ledger: Ledger, settings: ArenaSettings, key: str, at_ms: int) -> None:
    """Write down the settings of the matches to come, where they are new; the caller holds the runner's lock.
    `key` is the arena's sealing key."""
    now = _stated(settings, key, ledger.heads()[0])
    newest = statements(ledger)[-1:]
    if not newest or newest[0].players != now.players or newest[0].settings != now.settings:
        ledger.write(Batch(amendments=[Amendment(TOPIC, msgspec.json.encode(now), at_ms)]))


def _stated(settings: ArenaSettings, key: str, after_match: int) -> Stated:
    games = {
        name: {"version": GAMES[name].version, "weight": game.weight, "rules": _rules(settings, name, key)}
        | _not_ours(name)
        for name, game in sorted(settings.lineup.items())
    }
    arena = settings.model_dump(mode="json", include={"pairing", "rating", "budget"})
    players = tuple(sorted(player.name for player in settings.everyone))
    # as it comes back from the log: tuples as lists, whole floats as they were
    whole = msgspec.json.decode(msgspec.json.encode({"games": games, **arena}))
    return Stated(after_match, players, whole)


def _not_ours(game: str) -> dict[str, str]:
    """The package or the file, with its digest, that plays a game which is not our own."""
    _, _, release = release_of(game).partition(" ")
    return {"release": release} if release else {}


def _rules(settings: ArenaSettings, game: str, key: str) -> dict[str, Any]:
    rules: dict[str, Any] = rules_of(settings, game).model_dump(mode="json")
    for name in GAMES[game].files:
        if rules.get(name):
            digest = hmac.new(key.encode(), msgspec.json.encode(rules[name]), sha256).hexdigest()
            rules[name] = {"how_many": len(rules[name]), "digest": digest}
    if rules.get(TEXTS):  # a fixture has them whole, stored once
        rules[TEXTS] = digests(rules[TEXTS])
    return rules
