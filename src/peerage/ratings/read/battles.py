"""Battles, as they are kept and as they are read."""

from __future__ import annotations

import math
import unicodedata
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from peerage.ratings.history import Duels, duels
from peerage.ratings.kernels import Floats
from peerage.ratings.read.forms import Form, Layout
from peerage.ratings.read.report import ColumnMissing, Report, RowError
from peerage.ratings.read.values import Row, amount, as_name, control_of, in_order, needed, short, time_of
from peerage.ratings.rows import contrast

TIE, BOTH_BAD, NO_RESULT = "tie", "tie (bothbad)", ""
SCORES = {"model_a": 1.0, "model_b": 0.0, TIE: 0.5, BOTH_BAD: 0.5}
"""The verdicts, and what each is worth to `model_a`."""
_PLAIN = {**{word: word for word in SCORES}, **dict.fromkeys(("bothbad", "both_bad", "both bad"), BOTH_BAD)}
_NONE = ("", "nan", "none", "null", "na", "n/a", "inconclusive", "no result")
_WORDS = {
    **_PLAIN,
    "a": "model_a",
    "b": "model_b",
    "draw": TIE,
    "both": TIE,
    **dict.fromkeys(_NONE, NO_RESULT),
}


def verdict_of(row: Row, column: str, a: str, b: str, form: Form) -> str:
    """The verdict in a column: a key of `SCORES`, or `NO_RESULT`.

    A model called `a` is meant by its name, but one called `tie`, or like another word that only verdicts
    use, is not: no name turns ties into wins. Raises RowError.
    """
    value = row.get(column)
    if isinstance(value, str) and value in _PLAIN:
        return _PLAIN[value]
    word = "" if value is None else unicodedata.normalize("NFC", str(value).strip())
    if word in _PLAIN or word in form.words:
        return _PLAIN.get(word) or form.words[word]
    if word in (a + form.ending, b + form.ending):
        return "model_a" if word == a + form.ending else "model_b"
    if word.lower() in _WORDS:
        return _WORDS[word.lower()]
    words = ", ".join(form.words or ("model_a", "model_b", TIE, BOTH_BAD))
    expected = f"tie or a name followed by {form.ending}" if form.ending else f"{words} or a name"
    raise RowError(f"found {short(word)}, expected {expected}", column)


@dataclass(frozen=True, eq=False)
class Battles:
    """Duels with what was recorded next to them; every column has one element a duel.

    `labels` has the clusters (`judge`, `question`), `controls` the differences of what was asked to be held
    equal, `costs` (shape (2, duels), nan unknown) what each answer cost, `times` the seconds since 1970 at
    which they happened (None unless all are known), `both_bad` which ties were of two answers said to be bad
    (None without any). `notes` say what was done to the data.
    """

    names: tuple[str, ...]
    duels: Duels
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    controls: Mapping[str, Floats] = field(default_factory=dict)
    costs: Floats | None = None
    notes: tuple[str, ...] = ()
    layout: Layout = "battles"
    times: Floats | None = None
    both_bad: np.ndarray | None = None


class BattlesRead:
    """Battles as they are read: compact columns that grow."""

    def __init__(self, labels: Sequence[str], controls: Sequence[str], kept: Sequence[str]) -> None:
        self._names: dict[str, str] = {}
        self._players: dict[str, int] = {}
        self._people: dict[str, str] = {}
        self._controls, self._needed = tuple(controls), frozenset(labels)
        self._labels: dict[str, list[str]] = {label: [] for label in (*labels, *kept)}
        both = [f"{control}_{side}" for control in controls for side in "ab"]
        columns = ("first", "second", "score", "bad", "weight", "time", "cost_a", "cost_b", *both)
        self._columns = {column: array("d") for column in columns}

    def add(self, row: Row, form: Form, report: Report) -> None:
        """Take one row in. Raises RowError that names what is missing or cannot be."""
        if form.log and (
            str(row.get("winner")) not in form.words or row.get("model_a") == row.get("model_b")
        ):
            end = "between two models, and left out"
            report.left_out[f"line is no vote {end}", f"lines are no votes {end}"] += 1
            return
        a, b = self._name(row, "model_a"), self._name(row, "model_b")
        if a == b:
            raise RowError(f"{a!r} plays against itself; model_a and model_b must differ")
        if "winner" not in row:
            raise ColumnMissing("winner")
        verdict = verdict_of(row, "winner", a, b, form)
        values = [
            amount(row, "weight", 1.0),
            time_of(row),
            amount(row, "cost_a", math.nan),
            amount(row, "cost_b", math.nan),
            *[control_of(row, control, side) for control in self._controls for side in "ab"],
        ]
        labels = [self._label(row, label, form) for label in self._labels]
        if verdict == NO_RESULT:
            report.left_out["row without a winner is left out", "rows without a winner are left out"] += 1
            return
        if report.repeats("battle_id", row.get("battle_id"), (a, b, verdict)):
            return
        players = self._players
        first, second = players.setdefault(a, len(players)), players.setdefault(b, len(players))
        values[:0] = [first, second, SCORES[verdict], verdict == BOTH_BAD]
        for numbers, value in zip(self._columns.values(), values, strict=True):
            numbers.append(value)
        for texts, label in zip(self._labels.values(), labels, strict=True):
            texts.append(label)

    def _name(self, row: Row, column: str) -> str:
        value = needed(row, column)
        known = self._names.get(value) if isinstance(value, str) else None
        return known or self._names.setdefault(value, as_name(value, column))

    def _label(self, row: Row, label: str, form: Form) -> str:
        value = row.get(label)
        if value is None or value == "":
            return str(needed(row, label)) if label in self._needed else ""
        if label == form.private:  # an address, say, is nobody's business
            return self._people.setdefault(str(value), f"person {len(self._people) + 1}")
        return str(value)

    def made(self, layout: Layout, notes: tuple[str, ...]) -> Battles:
        """All battles, in the order of their times where all have one."""
        column = {name: np.array(values) for name, values in self._columns.items()}
        order, timed, note = in_order(
            column["time"], "some rows have no timestamp: the order of the files is kept"
        )
        column = {name: values[order] for name, values in column.items()}
        bad, costs = column["bad"] > 0, np.stack([column["cost_a"], column["cost_b"]])
        ties = int((column["score"] == 0.5).sum())
        said = [f"{bad.sum()} of {ties} ties are of answers said to be both bad"] * bool(bad.any())
        names = ("first", "second", "score", "weight")
        return Battles(
            names=tuple(self._players),
            duels=duels(len(self._players), *[column[name] for name in names]),
            labels={label: tuple([values[i] for i in order]) for label, values in self._labels.items()},
            controls={name: contrast(column[f"{name}_a"], column[f"{name}_b"]) for name in self._controls},
            costs=None if np.isnan(costs).all() else costs,
            notes=(*notes, *said, *note),
            layout=layout,
            times=column["time"] if timed else None,
            both_bad=bad if bad.any() else None,
        )
