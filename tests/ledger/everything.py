"""An arena with an entry of every kind: a benched player that returns, a player's second version, statements
on challenges, opinions, outside results, a match in play, and a secret that is disclosed at the end.
"""

from __future__ import annotations

import io
import json
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.engine.arenas import house, ledger_of, paced, play, write_arena
from tests.engine.clients import Cast
from tests.ledger.tampered import BATTLES

from peerage.ledger import amend
from peerage.ledger.forms.merkle import digest
from peerage.ledger.topics import outside
from peerage.ledger.topics.public import Opinion, enter
from peerage.ledger.topics.secret import disclose
from peerage.players.client import Call, Client, PlayerError
from peerage.ratings.read import results as reading
from peerage.ratings.read.histories import Battles
from peerage.settings import PlayerSettings

SETTINGS: dict[str, Any] = {
    "game": "challenge-exchange",
    "rules": {"seats": 3, "proof": "blind", "attempts": 1},
    "pairing": {"window": 2},
    "seed": 5,
}


def arena(folder: Path) -> Path:
    """The settings of the arena, as they are when it ends."""
    players = house(5, price={"input": 1.0, "output": 4.0})
    players[1] |= {"version": 2, "model": "house:0.70"}
    return write_arena(folder, players, **SETTINGS)


def everything(folder: Path) -> Path:
    """Play the arena: 8 matches; then the secret is disclosed."""
    write_arena(folder, house(5, price={"input": 1.0, "output": 4.0}), **SETTINGS)
    play(folder, 4, clients=_failing)
    arena(folder)
    play(folder, 8)
    with closing(ledger_of(folder)) as ledger:
        records = {row.number: row for row in ledger.records()}
        facts = [fact for row in records.values() for fact in json.loads(row.body)["outcome"]["facts"]]
        challenges = [fact["challenge_id"] for fact in facts if fact["fact"] == "challenge"]
        parsed = reading.read([("b.csv", io.BytesIO(BATTLES))])
        assert isinstance(parsed, Battles)
        source = outside.Source("b.csv", "ab" * 32, parsed.layout, parsed.names, len(parsed.duels))
        with ledger.runner():
            for action, name in zip(("flag", "withdraw", "retire"), challenges, strict=False):
                entry = {"action": action, "challenge_id": name, "reason": "so"}
                amend(ledger, "challenges", [entry | ({"flag": "wrong"} if action == "flag" else {})], 7)
            outside.enter(ledger, source, parsed, 8)
            enter(ledger, Opinion(2, digest(records[2].body), "ann", {"A": 7.0}), 9)
            disclose(ledger, 10)
    return folder


def _failing(settings: PlayerSettings) -> Client:
    def gone(call: Call, attempt: int) -> PlayerError | None:
        return PlayerError("gone for good", kind="permanent")

    return Cast(gone)(settings) if settings.name == "p3" else paced()(settings)
