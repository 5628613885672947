"""The strong components of the graph of wins: against who reaches whom, and of a long chain."""

from __future__ import annotations

import numpy as np

from peerage.ratings.columns.connection import strong_components


def reaching(beats: np.ndarray) -> tuple[tuple[int, ...], ...]:
    """The same by squaring: who reaches whom, and back."""
    reach = beats | np.eye(len(beats), dtype=bool)
    for _ in range(len(beats)):
        reach = reach @ reach
    both = reach & reach.T
    return tuple(sorted({tuple(np.flatnonzero(row).tolist()) for row in both}))


def test_groups_are_those_who_reach_each_other() -> None:
    rng = np.random.default_rng(7)
    found = set()
    for players in range(9):
        for density in (0.05, 0.2, 0.4):
            for _ in range(5):
                beats = rng.random((players, players)) < density
                assert strong_components(beats) == reaching(beats)
                found.add(len(reaching(beats)))
    assert len(found) > 5, "graphs of many kinds"


def test_a_chain_of_thousands_is_as_many_groups() -> None:
    chain = np.eye(3_000, k=1, dtype=bool)
    assert strong_components(chain) == tuple((player,) for player in range(3_000))
    assert strong_components(chain | chain.T) == (tuple(range(3_000)),)
