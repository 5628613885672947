"""Games between any number of players, as they are kept and as they are read: see `data`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from peerage.figures import counted
from peerage.ratings.answers import Answers
from peerage.ratings.exports import as_game, exported
from peerage.ratings.fields import (
    Layout,
    amount,
    as_name,
    columns,
    first_of,
    needed,
    number_of,
    short,
    time_of,
)
from peerage.ratings.history import Game
from peerage.ratings.kernels import Floats
from peerage.ratings.streams import DataError


class Used(NamedTuple):
    """What a team's play in a game took: dollars, tokens, seconds; None where it is not known."""

    cost: float | None = None
    tokens: float | None = None
    seconds: float | None = None


@dataclass(frozen=True, eq=False)
class PlayedGames:
    """Games between any number of players, in order; `times` as those of `Battles`. `used` has for each game
    what each team's play took, empty where no game says."""

    names: tuple[str, ...]
    games: tuple[Game, ...]
    notes: tuple[str, ...] = ()
    layout: Layout = "games"
    times: Floats | None = None
    used: tuple[tuple[Used, ...], ...] = ()


class PlayedRead:
    """Games as they are read; one in rows of seats stays open until the file ends."""

    def __init__(self) -> None:
        self.players: dict[str, int] = {}
        self.games: list[tuple[float, Game, tuple[Used, ...]]] = []
        self.seats: dict[str, list[tuple[Mapping[str, Any], str]]] = {}
        self.known: dict[str, str] = {}
        self.repeated = 0
        self.undecided: set[str] = set()

    def add(self, row: Mapping[str, Any], where: str) -> None:
        if exported(row):
            game = as_game(row, where)
            if game is None:
                self.undecided.add(f"{where.partition(', row')[0]} {row.get('number', where)}")
                return
            row = game
        if "players" not in row:
            for column in ("game", "player"):
                needed(row, column, where)
            self.seats.setdefault(str(row["game"]), []).append((row, where))
            return
        identity = row.get("game_id")
        if identity is not None:
            content = repr([row.get(key) for key in ("players", "ranks", "scores", "teams", "date")])
            before = self.known.get(str(identity))
            if before is not None and before != content:
                raise DataError(f"{where}: game_id {identity!r} stands before with another result")
            if before is not None:
                self.repeated += 1
                return
            self.known[str(identity)] = content
        listed = row["players"]
        if not isinstance(listed, list) or len(listed) < 2:
            raise DataError(f"{where}: players is {short(listed)}, expected a list of two or more")
        teams = [entry if isinstance(entry, list) else [entry] for entry in listed]
        ranks = _ranks(row, len(teams), where)
        weight, time = amount(row, "weight", where, 1.0), first_of(row, "timestamp")
        self._append(teams, ranks, weight, time, where, _used(row, len(teams), where))

    def close(self) -> None:
        """The end of a file: games in rows of seats are whole."""
        for seats in self.seats.values():
            teams: dict[str, list[Any]] = {}
            placed: dict[str, float] = {}
            by_score = all(row.get("rank") in (None, "") for row, _ in seats)
            for row, where in seats:
                team = str(row["team"]) if row.get("team") not in (None, "") else f"\0{len(teams)}"
                column = "score" if by_score else "rank"
                value = number_of(needed(row, column, where), column, where) * (-1 if by_score else 1)
                if placed.setdefault(team, value) != value:
                    raise DataError(f"{where}: team {team!r} has two different {column}s in this game")
                teams.setdefault(team, []).append(row["player"])
            row, where = seats[0]
            if len(teams) < 2:
                raise DataError(f"{where}: game {row['game']!r} has one side only, expected two or more")
            weight = amount(row, "weight", where, 1.0)
            self._append(
                list(teams.values()), list(placed.values()), weight, first_of(row, "timestamp"), where
            )
        self.seats = {}

    def made(self, layout: Layout) -> PlayedGames:
        notes = []
        if self.repeated:
            notes.append(
                f"{counted(self.repeated, 'row repeats', 'rows repeat')} a game_id, which counts once"
            )
        if self.undecided:
            notes.append(
                counted(len(self.undecided), "match without a result is", "matches without a result are")
                + " left out"
            )
        times = [time for time, _, _ in self.games]
        ordered = self.games
        if not any(math.isnan(time) for time in times):
            ordered = sorted(self.games, key=lambda timed: timed[0])
        elif not all(math.isnan(time) for time in times):
            notes.append("some games have no date: the order of the files is kept")
        sorted_times = np.array([time for time, _, _ in ordered])
        return PlayedGames(
            tuple(self.players),
            tuple([game for _, game, _ in ordered]),
            tuple(notes),
            layout,
            None if np.isnan(sorted_times).any() else sorted_times,
            tuple([used for _, _, used in ordered]) if any(used for _, _, used in ordered) else (),
        )

    def _append(
        self,
        teams: list[list[Any]],
        ranks: list[float],
        weight: float,
        time: Any,
        where: str,
        used: tuple[Used, ...] = (),
    ) -> None:
        if not all(teams):
            raise DataError(f"{where}: a team has no players")
        named = [[as_name(member, f"{where}, players") for member in team] for team in teams]
        counted = Counter(member for team in named for member in team)
        name, times = counted.most_common(1)[0]
        if len(counted) == 1:
            raise DataError(f"{where}: {name!r} plays against itself alone, expected two players or more")
        if times > 1 and any(len(team) > 1 for team in named):
            raise DataError(f"{where}: {name!r} plays in two teams, or twice in one")
        seated = tuple(
            tuple(self.players.setdefault(member, len(self.players)) for member in team) for team in named
        )
        self.games.append((time_of(time, where), Game(seated, tuple(ranks), None, weight), used))


