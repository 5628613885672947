"""Players that can be compared: the strong components of the graph of wins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np


def strong_components(beats: np.ndarray) -> tuple[tuple[int, ...], ...]:
    """Groups of players between whom wins lead both ways, each sorted, in order of their first player.
    `beats` is a boolean matrix, [i, j] when i beat or tied j. One group means that finite ratings fit (Ford,
    "Solution of a ranking problem from binary comparisons", American Mathematical Monthly 1957)."""
    forward, backward = _rows(beats), _rows(beats.T)
    finished = [player for tree in _trees(forward, range(len(beats))) for player in tree]
    groups = [tuple(sorted(tree)) for tree in _trees(backward, reversed(finished))]
    return tuple(sorted(groups))


def _rows(edges: np.ndarray) -> list[int]:
    """Each row of a boolean matrix as the bits of a number, by which a chain of thousands is walked fast."""
    packed = np.packbits(edges, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


def _trees(edges: Sequence[int], starts: Iterable[int]) -> Iterator[list[int]]:
    """Yield what each start reaches of what none before it reached, depth first, in the order in which the
    walk leaves it (Kosaraju's algorithm: Sharir, "A strong-connectivity algorithm", 1981)."""
    unseen = (1 << len(edges)) - 1
    for start in starts:
        if not unseen >> start & 1:
            continue
        unseen ^= 1 << start
        path, left = [start], []
        while path:
            ahead = edges[path[-1]] & unseen
            if ahead:
                path.append((ahead & -ahead).bit_length() - 1)
                unseen ^= ahead & -ahead
            else:
                left.append(path.pop())
        yield left
