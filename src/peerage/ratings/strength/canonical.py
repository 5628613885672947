"""An order of players that follows from the evidence alone, so that names and rows leave no trace in draws.

Each player's colour is a hash of its results against coloured opponents, refined until no colour divides
further (Weisfeiler and Leman 1968); between players whom colours do not tell apart, one is set apart and
colours are refined again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from peerage.ratings.arrays import Floats, Ints
from peerage.ratings.columns.history import GameColumns
from peerage.ratings.strength.likelihood import Pairs, Segments

Hashes = NDArray[np.uint64]
_APART = 300
"""Players up to whom those of one colour are set apart."""
_SALTS = (np.array([11, 23, 37, 41, 59], np.uint64) << np.uint64(40)) + np.uint64(0x9E3779B97F4A7C15)


class Canonical(NamedTuple):
    """`number` is each player's place in the order; `kind` numbers those that the evidence cannot part."""

    number: Ints
    kind: Ints

    def averaged(self, values: Floats) -> Floats:
        """Values of players, the mean of each kind for all of it."""
        if self.alone:
            return values
        return np.asarray((np.bincount(self.kind, values) / np.bincount(self.kind))[self.kind])

    def averaged_pairs(self, values: Floats, pairs: Pairs) -> Floats:
        """Values of ordered pairs, each kind's mean for all of it; pairs of two records are of two kinds."""
        n = len(self.kind)
        if self.alone or n > _APART:
            return values
        record = np.zeros((n, n), np.uint64)
        record[pairs.a, pairs.b] = _of_columns(pairs.wins_a, pairs.wins_b, pairs.ties)
        record[pairs.b, pairs.a] = _of_columns(pairs.wins_b, pairs.wins_a, pairs.ties)
        kinds: Hashes = (self.kind[:, None] * n + self.kind).astype(np.uint64)
        key = _mixed(record + kinds)
        np.fill_diagonal(key, 0)
        _, place = np.unique(key.ravel(), return_inverse=True)
        mean = np.bincount(place, values.ravel()) / np.bincount(place)
        return np.asarray(mean[place].reshape(n, n))

    @property
    def alone(self) -> bool:
        """Return whether the evidence tells every player apart."""
        return len(self.kind) == int(self.kind.max(initial=-1)) + 1


def canonical(*parts: tuple[Pairs, GameColumns]) -> Canonical:
    """The order of players that the evidence of one or more parts gives them."""
    n = parts[0][0].players
    structure = _Structures(parts)
    colour = structure.refined(np.zeros(n, np.uint64))
    kind = np.unique(colour, return_inverse=True)[1].astype(np.int64)
    mark = np.uint64(1)
    while n <= _APART:
        order = np.argsort(colour, kind="stable")
        same = np.flatnonzero(colour[order][1:] == colour[order][:-1])
        if not len(same):
            break
        # Nothing that a player without results is set apart by reaches another: all of these at once.
        idle = np.flatnonzero(~structure.played & (colour == colour[order[same[0]]]))
        if len(idle):
            marks: Hashes = np.arange(1, len(idle) + 1).astype(np.uint64)
            colour[idle] = _mixed(np.add(colour[idle], marks, dtype=np.uint64))
            continue
        node = order[same[0]]
        colour[node] = _mixed(colour[node : node + 1] + mark)[0]
        colour = structure.refined(colour)
        mark += np.uint64(1)
    number = np.empty(n, np.int64)
    number[np.argsort(colour, kind="stable")] = np.arange(n)
    return Canonical(number, kind)


class _Structures:
    """The results of all parts, by which colours are refined."""

    def __init__(self, parts: Sequence[tuple[Pairs, GameColumns]]) -> None:
        self.parts = [_Structure(*part) for part in parts]
        self.played = np.any([part.played for part in self.parts], axis=0)

    def refined(self, colour: Hashes) -> Hashes:
        """Colours that no further results divide."""
        kinds = len(np.unique(colour))
        for _ in range(len(colour)):
            before, now = colour, np.zeros_like(colour)
            for part in self.parts:
                now = _mixed(now + part.seen(before))
            colour = _mixed(_mixed(before + _SALTS[3]) + now)
            finer = len(np.unique(colour))
            if finer == kinds:
                break
            kinds = finer
        return colour


class _Structure:
    """Results as edges."""

    def __init__(self, pairs: Pairs, rankings: GameColumns) -> None:
        self.players = pairs.players
        own = np.concatenate([pairs.a, pairs.b])
        self.other = np.concatenate([pairs.b, pairs.a])
        self.record = np.concatenate(
            [
                _of_columns(pairs.wins_a, pairs.wins_b, pairs.ties),
                _of_columns(pairs.wins_b, pairs.wins_a, pairs.ties),
            ]
        )
        self.edges = Segments.of(own)
        self.seat = rankings.seat
        self.part = _of_columns(rankings.share)
        teams = np.repeat(np.arange(len(rankings.rank)), np.diff(rankings.team))
        games = np.repeat(np.arange(len(rankings)), np.diff(rankings.game))
        self.of_team, self.of_game = Segments.of(teams), Segments.of(games)
        self.by_seat = Segments.of(rankings.seat)
        self.place = _of_columns(_places(rankings, games))
        self.weight = _of_columns(rankings.weight)
        self.team, self.game = teams, games
        self.played = np.zeros(self.players, bool)
        self.played[own] = True
        self.played[rankings.seat] = True

    def seen(self, colour: Hashes) -> Hashes:
        """A hash of each player's results by the colours of those it met."""
        total = np.zeros((self.players, 1), np.uint64)
        _sum(self.edges, total, _mixed(_mixed(colour[self.other] + _SALTS[0]) + self.record))
        if len(self.seat):
            team = np.zeros((len(self.place), 1), np.uint64)
            _sum(self.of_team, team, _mixed(colour[self.seat] + self.part))
            game = np.zeros((len(self.weight), 1), np.uint64)
            _sum(self.of_game, game, _mixed(_mixed(team[:, 0] + _SALTS[1]) + self.place))
            whole = _mixed(game[:, 0] + self.weight)[self.game]
            own = _mixed(_mixed(whole + self.place) + _mixed(team[:, 0] + _SALTS[2]))
            _sum(self.by_seat, total, _mixed(own[self.team] + self.part))
        return total[:, 0]


def _places(rankings: GameColumns, games: Ints) -> Floats:
    """Each team's place in its game, from 0, equal for equal ranks."""
    if not len(games):
        return np.zeros(0)
    new = np.concatenate([[1], (games[1:] != games[:-1]) | (rankings.rank[1:] != rankings.rank[:-1])])
    count = np.cumsum(new)
    return np.asarray(count - count[rankings.game[:-1]][games], np.float64)


def _sum(segments: Segments, total: Hashes, rows: Hashes) -> None:
    if len(segments.starts):
        total[segments.whom, 0] += np.add.reduceat(rows[segments.order], segments.starts)


def _of_columns(*columns: Floats) -> Hashes:
    hashed = np.zeros(len(columns[0]), np.uint64)
    for salt, column in zip(_SALTS, columns, strict=False):
        hashed = _mixed(hashed * np.uint64(3) + (column + 0.0).view(np.uint64) + salt)
    return hashed


def _mixed(values: Hashes) -> Hashes:
    """Hashes of whole numbers (Steele, Lea, Flood, "Fast splittable pseudorandom number generators")."""
    bits = values + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(bits ^ (bits >> np.uint64(31)))
