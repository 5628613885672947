"""One file per game: a plain generator that yields requests and returns an outcome."""

from __future__ import annotations

from typing import Any

from peerage.games.duel import DUEL
from peerage.games.game import GameSpec

GAMES: dict[str, GameSpec[Any]] = {game.name: game for game in (DUEL,)}
"""Every game by name, in the order they are listed."""
