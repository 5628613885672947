"""Answers to challenges, as they are kept and as they are read: who solved what."""

from __future__ import annotations

import math
import unicodedata
from array import array
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from peerage.figures import counted
from peerage.ratings.history import Game
from peerage.ratings.kernels import Floats
from peerage.ratings.read.games import PlayedGames
from peerage.ratings.read.report import ColumnMissing, DataError, Report, RowError
from peerage.ratings.read.values import Row, number_of, short

_MOST_CELLS = 50_000_000
_WORDS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}


@dataclass(frozen=True, eq=False)
class Answers:
    """`solved` has shape (names, challenges): 1, 0, the mean of several tries, nan where there was none."""

    names: tuple[str, ...]
    challenges: tuple[str, ...]
    solved: Floats
    notes: tuple[str, ...] = ()


class AnswersRead:
    """Answers as they are read: compact columns that grow. `met` once those of a challenge met in a match."""

    def __init__(self) -> None:
        self.met = False
        self._players: dict[str, int] = {}
        self._challenges: dict[str, int] = {}
        self._player, self._challenge, self._solved = array("q"), array("q"), array("d")

    def add(self, row: Row, report: Report) -> None:
        """Take one row in. Raises RowError that names what is missing or cannot be."""
        player, challenge = _name(row, "player"), _name(row, "challenge")
        if "solved" not in row:
            raise ColumnMissing("solved")
        self.met = self.met or bool(row.get("met"))
        solved = _part(row["solved"])
        if solved is None:
            words = "answer has no score and is left out", "answers have no score and are left out"
            report.left_out[words] += 1
            return
        self._player.append(self._players.setdefault(player, len(self._players)))
        self._challenge.append(self._challenges.setdefault(challenge, len(self._challenges)))
        self._solved.append(solved)

    def made(self, notes: tuple[str, ...]) -> Answers | PlayedGames:
        """The table; games where it is of matches. Raises DataError when it would not fit into memory."""
        shape = len(self._players), len(self._challenges)
        if math.prod(shape) > _MOST_CELLS:
            raise DataError(
                f"{shape[0]:,} players and {shape[1]:,} challenges are more than a table of {_MOST_CELLS:,} "
                "cells holds: rate a part of them"
            )
        cell = np.array(self._player, np.int64) * shape[1] + np.array(self._challenge, np.int64)
        tries = np.bincount(cell, minlength=math.prod(shape)).reshape(shape)
        total = np.bincount(cell, np.array(self._solved), math.prod(shape)).reshape(shape)
        again = len(cell) - int(np.count_nonzero(tries))
        several = [
            f"{counted(again, 'answer is a further try', 'answers are further tries')} at a challenge: the "
            "mean of its tries counts"
        ] * bool(again)
        solved = np.where(tries > 0, total / np.maximum(tries, 1), np.nan)
        answers = Answers(tuple(self._players), tuple(self._challenges), solved, (*notes, *several))
        return _matches(answers) if self.met else answers


def _name(row: Row, column: str) -> str:
    value = row.get(column)
    text = "" if value is None else unicodedata.normalize("NFC", str(value).strip())
    if not text:
        raise RowError("empty; expected a value", column) if column in row else ColumnMissing(column)
    return text


def _part(value: Any) -> float | None:
    """What was solved, from 0 to 1; None where nothing says."""
    if value is None or value == "" or value != value:
        return None
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str) and value.strip().lower() in _WORDS:
        return _WORDS[value.strip().lower()]
    part = number_of(value, "solved")
    if not 0 <= part <= 1:
        raise RowError(f"found {short(value)}, expected true, false or a part from 0 to 1", "solved")
    return part


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


def _matches(answers: Answers) -> PlayedGames:
    """Answers in matches, as games in the order of their numbers."""

    def number_of_match(at: int) -> tuple[int, str]:
        evaluation, _, number = answers.challenges[at].rpartition("/")
        return int(number) if number.isdecimal() and len(number) < 20 else 0, evaluation

    order = sorted(range(len(answers.challenges)), key=number_of_match)
    challenges = tuple([answers.challenges[at] for at in order])
    games = as_games(replace(answers, challenges=challenges, solved=answers.solved[:, order]))
    if not games.games:
        raise DataError("no match has two of its players here: name the files of all, or their folder")
    return games
