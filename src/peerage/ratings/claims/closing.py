"""Claims that follow from others. Pure."""

from __future__ import annotations

import numpy as np


def closed(above: np.ndarray) -> np.ndarray:
    """Return claims with all that follow from them, but for those that contradict each other."""
    rows = np.packbits(above, axis=1)
    for player in np.flatnonzero(above.any(axis=0) & above.any(axis=1)):
        through = rows[:, player >> 3] >> (7 - (player & 7)) & 1
        rows[through > 0] |= rows[player]
    reached = np.unpackbits(rows, axis=1, count=len(above)).astype(bool)
    return np.asarray(reached & ~reached.T)
