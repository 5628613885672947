"""Games between any number of players, as they are kept and as they are read."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from peerage.figures import counted
from peerage.ratings.history import Game
from peerage.ratings.kernels import Floats
from peerage.ratings.read.forms import FORMULA, Form, Layout, at
from peerage.ratings.read.report import ColumnMissing, Report, RowError
from peerage.ratings.read.values import Row, amount, as_name, in_order, needed, number_of, short, time_of


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
        self.seats: dict[str, list[tuple[int, Row]]] = {}
        self.undecided: set[tuple[str, str]] = set()

    def add(self, row: Row, form: Form, report: Report) -> None:
        """Take one row in. Raises RowError."""
        if form.counted:
            state = at(row, form.counted[0])
            if state is None:
                raise ColumnMissing(form.counted[0])
            if str(state) not in form.counted[1:]:
                self.undecided.add((report.file, str(row.get("number"))))
                return
        if "players" not in row:
            player, game = needed(row, "player"), str(needed(row, "game"))
            if form.counted and isinstance(row["number"], str) and FORMULA.match(str(player)):
                player = str(player).removeprefix("'")  # put before it in CSV, against spreadsheets
            kept = {column: row[column] for column in _SEAT if column in row}
            self.seats.setdefault(game, []).append((report.number, {**kept, "player": player}))
            return
        content = repr([row.get(key) for key in ("players", "ranks", "scores", "teams", "date")])
        if report.repeats("game_id", row.get("game_id"), content):
            return
        listed = needed(row, "players")
        if not isinstance(listed, list) or len(listed) < 2:
            raise RowError(f"found {short(listed)}, expected a list of two or more", "players")
        teams = [entry if isinstance(entry, list) else [entry] for entry in listed]
        self._append(teams, _ranks(row, len(teams)), row, _used(row, len(teams)))

    def close(self, report: Report) -> None:
        """The end of a file: games in rows of seats are whole."""
        for game, seats in self.seats.items():
            teams: dict[str, list[Any]] = {}
            placed: dict[str, float] = {}
            column = "score" if all(row.get("rank") in (None, "") for _, row in seats) else "rank"
            with report:
                for number, row in seats:
                    report.number = number
                    team = str(row["team"]) if row.get("team") not in (None, "") else f"\0{len(teams)}"
                    value = number_of(needed(row, column), column) * (-1 if column == "score" else 1)
                    if placed.setdefault(team, value) != value:
                        raise RowError(f"team {team!r} has two different {column}s in this game")
                    teams.setdefault(team, []).append(row["player"])
                report.number, row = seats[0]
                if len(teams) < 2:
                    raise RowError(f"game {game!r} has one side only, expected two or more")
                self._append(list(teams.values()), list(placed.values()), row)
        self.seats = {}

    def made(self, layout: Layout, notes: tuple[str, ...]) -> PlayedGames:
        """All games, in the order of their times where all have one."""
        left = len(self.undecided)
        words = ("match without a result is left out", "matches without a result are left out")
        times = np.array([time for time, _, _ in self.games])
        order, timed, note = in_order(times, "some games have no date: the order of the files is kept")
        games = [self.games[at] for at in order]
        return PlayedGames(
            tuple(self.players),
            tuple([game for _, game, _ in games]),
            (*notes, *[counted(left, *words)] * bool(left), *note),
            layout,
            times[order] if timed else None,
            tuple([used for _, _, used in games]) if any(used for _, _, used in games) else (),
        )

    def _append(
        self, teams: list[list[Any]], ranks: list[float], row: Row, used: tuple[Used, ...] = ()
    ) -> None:
        if not all(teams):
            raise RowError("a team has no players", "players")
        named = [[as_name(member, "players") for member in team] for team in teams]
        seats = Counter(member for team in named for member in team)
        name, times = seats.most_common(1)[0]
        if len(seats) == 1:
            raise RowError(f"{name!r} plays against itself alone, expected two players or more")
        if times > 1 and any(len(team) > 1 for team in named):
            raise RowError(f"{name!r} plays in two teams, or twice in one")
        time, weight = time_of(row), amount(row, "weight", 1.0)
        seated = tuple(
            tuple(self.players.setdefault(member, len(self.players)) for member in team) for team in named
        )
        self.games.append((time, Game(seated, tuple(ranks), None, weight), used))


_SEAT = ("rank", "score", "team", "weight", "timestamp", "at_ms")
_MEASURES = {"costs": "cost", "tokens": "tokens", "seconds": "seconds"}
"""Columns of what each team's play took."""


def _used(row: Row, teams: int) -> tuple[Used, ...]:
    """What each team's play took; empty where no column says."""
    used = [Used()] * teams
    for column, measure in _MEASURES.items():
        for team, value in enumerate(() if row.get(column) is None else _listed(row, column, teams)):
            if value is not None:
                used[team] = used[team]._replace(**{measure: amount({column: value}, column, 0.0)})
    return tuple(used) if any(each != Used() for each in used) else ()


def _listed(row: Row, column: str, teams: int) -> list[Any]:
    listed = row[column]
    if not isinstance(listed, list) or len(listed) != teams:
        raise RowError(f"found {short(listed)}, expected a list of {teams}", column)
    return listed


def _ranks(row: Row, teams: int) -> list[float]:
    both = {}
    for column in ("ranks", "scores"):
        if row.get(column) is not None:
            both[column] = [number_of(value, column) for value in _listed(row, column, teams)]
    if not both:
        raise ColumnMissing("ranks or scores")
    if len(both) == 2:
        order = sorted(range(teams), key=lambda team: (both["ranks"][team], -both["scores"][team]))
        for before, after in pairwise(order):
            if (both["ranks"][before] < both["ranks"][after]) != (
                both["scores"][before] > both["scores"][after]
            ):
                i, j = sorted((before, after))
                raise RowError(
                    f"ranks and scores disagree about players {i + 1} and {j + 1} "
                    f"(ranks {row['ranks'][i]} and {row['ranks'][j]}, "
                    f"scores {row['scores'][i]} and {row['scores'][j]}); leave one of them out"
                )
    return both["ranks"] if "ranks" in both else [-score for score in both["scores"]]
