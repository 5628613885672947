"""Models that providers say that they served; every change is an entry of the log.

`openai:gpt-4o` names whatever its provider serves under that name. Replies say which (`gpt-4o-2024-08-06`),
and one day they say another. That is no new version, since nobody changed the player, but a reader of its
rating must know. An entry is written with the record it rests on and follows from the replies alone: the
provider names a model for the first time, or an earlier one is back and the newest was not named for `WINDOW`
matches. (Matches in flight while a provider changes over name both; that is one change, not many.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec
from msgspec import Struct

from peerage.ledger import Amendment, Ledger
from peerage.ledger.forms.codec import named_model
from peerage.values import grouped
from peerage.values.figures import counted

TOPIC = "models"
WINDOW = 64
"""Matches of the arena, by any players."""
MOST = 50
"""Entries for one player: a hostile agent may name another model with every reply."""


class Change(Struct, frozen=True, omit_defaults=True):
    """From match `match` on the provider of `player` names `model`, before it `before` ("" for the first)."""

    player: str
    model: str
    match: int
    before: str = ""

    @property
    def in_words(self) -> str:
        if not self.before:
            return f"from match {self.match:,} on the provider names {self.model}"
        return f"from match {self.match:,} on the provider names {self.model} (before: {self.before})"


_read = msgspec.json.Decoder(Change).decode


@dataclass
class Watch:
    """The entries as a run carries them on; `changes` are all entries by player."""

    changes: dict[str, list[Change]] = field(default_factory=dict)
    _last: dict[tuple[str, str], int] = field(default_factory=dict)
    """The place of the last match in which each player's provider named each model, as far as it matters."""

    @classmethod
    def of(cls, ledger: Ledger) -> Watch:
        """Return where the entries of a ledger stand after its last record."""
        watch = cls(changes(ledger))
        if not watch.changes:
            return watch
        recorded = ledger.heads()[1]
        first = max(1, recorded - WINDOW + 1)
        places = {number: place for place, number in enumerate(ledger.numbers(first, recorded), first)}
        for exchange in ledger.exchanges(first, recorded):
            if exchange.reply is not None and (model := named_model(exchange.reply)):
                watch._last[exchange.player, model] = places[exchange.match]
        return watch

    def see(self, place: int, match: int, named: Mapping[str, Iterable[str]]) -> list[Change]:
        """Take in the next folded match, with the models that replies named. Return what to put on record."""
        changed = []
        for player in sorted(named):
            known = self.changes.get(player, [])
            names, now = set(named[player]), known[-1].model if known else ""
            new = sorted(names - {change.model for change in known})
            if not new and now not in names and self._last.get((player, now), 0) <= place - WINDOW:
                new = sorted(names)[:1]
            for model in new[: MOST - len(known)]:
                change = Change(player, model, match, now)
                self.changes.setdefault(player, []).append(change)
                changed.append(change)
                now = model
            self._last.update(dict.fromkeys([(player, name) for name in names], place))
        return changed

    def enter(self, change: Change, at_ms: int) -> Amendment:
        """The row to be written for a change."""
        return Amendment(TOPIC, msgspec.json.encode(change), at_ms)


def changes(ledger: Ledger) -> dict[str, list[Change]]:
    """Every change on record by player, the first model included."""
    changes = [_read(row.body) for row in ledger.amendments(TOPIC)]
    return grouped((change.player, change) for change in changes)


def in_words(by_player: Mapping[str, list[Change]], player: str) -> list[str]:
    """Return what a reader of a player's rating must know: the last change, and how many there were."""
    own = by_player.get(player, [])
    if len(own) < 2:
        return []
    more = f", after {counted(len(own) - 2, 'change')} before" if len(own) > 2 else ""
    return [f"{own[-1].in_words}{more}"]