_MEASURES = {"costs": "total_cost", "tokens": "total_tokens", "seconds": "total_time"}
"""Columns of what each team's play took, and their names in a published tournament."""


def measured(row: Mapping[str, Any], names: Any) -> dict[str, Any]:
    """What each player's play took in a published tournament, as columns of ours."""
    found: Any = row.get("additional_info")
    found = found.get("performance_metrics") if isinstance(found, dict) else None
    if not isinstance(found, dict) or not isinstance(names, list):
        return {}
    each = [found.get(name) if isinstance(name, str) else None for name in names]
    known = [one if isinstance(one, dict) else {} for one in each]
    return {column: [one.get(name) for one in known] for column, name in _MEASURES.items()}


def _used(row: Mapping[str, Any], teams: int, where: str) -> tuple[Used, ...]:
    listed: list[list[float | None]] = []
    for column in _MEASURES:
        values = row.get(column)
        if values is None:
            listed.append([None] * teams)
            continue
        if not isinstance(values, list) or len(values) != teams:
            raise DataError(f"{where}: {column} is {short(values)}, expected a list of {teams}")
        listed.append([None if one is None else amount({column: one}, column, where, 0.0) for one in values])
    used = tuple([Used(*each) for each in zip(*listed, strict=True)])
    return used if any(one != Used() for one in used) else ()


def _ranks(row: Mapping[str, Any], teams: int, where: str) -> list[float]:
    both = {}
    for column in ("ranks", "scores"):
        if row.get(column) is not None:
            listed = row[column]
            if not isinstance(listed, list) or len(listed) != teams:
                raise DataError(f"{where}: {column} is {short(listed)}, expected a list of {teams}")
            both[column] = [number_of(value, column, where) for value in listed]
    if not both:
        raise DataError(f"{where}: neither ranks nor scores; the columns are {columns(row)}")
    if len(both) == 2:
        for i in range(teams):
            for j in range(i):
                by_rank = (both["ranks"][i] > both["ranks"][j]) - (both["ranks"][i] < both["ranks"][j])
                by_score = (both["scores"][i] < both["scores"][j]) - (both["scores"][i] > both["scores"][j])
                if by_rank != by_score:
                    raise DataError(
                        f"{where}: ranks and scores disagree about players {j + 1} and {i + 1} "
                        f"(ranks {row['ranks'][j]} and {row['ranks'][i]}, "
                        f"scores {row['scores'][j]} and {row['scores'][i]}); leave one of them out"
                    )
    return both["ranks"] if "ranks" in both else [-score for score in both["scores"]]


def as_games(answers: Answers) -> PlayedGames:
    """Each challenge that two or more players answered as a game between them, ranked by what they solved."""
    games = []
    for column in answers.solved.T:
        known = np.flatnonzero(~np.isnan(column))
        if len(known) > 1:
            teams = tuple([(int(player),) for player in known])
            games.append(Game(teams, tuple((-column[known]).tolist()), None, 1.0))
    left = len(answers.challenges) - len(games)
    notes = (
        (f"{counted(left, 'challenge was', 'challenges were')} answered by one player alone, and left out",)
        if left
        else ()
    )
    return PlayedGames(answers.names, tuple(games), (*answers.notes, *notes), "answers")
