"""Answers to challenges, read row by row: who solved what, for item response theory."""

from __future__ import annotations

import math
import unicodedata
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from peerage.figures import counted
from peerage.ratings.fields import columns, first_of, number_of, short
from peerage.ratings.kernels import Floats
from peerage.ratings.streams import DataError

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
    """Answers as they are read: compact columns that grow."""

    def __init__(self) -> None:
        self._players: dict[str, int] = {}
        self._challenges: dict[str, int] = {}
        self._player, self._challenge, self._solved = array("q"), array("q"), array("d")
        self._unscored = 0

    def add(self, row: Mapping[str, Any], where: str) -> None:
        """Take one row in. Raises DataError that names what is missing or cannot be."""
        player, challenge = _name(row, "player", where), _name(row, "challenge", where)
        if "epoch" in row and row.get("solved") is None:  # a sample of an Inspect log that ended in an error
            self._unscored += 1
            return
        self._player.append(self._players.setdefault(player, len(self._players)))
        self._challenge.append(self._challenges.setdefault(challenge, len(self._challenges)))
        self._solved.append(_part(row, where))

    def made(self) -> Answers:
        """The table. Raises DataError when it would not fit into memory."""
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
        notes = [
            f"{counted(again, 'answer is a further try', 'answers are further tries')} at a challenge: the "
            "mean of its tries counts"
        ] * bool(again)
        if self._unscored:
            notes.append(
                counted(self._unscored, "answer has no score and is", "answers have no score and are")
                + " left out"
            )
        return Answers(
            tuple(self._players),
            tuple(self._challenges),
            np.where(tries > 0, total / np.maximum(tries, 1), np.nan),
            tuple(notes),
        )


def _name(row: Mapping[str, Any], meaning: str, where: str) -> str:
    value = first_of(row, meaning)
    text = "" if value is None else unicodedata.normalize("NFC", str(value).strip())
    if not text:
        raise DataError(f"{where}: there is no {meaning}; the columns are {columns(row)}")
    return text


def _part(row: Mapping[str, Any], where: str) -> float:
    value = first_of(row, "solved")
    if value is None:
        raise DataError(f"{where}: there is no solved (or score, correct); the columns are {columns(row)}")
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str) and value.strip().lower() in _WORDS:
        return _WORDS[value.strip().lower()]
    part = number_of(value, "solved", where)
    if not 0 <= part <= 1:
        raise DataError(f"{where}, solved: found {short(value)}, expected true, false or a part from 0 to 1")
    return part
