"""Battles, as they are kept and as they are read: see `data`."""

from __future__ import annotations

import math
import unicodedata
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from peerage.figures import counted
from peerage.ratings.fastchat import one_hot, vote_of
from peerage.ratings.fields import (
    Layout,
    amount,
    columns,
    control_of,
    first_of,
    name_of,
    needed,
    short,
    time_of,
)
from peerage.ratings.history import Duels, duels
from peerage.ratings.kernels import Floats
from peerage.ratings.rows import contrast
from peerage.ratings.streams import DataError

BOTH_BAD = ("tie (bothbad)", "bothbad", "both_bad", "both bad")
"""The words of a tie of two answers that are both bad, the usual one first."""
_WORDS = {
    "model_a": 1.0,
    "a": 1.0,
    "model_b": 0.0,
    "b": 0.0,
    **dict.fromkeys(("tie", "draw", "both", *BOTH_BAD), 0.5),
}
_PLAIN_WORDS = ("model_a", "model_b", "tie", *BOTH_BAD)


@dataclass(frozen=True, eq=False)
class Battles:
    """Duels with what was recorded beside them; every column has one element a duel.

    `labels` has the clusters (`judge`, `question`), `controls` the differences of what was asked to be held
    equal, `costs` (shape (2, duels), nan unknown) what each answer cost, `times` the seconds since 1970 at
    which they happened (None unless all are known), `human` a person's verdict as a score (nan where nobody
    gave one), `both_bad` which ties were of two answers said to be bad (None without any). `notes` say what
    was done to the data.
    """

    names: tuple[str, ...]
    duels: Duels
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    controls: Mapping[str, Floats] = field(default_factory=dict)
    costs: Floats | None = None
    notes: tuple[str, ...] = ()
    layout: Layout = "battles"
    times: Floats | None = None
    human: Floats | None = None
    both_bad: np.ndarray | None = None


