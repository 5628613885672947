"""Pairing to place one player: every match is one of its own, against who says most about where it is. Pure.

As `order` with a goal (`scheduling.aim`), but only that player's matches are drawn up. A round has a quarter
of the usual number, so that few are under way when its place is known.
"""

from __future__ import annotations

import numpy as np


def matches(players: int, seats: int = 2) -> int:
    """How many a round of so many players holds."""
    return max(1, players // 8) if seats == 2 else 1


def only(pairs: np.ndarray, player: int) -> np.ndarray:
    """Of a value for each pair those of one player, by index, and nothing for the others."""
    found = np.zeros_like(pairs)
    found[..., player, :], found[..., player] = pairs[..., player, :], pairs[..., player]
    return found
