"""Decided matches, as the posterior and proven claims read them.

>>> from peerage.ratings.columns.history import duels
>>> of_duels(duels(2, [0, 0, 1], [1, 1, 0], [1, 0.5, 1])).matches
3
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from peerage.ratings.arrays import Floats, Ints
from peerage.ratings.columns.history import Duels, Game, GameColumns, games, in_outcomes
from peerage.ratings.columns.merging import coded


@dataclass(frozen=True, eq=False)
class Evidence:
    """Decided matches among players 0 … `players`-1; matches of weight 0 are left out.

    Matches of two: `first`, `second` (int64), the first one's `score` (1 win, ½ tie, 0 loss) and `weight`,
    one element a match. `rankings` are the other matches, each one observation: more than two seats, or
    teams. `cluster` labels matches that hang together (a series, one prompt), first those of two, then the
    rankings; None where each is its own.
    """

    players: int
    first: Ints
    second: Ints
    score: Floats
    weight: Floats
    rankings: GameColumns
    cluster: Ints | None = None

    @property
    def matches(self) -> int:
        """The number of matches."""
        return len(self.first) + len(self.rankings)


def of_duels(history: Duels, cluster: ArrayLike | None = None) -> Evidence:
    """Return the evidence of matches of two. `cluster` has a label for each, of any kind. The parts of a
    match whose score is between two outcomes hang together."""
    whole, row, part = in_outcomes(history)
    if len(row) > len(history):
        history = replace(whole, weight=whole.weight * part)
        cluster = row if cluster is None else np.asarray(cluster)[row]
    labels = _labels(cluster, len(history))
    kept = history.weight > 0
    history = history if kept.all() else history.only(kept)
    return Evidence(
        players=history.players,
        first=history.first,
        second=history.second,
        score=history.score,
        weight=history.weight,
        rankings=games(history.players, ()),
        cluster=None if labels is None else labels[kept],
    )


def of_games(played: GameColumns, cluster: ArrayLike | None = None) -> Evidence:
    """Evidence from games: those of two single players are matches of two, the others rankings. A game in
    which only one player sits, whatever its seats, says nothing and is left out."""
    labels = _labels(cluster, len(played))
    duel: list[int] = []
    ranking: list[int] = []
    for number in range(len(played)):
        seats = played.seat[played.team[played.game[number]] : played.team[played.game[number + 1]]]
        if played.weight[number] == 0 or len(set(seats.tolist())) < 2:
            continue
        alone = played.game[number + 1] - played.game[number] == 2 and len(seats) == 2
        (duel if alone else ranking).append(number)
    two, many = np.array(duel, np.int64), np.array(ranking, np.int64)
    top = played.game[two]
    first, second = played.seat[played.team[top]], played.seat[played.team[top + 1]]
    tied = played.rank[top] == played.rank[top + 1]
    order = np.concatenate([two, many])
    return Evidence(
        players=played.players,
        first=first,
        second=second,
        score=np.where(tied, 0.5, 1.0),
        weight=played.weight[two],
        rankings=only(played, many),
        cluster=None if labels is None else labels[order],
    )


def joined(parts: list[Evidence]) -> Evidence:
    """All evidence of several parts about the same players; a cluster stays within its part."""
    if len({part.players for part in parts}) != 1:
        raise ValueError(f"evidence about {[part.players for part in parts]} players cannot be joined")
    clusters = None
    if any(part.cluster is not None for part in parts):
        duel, ranking, used = [], [], 0
        for part in parts:
            codes = coded(np.arange(part.matches) if part.cluster is None else part.cluster)[1] + used
            used = int(codes.max(initial=used - 1)) + 1
            duel.append(codes[: len(part.first)])
            ranking.append(codes[len(part.first) :])
        clusters = np.concatenate(duel + ranking)
    return Evidence(
        players=parts[0].players,
        first=np.concatenate([part.first for part in parts]),
        second=np.concatenate([part.second for part in parts]),
        score=np.concatenate([part.score for part in parts]),
        weight=np.concatenate([part.weight for part in parts]),
        rankings=games(parts[0].players, [game for part in parts for game in listed(part.rankings)]),
        cluster=clusters,
    )


def listed(played: GameColumns) -> list[Game]:
    """Games from columns."""
    items = []
    for number in range(len(played)):
        teams = range(int(played.game[number]), int(played.game[number + 1]))
        seats = [slice(int(played.team[at]), int(played.team[at + 1])) for at in teams]
        items.append(
            Game(
                teams=tuple(tuple(played.seat[part].tolist()) for part in seats),
                ranks=tuple(played.rank[teams.start : teams.stop].tolist()),
                shares=tuple(tuple(played.share[part].tolist()) for part in seats),
                weight=float(played.weight[number]),
            )
        )
    return items


def only(played: GameColumns, numbers: Ints) -> GameColumns:
    """The games of these numbers, in that order."""
    if not len(numbers):
        return games(played.players, ())
    if np.array_equal(numbers, np.arange(len(played))):
        return played
    team = np.concatenate([np.arange(played.game[at], played.game[at + 1]) for at in numbers])
    seat = np.concatenate([np.arange(played.team[at], played.team[at + 1]) for at in team])
    ends = np.zeros(1, np.int64)
    return GameColumns(
        players=played.players,
        game=np.append(ends, np.cumsum(played.game[numbers + 1] - played.game[numbers])),
        team=np.append(ends, np.cumsum(played.team[team + 1] - played.team[team])),
        rank=played.rank[team],
        seat=played.seat[seat],
        share=played.share[seat],
        weight=played.weight[numbers],
    )


def _labels(cluster: ArrayLike | None, matches: int) -> Ints | None:
    if cluster is None:
        return None
    column = np.asarray(cluster)
    if len(column) != matches:
        raise ValueError(f"there are {len(column)} cluster labels and {matches} matches")
    return coded(column)[1]