class BattlesRead:
    """Battles as they are read: compact columns that grow."""

    def __init__(
        self, labels: Sequence[str], controls: Sequence[str], kept: Sequence[str], human: bool
    ) -> None:
        self.players: dict[str, int] = {}
        self.first, self.second = array("q"), array("q")
        self.score, self.weight, self.time = array("d"), array("d"), array("d")
        self.costs = (array("d"), array("d"))
        self.label_names, self.control_names = (*labels, *kept), tuple(controls)
        self.needed_labels = frozenset(labels)
        self.labels: dict[str, list[str]] = {label: [] for label in self.label_names}
        self.human = array("d") if human else None
        self.controls = {control: (array("d"), array("d")) for control in controls}
        self.known: dict[str, tuple[str, str, float]] = {}
        self.repeated = self.no_vote = 0
        self.people: dict[str, str] = {}
        self.bad = array("b")

    def add_vote(self, row: Mapping[str, Any], where: str) -> None:
        """A line of a FastChat log, where it is a vote."""
        battle = vote_of(row, where)
        if battle is None:
            self.no_vote += 1
            return
        # An address is personal: it becomes a number, in order of appearance.
        person = battle.pop("ip")
        battle["judge"] = self.people.setdefault(person, f"person {len(self.people) + 1}") if person else ""
        self.add(battle, where)

    def add(self, row: Mapping[str, Any], where: str) -> None:
        a, b = name_of(row, "model_a", where), name_of(row, "model_b", where)
        if a == b:
            raise DataError(f"{where}: {a!r} plays against itself; model_a and model_b must differ")
        said = one_hot(row)
        score = winner_of(said, "winner", a, b, where)
        identity = first_of(row, "id" if "evaluation_session_id" in row else "battle_id")
        if identity not in (None, ""):
            before = self.known.get(str(identity))
            if before is not None and before != (a, b, score):
                raise DataError(f"{where}: battle_id {identity!r} stands before with another result")
            if before is not None:
                self.repeated += 1
                return
            self.known[str(identity)] = (a, b, score)
        self.first.append(self.players.setdefault(a, len(self.players)))
        self.second.append(self.players.setdefault(b, len(self.players)))
        self.score.append(score)
        self.bad.append(score == 0.5 and str(said["winner"]).strip().lower() in BOTH_BAD)
        self.weight.append(amount(row, "weight", where, 1.0))
        self.time.append(time_of(first_of(row, "timestamp"), where))
        for costs, column in zip(self.costs, ("cost_a", "cost_b"), strict=True):
            costs.append(amount(row, column, where, math.nan))
        for label in self.label_names:
            value = row.get(label) if label in row else first_of(row, label)
            if label in self.needed_labels and value in (None, ""):
                raise DataError(f"{where}: there is no {label}; the columns are {columns(row)}")
            self.labels[label].append("" if value is None else str(value))
        for control in self.control_names:
            for values, side in zip(self.controls[control], "ab", strict=True):
                values.append(control_of(row, control, side, where))
        if self.human is not None:
            if "human" not in row:
                raise DataError(
                    f"{where}: there is no column human (people's verdicts); the columns are {columns(row)}"
                )
            given = row["human"] not in (None, "")
            self.human.append(winner_of(row, "human", a, b, where) if given else math.nan)

    def made(self, layout: Layout) -> Battles:
        notes = []
        if self.repeated:
            notes.append(
                f"{counted(self.repeated, 'row repeats', 'rows repeat')} a battle_id, which counts once"
            )
        if self.no_vote:
            lines = counted(self.no_vote, "line is no vote", "lines are no votes")
            notes.append(f"{lines} between two models, and left out")
        bad = sum(self.bad)
        if bad:
            notes.append(f"{bad} of {self.score.count(0.5)} ties are of answers said to be both bad")
        time = np.array(self.time)
        order = np.arange(len(time))
        if not np.isnan(time).any():
            order = np.argsort(time, kind="stable")
        elif not np.isnan(time).all():
            notes.append("some rows have no timestamp: the order of the files is kept")
        costs = np.array([list(column) for column in self.costs]).reshape(2, -1)[:, order]
        return Battles(
            tuple(self.players),
            duels(
                len(self.players),
                np.array(self.first, np.int64)[order],
                np.array(self.second, np.int64)[order],
                np.array(self.score)[order],
                np.array(self.weight)[order],
            ),
            {label: tuple([values[i] for i in order]) for label, values in self.labels.items()},
            {
                name: contrast(np.array(a)[order], np.array(b)[order])
                for name, (a, b) in self.controls.items()
            },
            None if np.isnan(costs).all() else costs,
            tuple(notes),
            layout,
            None if np.isnan(time).any() else time[order],
            None if self.human is None else np.array(self.human)[order],
            np.array(self.bad, np.bool_)[order] if bad else None,
        )


def cob(row: Mapping[str, Any], where: str) -> dict[str, Any]:
    """A battle of 10decikelvin/cob; its order in the file is kept, as its own Elo keeps it."""
    names = []
    for side in ("model_A_info", "model_B_info"):
        info = needed(row, side, where)
        if not isinstance(info, dict) or "name" not in info:
            raise DataError(f"{where}: {side} is {short(info)}, expected an object with a name")
        names.append(info["name"])
    outcome = str(needed(row, "battle_outcome", where))
    words = {"tie": "tie", f"{names[0]}_wins": "model_a", f"{names[1]}_wins": "model_b"}
    if outcome not in words:
        raise DataError(f"{where}: battle_outcome is {outcome!r}, expected one of {', '.join(words)}")
    return {
        "model_a": names[0],
        "model_b": names[1],
        "winner": words[outcome],
        "battle_id": row.get("battle_id"),
    }


def winner_of(row: Mapping[str, Any], column: str, a: str, b: str, where: str) -> float:
    """The score of `a` that a verdict says: a model called `a` is meant by its name, but one called `tie`, or
    like another word that only verdicts use, is not: no name turns ties into wins."""
    word = unicodedata.normalize("NFC", str(needed(row, column, where)).strip())
    if word in _PLAIN_WORDS:
        return _WORDS[word]
    if word == a:
        return 1.0
    if word == b:
        return 0.0
    if word.lower() not in _WORDS:
        raise DataError(
            f"{where}, {column}: found {short(word)}, expected model_a, model_b, tie, tie (bothbad) or a name"
        )
    return _WORDS[word.lower()]
