"""An arena as its pages read it: one moment of its ledger, and what was computed from that so far."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from peerage.games import GAMES
from peerage.ledger import Ledger, open_ledger
from peerage.ledger.merkle import GENESIS
from peerage.ledger.store import Summary
from peerage.settings import ArenaSettings, load
from peerage.site.story import Reader
from peerage.tables.leaderboard import Row, leaderboard

Menu: TypeAlias = tuple[tuple[str, str], ...]
"""(path, name) of pages that the menu leads to."""

BUNDLE = 20
"""Matches on one page of transcripts. Fixed, so that the address of a match never changes."""


class Site:
    """An arena up to record `number`, whose chain value is `chain` (hex).

    Reads what a page needs when it is first asked for, and keeps it. `refreshed` gives the next moment.
    Threads may share it: at worst two of them compute the same.
    """

    def __init__(
        self, settings: ArenaSettings, ledger: Ledger, before: Site | None = None, menu: Menu = ()
    ) -> None:
        self.settings = settings
        self.ledger = ledger
        self.menu = menu
        self.number = ledger.heads()[1]
        self.chain = next((row.chain for row in ledger.records(self.number, self.number)), GENESIS).hex()
        self._before = before
        self._tables: dict[str, Sequence[Row]] = {}

    @classmethod
    def open(cls, folder: Path, menu: Menu = ()) -> Site:
        """The arena in `folder` as it is now; `menu` are entries for what only a server has.

        Raises SettingsError and LedgerError.
        """
        settings = load(folder)
        return cls(settings, open_ledger(settings.ledger, folder, create=False), menu=menu)

    def refreshed(self) -> Site:
        """The arena as it is now: this site itself while no match was added to it."""
        if self.ledger.heads()[1] == self.number:
            return self
        return Site(self.settings, self.ledger, self, self.menu)

    def close(self) -> None:
        """Release the ledger, which refreshed sites share."""
        self.ledger.close()

    @property
    def track(self) -> str:
        """The track that the arena's game shows first."""
        return GAMES[self.settings.game].tracks[0]

    @property
    def tracks(self) -> tuple[str, ...]:
        """The tracks that the arena's game feeds, the first one first; TrueSkill is fed by every game."""
        return tuple(dict.fromkeys((*GAMES[self.settings.game].tracks, "trueskill")))

    def table(self, track: str = "") -> Sequence[Row]:
        """The leaderboard of one track, by default the game's own."""
        track = track or self.track
        if track not in self._tables:
            self._tables[track] = leaderboard(self.ledger, self.settings, track)
        return self._tables[track]

    @cached_property
    def summaries(self) -> Sequence[Summary]:
        """The narrow table up to this moment."""
        return tuple(self.ledger.summaries(1, self.number))

    @cached_property
    def reader(self) -> Reader:
        """Reads matches as stories."""
        return Reader(self.ledger)

    @cached_property
    def slugs(self) -> Mapping[str, str]:
        """Every player's name → how its page's address names it."""
        return {row.player: slug(row.player) for row in self.table()}


def slug(name: str) -> str:
    """A name as part of an address: readable, and told apart by its digest whatever characters it holds."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40]
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain}-{digest}" if plain else digest


def bundle(number: int) -> int:
    """The first match on the page of transcripts that holds match `number`."""
    return (number - 1) // BUNDLE * BUNDLE + 1
