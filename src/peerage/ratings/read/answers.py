"""Answers of players to challenges, as they are kept and as they are read, row by row."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass
from typing import Any

import numpy as np

from peerage.ratings.arrays import Floats
from peerage.ratings.columns.history import Game
from peerage.ratings.read.forms import Form, Layout, at
from peerage.ratings.read.histories import PlayedGames
from peerage.ratings.read.report import (
    ColumnMissing,
    DataError,
    ReadingReport,
    Row,
    RowError,
    needed,
    plain,
    short,
)
from peerage.ratings.read.words import readable
from peerage.values.figures import counted

_MOST_CELLS = 50_000_000
_NO_SCORE = "answer has no score and is left out", "answers have no score and are left out"
_SOLVED = {
    **dict.fromkeys(("true", "yes", "pass", "passed", "correct"), 1.0),
    **dict.fromkeys(("false", "no", "fail", "failed", "incorrect", "wrong"), 0.0),
}


@dataclass(frozen=True, eq=False)
class Answers:
    """`solved` has shape (names, challenges): 1, 0, the mean of several tries, nan where there was none."""

    names: tuple[str, ...]
    challenges: tuple[str, ...]
    solved: Floats
    notes: tuple[str, ...] = ()


class AnswersRead:
    """Answers as they are read: compact columns that grow."""

    def __init__(self) -> None:
        self._players: dict[str, int] = {}
        self._challenges: dict[str, int] = {}
        self._player, self._challenge, self._solved = array("q"), array("q"), array("d")

    def add(self, row: Row, form: Form, report: ReadingReport) -> None:
        """Take one row in. Raises RowError that names what is missing or cannot be."""
        if form.counted and str(at(row, form.counted[0])) not in form.counted[1:]:
            report.leave(_NO_SCORE, "error", column="solved")
            return
        player, challenge = [plain(needed(row, column)) for column in ("player", "challenge")]
        if not (player and challenge):
            raise RowError("empty; expected a value", "challenge" if player else "player")
        if "solved" not in row:
            raise ColumnMissing("solved")
        solved = _part(row["solved"])
        if solved is None:
            report.leave(_NO_SCORE, column="solved")
            return
        self._player.append(self._players.setdefault(player, len(self._players)))
        self._challenge.append(self._challenges.setdefault(challenge, len(self._challenges)))
        self._solved.append(solved)

    @property
    def usable(self) -> int:
        """Return how many answers have a score."""
        return len(self._solved)

    def close(self, report: ReadingReport) -> None:
        """Take the end of all files in: nothing is open."""

    def made(self, _: Layout, notes: tuple[str, ...]) -> Answers:
        """Return the table. Raises DataError when it would not fit into memory."""
        shape = len(self._players), len(self._challenges)
        if math.prod(shape) > _MOST_CELLS:
            raise DataError(
                f"{shape[0]:,} players and {shape[1]:,} challenges are more than a table of {_MOST_CELLS:,} "
                "cells holds: rate a part of them"
            )
        cell, size = np.array(self._player) * shape[1] + np.array(self._challenge), math.prod(shape)
        tries, total = np.bincount(cell, minlength=size), np.bincount(cell, self._solved, size)
        if again := len(cell) - int(np.count_nonzero(tries)):
            words = counted(again, "answer is a further try", "answers are further tries")
            notes += (f"{words} at a challenge: the mean of its tries counts",)
        solved = np.where(tries > 0, total / np.maximum(tries, 1), np.nan).reshape(shape)
        return Answers(tuple(self._players), tuple(self._challenges), solved, notes)


def part_solved(value: Any) -> float:
    """Return what a file says was solved, as a number, words such as `pass` too; nan for anything else."""
    if isinstance(value, str):
        value = _SOLVED.get(value.strip().lower(), value)
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _part(value: Any) -> float | None:
    """Return the part that was solved, from 0 to 1; None where the cell is empty."""
    part = part_solved(value)  # `failed` is a result here, and none of a battle
    if part != part and (value is None or value != value or not readable(value)):
        return None
    if not 0 <= part <= 1:
        expected = "expected true, false or a part from 0 to 1; --score names another column"
        raise RowError(f"found {short(value)}, {expected}", "solved")
    return part


def as_games(answers: Answers) -> PlayedGames:
    """Each challenge that two or more players answered as a game between them, ranked by what they solved."""
    games = []
    for column in answers.solved.T:
        known = np.flatnonzero(~np.isnan(column))
        if len(known) > 1:
            teams = tuple([(int(player),) for player in known])
            games.append(Game(teams, tuple((-column[known]).tolist()), None, 1.0))
    notes = answers.notes
    if left := len(answers.challenges) - len(games):
        words = counted(left, "challenge was", "challenges were")
        notes += (f"{words} answered by one player alone, and left out",)
    return PlayedGames(answers.names, tuple(games), notes, "answers")
