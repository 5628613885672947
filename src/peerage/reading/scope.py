"""Scopes: which of an arena's matches a table is about."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class ScopeError(ValueError):
    """A table was asked for that there cannot be; the message says why and what there is."""


class Scope(Struct, frozen=True):
    """Subject of a table; empty: every game, every topic, players on any side.

    `weights` say how much a match of a game counts, and `games` how much a whole game does on the track
    `overall`, 1 by default. `source` says whose results count: those `played` here, the `outside` ones that
    were imported, those of one file by its name or digest, or `all`. Outside results have no game, topic,
    side, or place in the arena's order: of `all`, tables of these count what was played here alone.
    """

    game: str = ""
    topic: str = ""
    weights: Mapping[str, float] = {}
    source: str = "all"
    side: str = ""
    games: Mapping[str, float] = {}

    def holds(self, game: str, topic: str) -> bool:
        return self.game in ("", game) and self.topic in ("", topic)

    @property
    def own(self) -> bool:
        """Return whether the arena's own matches count."""
        return self.source in ("all", "played")


EVERYTHING = Scope()
