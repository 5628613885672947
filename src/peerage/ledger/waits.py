"""Matches that wait: they left their rounds to go on later, by entries of the log. Pure.

A match that cannot go on now, since a player pauses for long or says "later", leaves its round by an entry:
rounds go on without it, and pairing counts it as in flight. When it is taken up again a second entry says so,
and when it ends it is folded then, whatever its number. `peerage queue --drop` ends one without a result.
When a match leaves depends on time, so it is on record; all that follows from it follows from the log.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

import msgspec
from msgspec import Struct

from peerage.ledger.store import Amendment, Ledger

TOPIC = "waits"


class Wait(Struct, frozen=True, omit_defaults=True):
    """One entry, written when `after` matches were on record. `why` says why the match waits for `player`, or
    why it was dropped; `until_ms` is when it may go on, in Unix milliseconds, where that is known."""

    match: int
    event: Literal["waits", "goes on", "dropped"]
    after: int
    player: str = ""
    why: str = ""
    until_ms: int | None = None


class Waiting(Struct, frozen=True):
    """A match that waits: for which player and why, since when it first did, and until when, in Unix
    milliseconds (None: not known)."""

    match: int
    player: str
    why: str
    since_ms: int
    until_ms: int | None


read_wait = msgspec.json.Decoder(Wait).decode
"""An entry. Raises msgspec.MsgspecError."""


@dataclass
class Waits:
    """The entries as a run carries them on.

    `left` maps every match that ever left its round to how many matches were on record when it first did;
    `now` holds those that wait.
    """

    left: dict[int, int] = field(default_factory=dict)
    now: dict[int, Waiting] = field(default_factory=dict)
    _since: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Iterable[Amendment]) -> Waits:
        found = cls()
        for row in rows:
            found._take(read_wait(row.body), row.at_ms)
        return found

    def enter(self, entry: Wait, at_ms: int) -> Amendment:
        """Take an entry in; the row to be written."""
        self._take(entry, at_ms)
        return Amendment(TOPIC, msgspec.json.encode(entry), at_ms)

    def _take(self, entry: Wait, at_ms: int) -> None:
        self.left.setdefault(entry.match, entry.after)
        if entry.event == "waits":
            since = self._since.setdefault(entry.match, at_ms)
            self.now[entry.match] = Waiting(entry.match, entry.player, entry.why, since, entry.until_ms)
        else:
            self.now.pop(entry.match, None)


def waits(ledger: Ledger) -> Waits:
    """Where a ledger's entries about waits stand."""
    return Waits.of(ledger.amendments(TOPIC))
