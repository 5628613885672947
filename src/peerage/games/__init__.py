"""One file per game: a plain generator that yields requests and returns an outcome."""

from __future__ import annotations

from typing import Any

from peerage.games.game import GameSpec

GAMES: dict[str, GameSpec[Any]] = {}
"""Every game by name, in the order they are listed."""
