"""Results that were there before: the same ones from another file, or in another form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

import numpy as np

from peerage.ratings.read.histories import Battles, PlayedGames

FEWEST = 10
"""Fewer results that are the same may be so by chance."""

_DAY = 86_400


def repeated(new: Sequence[Battles | PlayedGames], before: Sequence[Battles | PlayedGames]) -> int:
    """Count the results in `new` that are in `before`, whatever the form of either; 0 below `FEWEST`. Where
    times are finer than a day, a result is the same if it has the same players, outcome and time (to a
    millisecond). Elsewhere all results of a part are the same as those of another part, or of all parts
    together, in any order, or none is."""
    dated, known = Counter[Hashable](), Counter[Hashable]()
    for columns in filter(_timed, new):
        dated.update(_dated(columns))
    for columns in filter(_timed, before):
        known.update(_dated(columns))
    seen_before = (dated & known).total()
    for columns in new:
        others = [Counter(_outcomes(other)) for other in before if not (_timed(columns) and _timed(other))]
        outcomes = Counter(_outcomes(columns)) if others else Counter()
        if outcomes.total() >= FEWEST and outcomes in (*others, sum(others, Counter())):
            seen_before += outcomes.total()
    return seen_before if seen_before >= FEWEST else 0


def _timed(data: Battles | PlayedGames) -> bool:
    return data.times is not None and bool((data.times % _DAY).any())


def _dated(data: Battles | PlayedGames) -> Iterator[Hashable]:
    assert data.times is not None
    return zip(_outcomes(data), np.rint(data.times * 1000).tolist(), strict=True)


def _outcomes(data: Battles | PlayedGames) -> Iterator[Hashable]:
    """Yield who met and how it came out: teams in the order of names, each with its place."""
    names = data.names
    if isinstance(data, Battles):
        columns = (data.duels.first.tolist(), data.duels.second.tolist(), data.duels.score.tolist())
        for first, other, score in zip(*columns, strict=True):
            places = (0, 0) if score == 0.5 else (0, 1) if score > 0.5 else (1, 0)
            yield _outcome([(names[first],), (names[other],)], places)
        return
    for game in data.games:
        order = sorted(set(game.ranks))
        teams = [tuple(sorted([names[player] for player in team])) for team in game.teams]
        yield _outcome(teams, [order.index(rank) for rank in game.ranks])


def _outcome(teams: list[tuple[str, ...]], places: tuple[int, ...] | list[int]) -> Hashable:
    return tuple(sorted(zip(teams, places, strict=True)))
