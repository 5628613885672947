"""Matches that wait: they left their rounds to go on later, by entries of the log. Pure.

A match that cannot go on now, since a player pauses for long or says "later", leaves its round by an entry:
rounds go on without it, and pairing counts it as in flight. When it is taken up again a second entry says so,
and when it ends it is folded then, whatever its number. `peerage status --drop` ends one without a result.
When a match leaves depends on time, so it is on record; all that follows from it follows from the log.

The player for whom a match waits is sealed (`sealing`), since it may reveal who holds which role.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import Struct

from peerage.ledger.forms.log import WAITS
from peerage.ledger.forms.rows import Amendment
from peerage.ledger.ledger import Ledger
from peerage.values.sealing import Sealed, salt, seal, unseal

TOPIC = WAITS


Event: TypeAlias = Literal["waits", "goes on", "dropped"]


class Wait(NamedTuple):
    """One entry, written when `after` matches were on record. `why` says why the match waits for `player`, or
    why it was dropped; `until_ms` is when it may go on, in Unix milliseconds, where that is known. A copy for
    others does not hold these three."""

    match: int
    event: Event
    after: int
    player: str = ""
    why: str = ""
    until_ms: int | None = None


class _Stored(Struct, frozen=True, omit_defaults=True):
    """An entry as it is written: `sealed` are player, reason and time."""

    match: int
    event: Event
    after: int
    sealed: Mapping[str, str] = {}


class Waiting(Struct, frozen=True):
    """A match that waits: for which player, why, since and until when, Unix milliseconds (None: unknown)."""

    match: int
    player: str
    why: str
    since_ms: int
    until_ms: int | None


_read = msgspec.json.Decoder(_Stored).decode


def read_wait(body: bytes) -> Wait:
    """An entry. Raises msgspec.MsgspecError."""
    stored = _read(body)
    sealed: tuple[str, str, int | None] = "", "", None
    if stored.sealed:
        with suppress(Sealed):  # else this is a copy
            sealed = msgspec.convert(unseal(stored.sealed), tuple[str, str, int | None])
    return Wait(stored.match, stored.event, stored.after, *sealed)


Stage: TypeAlias = tuple[int, int]
"""A moment of the log: how many matches were on record then, and how many entries about waits."""


@dataclass
class Waits:
    """The entries as a run carries them on. `left` maps every match that has left its round to the moment
    when it first did; `now` holds those that wait."""

    left: dict[int, Stage] = field(default_factory=dict)
    now: dict[int, Waiting] = field(default_factory=dict)
    _since: dict[int, int] = field(default_factory=dict)
    _after: list[int] = field(default_factory=list)
    _for: dict[int, list[tuple[int, str]]] = field(default_factory=dict)
    """For whom each match waited, by number of the entry."""
    _folded: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Iterable[Amendment]) -> Waits:
        carried = cls()
        for row in rows:
            carried._take(read_wait(row.body), row.at_ms)
        return carried

    def enter(self, entry: Wait, at_ms: int, key: str) -> Amendment:
        """Take an entry in; the row to be written. `key` is its match's, disclosed when that is over."""
        self._take(entry, at_ms)
        sealed = seal(salt(key, f"wait/{self.entries}"), entry[3:]) if entry.player else {}
        return Amendment(TOPIC, msgspec.json.encode(_Stored(*entry[:3], sealed=sealed)), at_ms)

    @property
    def entries(self) -> int:
        return len(self._after)

    def at(self, records: int) -> Stage:
        """The moment when so many matches were on record and the last of them was new."""
        return records, bisect_left(self._after, records)

    def folded(self, number: int, place: int) -> None:
        """A match that had left its round is on record, at this place."""
        self._folded[number] = place

    def unfinished(self, moment: Stage) -> Counter[str]:
        """For each player how many matches had left their rounds for it and were not on record yet; moments
        only rise from call to call."""
        records, entries = moment
        for number in [number for number, place in self._folded.items() if place <= records]:
            self._for.pop(number, None)
            del self._folded[number]
        known = [[player for at, player in waited if at <= entries] for waited in self._for.values()]
        return Counter([players[-1] for players in known if players])

    def unfinished_now(self) -> Counter[str]:
        """The same at this moment."""
        return Counter([waited[-1][1] for number, waited in self._for.items() if number not in self._folded])

    def _take(self, entry: Wait, at_ms: int) -> None:
        self._after.append(entry.after)
        self.left.setdefault(entry.match, (entry.after, self.entries))
        if entry.event == "waits":
            self._for.setdefault(entry.match, []).append((self.entries, entry.player))
            since = self._since.setdefault(entry.match, at_ms)
            self.now[entry.match] = Waiting(entry.match, entry.player, entry.why, since, entry.until_ms)
        else:
            self.now.pop(entry.match, None)


def waits(ledger: Ledger) -> Waits:
    """Return where a ledger's entries about waits stand."""
    return Waits.of(ledger.amendments(TOPIC))
