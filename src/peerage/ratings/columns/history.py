"""Histories as columns: what every rating method reads.

`Duels` are results between two players; `GameColumns` have any number of teams. Both keep the order in which
things happened. Players are numbers from 0; the caller keeps the list of names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from peerage.ratings.arrays import Floats, Ints

Seats = Literal["mean", "best", "each"]


@dataclass(frozen=True, eq=False)
class Duels:
    """Results between two players, one an element, in the order in which they happened. `first`, `second`:
    player numbers, int64. `score`: the first one's, 1 win, ½ tie, 0 loss, or a part of a win. `weight`: how
    much a result counts, 1 as a rule."""

    players: int
    first: Ints
    second: Ints
    score: Floats
    weight: Floats

    def __post_init__(self) -> None:
        sizes = {name: len(getattr(self, name)) for name in ("first", "second", "score", "weight")}
        if len(set(sizes.values())) > 1:
            raise ValueError(f"columns of different lengths: {sizes}")
        for name, column in (("first", self.first), ("second", self.second)):
            _refuse(
                (column < 0) | (column >= self.players),
                f"{name} is not a player from 0 to {self.players - 1}",
            )
        _refuse(self.first == self.second, "a player meets itself")
        _refuse(~((self.score >= 0) & (self.score <= 1)), "score is not from 0 to 1")
        _refuse(~((self.weight >= 0) & (self.weight < np.inf)), "weight is not 0 or more")

    def __len__(self) -> int:
        return len(self.first)

    def only(self, kept: np.ndarray) -> Duels:
        """The rows that a mask or their numbers name, in that order."""
        columns = ("first", "second", "score", "weight")
        return replace(self, **{column: getattr(self, column)[kept] for column in columns})

    def games(self) -> Floats:
        """Games of each player."""
        both = np.bincount(self.first, minlength=self.players) + np.bincount(
            self.second, minlength=self.players
        )
        return both.astype(np.float64)


def duels(
    players: int, first: ArrayLike, second: ArrayLike, score: ArrayLike, weight: ArrayLike | None = None
) -> Duels:
    """`Duels` from anything NumPy reads as columns. Raises ValueError naming the first bad row."""
    a = np.ascontiguousarray(first, np.int64)
    return Duels(
        players,
        a,
        np.ascontiguousarray(second, np.int64),
        np.ascontiguousarray(score, np.float64),
        np.ones(len(a)) if weight is None else np.ascontiguousarray(weight, np.float64),
    )


def in_outcomes(history: Duels) -> tuple[Duels, Ints, Floats]:
    """Return rows of wins, ties and losses alone, with the row of the history and the part of it that each
    is: a score between two outcomes is a part of each, so that the mean is kept."""
    twice = 2 * history.score
    below = np.floor(twice)
    between = np.flatnonzero(twice != below)
    row = np.concatenate([np.arange(len(history)), between])
    part = np.concatenate([1 - (twice - below), (twice - below)[between]])
    if not len(between):
        return history, row, part
    return replace(history.only(row), score=np.concatenate([below, below[between] + 1]) / 2), row, part


def met_by_pair(history: Duels, weight: Floats) -> Floats:
    """The weights of the games of each two players, a symmetric matrix."""
    n = history.players
    counts = np.bincount(history.first * n + history.second, weight, n * n).reshape(n, n)
    return np.asarray(counts + counts.T, np.float64)


@dataclass(frozen=True, slots=True)
class Game:
    """One game: teams of players, and each team's rank (lower is better, equal is a tie). `shares` say which
    part of the game each player took part in (partial play), 1 for all by default; `weight` how much the game
    counts."""

    teams: tuple[tuple[int, ...], ...]
    ranks: tuple[float, ...]
    shares: tuple[tuple[float, ...], ...] | None = None
    weight: float = 1.0


@dataclass(frozen=True, eq=False)
class GameColumns:
    """Games as columns: game g holds teams `game[g]:game[g + 1]`, team t the seats `team[t]:team[t + 1]`.
    Teams stand from best to worst `rank` in each game. `seat` is a player's number, `share` its part in the
    game."""

    players: int
    game: Ints
    team: Ints
    rank: Floats
    seat: Ints
    share: Floats
    weight: Floats

    def __len__(self) -> int:
        return len(self.game) - 1

    @property
    def widest(self) -> tuple[int, int]:
        """The most teams and the most seats in one game."""
        if not len(self):
            return 0, 0
        bounds = self.team[self.game]
        return int(np.diff(self.game).max()), int(np.diff(bounds).max())

    def played(self) -> Floats:
        """Games of each player; a game with several seats of one player counts once a seat."""
        return np.bincount(self.seat, minlength=self.players).astype(np.float64)


def games(players: int, listed: Iterable[Game], *, seats: Seats = "each") -> GameColumns:
    """`GameColumns` from a list. Raises ValueError naming the first game that cannot be. A player may hold
    several seats as teams of one: `seats` then keeps each seat, or gives the player one team at the mean or
    the best of its ranks."""
    game, team = [0], [0]
    seat: list[int] = []
    rank: list[float] = []
    share: list[float] = []
    weight: list[float] = []
    for number, listed_game in enumerate(listed):
        _check(number, listed_game, players)
        merged = listed_game if seats == "each" else merge_seats(listed_game, seats)
        parts = merged.shares or tuple((1.0,) * len(members) for members in merged.teams)
        for position in sorted(range(len(merged.teams)), key=merged.ranks.__getitem__):
            seat.extend(merged.teams[position])
            share.extend(parts[position])
            team.append(len(seat))
            rank.append(merged.ranks[position])
        game.append(len(rank))
        weight.append(merged.weight)
    return GameColumns(
        players,
        np.array(game, np.int64),
        np.array(team, np.int64),
        np.array(rank, np.float64),
        np.array(seat, np.int64),
        np.array(share, np.float64),
        np.array(weight, np.float64),
    )


def as_games(history: Duels) -> GameColumns:
    """Duels as games of two, their weights kept."""
    seated = np.stack([history.first, history.second], axis=1).reshape(-1, 2)
    made = free_for_all(
        history.players, seated, np.stack([1 - history.score, history.score], axis=1).reshape(-1, 2)
    )
    made.weight[:] = history.weight
    return made


def free_for_all(players: int, seated: ArrayLike, ranks: ArrayLike) -> GameColumns:
    """Games of one size between single players, from matrices of shape (games, seats)."""
    seat, rank = np.asarray(seated, np.int64), np.asarray(ranks, np.float64)
    if seat.shape != rank.shape or seat.ndim != 2 or seat.shape[1] < 2:
        raise ValueError(
            f"players have shape {seat.shape} and ranks {rank.shape}: expected two alike, two seats or more"
        )
    _refuse(((seat < 0) | (seat >= players)).any(axis=1), f"a player is not from 0 to {players - 1}")
    _refuse(np.isnan(rank).any(axis=1), "a rank is not a number")
    order = np.argsort(rank, axis=1, kind="stable")
    count, size = seat.shape
    return GameColumns(
        players,
        np.arange(0, count * size + 1, size, dtype=np.int64),
        np.arange(count * size + 1, dtype=np.int64),
        np.take_along_axis(rank, order, 1).ravel(),
        np.take_along_axis(seat, order, 1).ravel(),
        np.ones(count * size),
        np.ones(count),
    )


def merge_seats(game: Game, how: Seats) -> Game:
    """The game with each player in one team of its own: at the mean, or the best, rank of its seats. Ranks
    are first counted as in sport (1, 2, 2, 4). A game in which nobody holds two seats stays as it is."""
    held = [members[0] for members in game.teams if len(members) == 1]
    if how == "each" or len(set(held)) == len(held):
        return game
    ranks: dict[int, list[int]] = defaultdict(list)
    for members, rank in zip(game.teams, game.ranks, strict=True):
        ranks[members[0]].append(1 + sum(other < rank for other in game.ranks))
    merged = {player: min(own) if how == "best" else sum(own) / len(own) for player, own in ranks.items()}
    return Game(tuple((player,) for player in merged), tuple(merged.values()), None, game.weight)


def pairings(played: GameColumns) -> tuple[Duels, Ints]:
    """Every two teams of one player of each game as a duel, and the game each came from; equal ranks tie.

    A game of k seats gives k(k-1)/2 duels of weight 1/(k-1): a player's results in it make one game together.
    """
    first, second, score, weight, source = [], [], [], [], []
    for g in range(len(played)):
        teams = range(int(played.game[g]), int(played.game[g + 1]))
        for i in teams:
            for j in teams[i - teams.start + 1 :]:
                a, b = int(played.seat[played.team[i]]), int(played.seat[played.team[j]])
                if a != b:
                    first.append(a)
                    second.append(b)
                    score.append(0.5 if played.rank[i] == played.rank[j] else 1.0)
                    weight.append(float(played.weight[g]) / (len(teams) - 1))
                    source.append(g)
    return duels(played.players, first, second, score, weight), np.array(source, np.int64)


def shared(source: Ints) -> Ints | None:
    """The game that each of the duels of `pairings` came from; None where every game is one duel."""
    return source if len(np.unique(source)) < len(source) else None


def _check(number: int, game: Game, players: int) -> None:
    where = f"game {number}"
    if len(game.teams) < 2:
        raise ValueError(f"{where} has {len(game.teams)} teams: expected two or more")
    if len(game.ranks) != len(game.teams):
        raise ValueError(
            f"{where} has {len(game.teams)} teams and {len(game.ranks)} ranks: expected one each"
        )
    if any(rank != rank for rank in game.ranks):
        raise ValueError(f"{where} has a rank that is not a number: {game.ranks}")
    if not 0 <= game.weight < float("inf"):
        raise ValueError(f"{where} has weight {game.weight}: expected 0 or more")
    if game.shares is not None and [len(s) for s in game.shares] != [len(t) for t in game.teams]:
        raise ValueError(f"{where}: shares do not match the teams' sizes")
    for part in (part for team in game.shares or () for part in team):
        if not 0 <= part < float("inf"):
            raise ValueError(f"{where} has a share of {part}: expected 0 or more")
    single = all(len(team) == 1 for team in game.teams)
    everybody: Sequence[int] = [player for team in game.teams for player in team]
    for team in game.teams:
        if not team:
            raise ValueError(f"{where} has a team without players")
        for player in team:
            if not 0 <= player < players:
                raise ValueError(f"{where} names player {player}: there are {players}, counted from 0")
    if not single and len(set(everybody)) < len(everybody):
        raise ValueError(f"{where} seats a player twice: only teams of one may share a player")


def _refuse(bad: Any, words: str) -> None:
    if np.any(bad):
        raise ValueError(f"row {int(np.flatnonzero(bad)[0])}: {words}")
