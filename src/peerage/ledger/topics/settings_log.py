"""The settings that an arena was played with, and every later change of them, as entries of the log.

A run whose settings differ from the newest entry writes another one before its first match. So the log says
which rules, pairing, budget and players the first match had, and what was changed after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from peerage.ledger.forms.rows import LedgerError
from peerage.ledger.ledger import Ledger, amended

TOPIC = "settings"
PLAYERS = "players"
"""The entries that register players; see `engine.record.registration`."""
_ABOUT_A_CARD = ("after_match", "identity", "price_source", "thinking_because")
"""Fields of a player's registration next to its settings and price."""


class Stated(Struct, frozen=True):
    """The settings of the matches after `after_match`: `players` by name, and what decides numbers.
    `settings` has `games` with version, weight and rules, `pairing`, `rating` and `budget`."""

    after_match: int
    players: tuple[str, ...]
    settings: dict[str, Any]


class SettingsChange(Struct, frozen=True):
    """A setting that changed after match `after_match`: its path, or `players.NAME`; null for none."""

    after_match: int
    what: str
    was: Any = None
    now: Any = None

    @property
    def in_words(self) -> str:
        """The change in words."""
        name = self.what.removeprefix("players.")
        if name in (self.was, self.now):
            change = f"{name} was {'added' if self.was is None else 'withdrawn'}"
        else:
            change = f"{self.what} is {_short(self.now)}, not {_short(self.was)}"
        return f"after match {self.after_match:,}: {change}"


def statements(ledger: Ledger) -> tuple[Stated, ...]:
    """Return every entry about settings, oldest first. Raises LedgerError for one that cannot be read."""
    return tuple(amended(ledger, TOPIC, Stated))


class Registration(NamedTuple):
    """An entry about a player: its `card`, valid from the match after `after_match`."""

    name: str
    after_match: int
    card: Mapping[str, Any]


def registrations(ledger: Ledger) -> Iterator[Registration]:
    """Give every entry about a player, oldest first. Raises LedgerError for one that cannot be read."""
    for row in ledger.amendments(PLAYERS):
        try:
            card = msgspec.json.decode(row.body, type=dict[str, Any])
            stated = card.get("name"), card.get("after_match", 0), card
            yield msgspec.convert(stated, Registration)
        except msgspec.MsgspecError as error:
            raise LedgerError(f"entry {row.position} of the log registers no player: {error}") from error


def settings_changes(ledger: Ledger) -> tuple[SettingsChange, ...]:
    """Return every change of settings and of registered players, in order. Raises LedgerError."""
    return tuple(sorted([*_of_settings(ledger), *_of_players(ledger)], key=attrgetter("after_match")))


def _of_players(ledger: Ledger) -> Iterator[SettingsChange]:
    known: dict[str, dict[str, Any]] = {}
    for name, after_match, card in registrations(ledger):
        shown = {key: value for key, value in card.items() if key not in _ABOUT_A_CARD}
        if name in known:
            yield from _leaves(after_match, f"players.{name}", known[name], shown)
        known[name] = shown


def _of_settings(ledger: Ledger) -> Iterator[SettingsChange]:
    for before, now in pairwise(statements(ledger)):
        for name in sorted({*before.players} ^ {*now.players}):
            was, is_now = (name if name in each.players else None for each in (before, now))
            yield SettingsChange(now.after_match, f"players.{name}", was, is_now)
        yield from _leaves(now.after_match, "", before.settings, now.settings)


def _leaves(after_match: int, path: str, was: Any, now: Any) -> Iterator[SettingsChange]:
    if isinstance(was, dict) and isinstance(now, dict):
        for key in sorted(was.keys() | now.keys()):
            yield from _leaves(after_match, f"{path}.{key}" if path else key, was.get(key), now.get(key))
    elif was != now:
        yield SettingsChange(after_match, path, was, now)


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= 60 else f"{text[:59]}…"
