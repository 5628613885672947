"""Who can be compared with whom: the strong components of the graph of wins."""

from __future__ import annotations

import numpy as np


def strong_components(beats: np.ndarray) -> tuple[tuple[int, ...], ...]:
    """Groups of players between whom wins lead both ways, each sorted, in order of their first player.

    `beats` is a boolean matrix, [i, j] when i beat or tied j. One group means that finite ratings fit (Ford,
    "Solution of a ranking problem from binary comparisons", American Mathematical Monthly 1957).
    """
    unplaced = np.ones(len(beats), bool)
    groups = []
    for first in range(len(beats)):
        if unplaced[first]:
            group = _reach(beats, first, unplaced) & _reach(beats.T, first, unplaced)
            unplaced &= ~group
            groups.append(tuple(np.flatnonzero(group).tolist()))
    return tuple(groups)


def _reach(edges: np.ndarray, first: int, within: np.ndarray) -> np.ndarray:
    seen = np.zeros(len(edges), bool)
    seen[first] = True
    frontier = seen
    while frontier.any():
        frontier = edges[frontier].any(axis=0) & within & ~seen
        seen = seen | frontier
    return seen
