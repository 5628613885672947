"""The forms in which others keep results, as mappings of their columns to ours: data, in `forms.toml`.

A form tells the columns that mark it (`signs`: `a|b` is either, `!a` not there) and, for each of our
columns, where it is in a row of that form, the first place that has a value. A path names keys inside objects
(`a.b`), an element of a list (`a.0`), the only one (`a.only`) or all (`a.*`); `a[b].c` looks each name at `b`
up in the object at `a`; `a/b` joins texts. Rows of a kind have common columns, which a form may move.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Literal

import msgspec

from peerage.ratings.read.report import DataError

Layout = Literal["auto", "battles", "games", "answers", "valyrian", "cob", "fastchat"]
FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""The beginning of a text that a spreadsheet might take for a formula, in full-width letters too, or that
already has the apostrophe put before such a text in CSV."""


class Form(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One form of rows.

    `words` are its verdicts in ours, `ending` follows a winner's name, `flags` are columns of which one is
    set, and its verdict. A row counts where the value at `counted[0]` is one of the others. `log` says
    that a file holds more than votes: what is no vote between two models is left out. A `private` column
    becomes a number, in order of appearance. `refused` says why no row of this form can be rated.
    """

    kind: Literal["battles", "games", "answers"]
    signs: str
    layout: Layout = "auto"
    columns: dict[str, list[str]] = {}
    words: dict[str, str] = {}
    flags: dict[str, str] = {}
    ending: str = ""
    counted: list[str] = []
    log: bool = False
    private: str = ""
    refused: str = ""


class _Forms(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    common: dict[str, dict[str, list[str]]]
    form: list[Form]


@cache
def forms() -> tuple[Form, ...]:
    """Return every form that is read, in the order in which they are tried."""
    text = resources.files(__package__).joinpath("forms.toml").read_text("utf-8")
    given = msgspec.convert(tomllib.loads(text), _Forms)
    return tuple(
        [
            msgspec.structs.replace(
                form,
                layout=form.kind if form.layout == "auto" else form.layout,
                columns={**given.common[form.kind], **form.columns},
            )
            for form in given.form
        ]
    )


def form_of(row: Mapping[str, Any], name: str, layout: Layout = "auto") -> Form:
    """Return the form of a file by its first row, of those that `layout` names. Raises DataError."""
    named = [form for form in forms() if layout in ("auto", form.layout)]
    for form in named:
        signs = [(sign.lstrip("!").split("|"), sign[0] == "!") for sign in form.signs.split()]
        if all(row.keys().isdisjoint(names) == absent for names, absent in signs):
            if form.refused:
                raise DataError(f"{name} {form.refused}")
            return form
    if layout != "auto":
        return named[-1]
    raise DataError(
        f"{name}: expected battles (model_a, model_b, winner), games (players, ranks; or game, player, rank) "
        f"or answers (player, challenge, solved); its columns are {', '.join(map(str, row)) or 'none':.2000}"
    )


class Mapper:
    """Maps rows of one form to our columns; columns that have no place in it stay as they are."""

    def __init__(self, form: Form) -> None:
        self.form, self.by_header = form, False
        self.titles = {column: places[0] for column, places in form.columns.items()}
        self._moves = lru_cache(16)(self._moves_of)

    def index(self, cells: Mapping[str, int]) -> dict[str, int]:
        """Return the places of a table's cells by its own columns and by ours: its rows need no other map."""
        self.by_header = True
        moves = self._moves(tuple(cells))
        return {**cells, **{column: cells[places[0]] for column, places in moves if places[0] in cells}}

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return the row by our columns."""
        moves = () if self.by_header else self._moves(tuple(row))
        mapped = dict(row) if moves or self.form.flags else row
        for column, places in moves:
            if len(places) == 1 and places[0] in row:
                mapped[column] = row[places[0]]
            else:
                values = (_value(row, place) for place in places)
                mapped[column] = next((value for value in values if value is not None), None)
        if flags := self.form.flags:
            given = [word for column, word in flags.items() if str(row.get(column)).lower() in _SET]
            mapped["winner"] = " and ".join(given)
        return mapped

    def _moves_of(self, columns: tuple[str, ...]) -> tuple[tuple[str, list[str]], ...]:
        """Return the places of our columns in rows that have these, of those that are elsewhere."""
        moves = []
        for column, places in self.form.columns.items():
            there = [place for place in places if {place, re.split(r"[.\[/]", place)[0]} & {*columns}]
            if there and there != [column]:
                self.titles[column] = there[0]
                moves.append((column, there))
        return tuple(moves)


_SET = ("1", "true", "1.0")


def _value(row: Mapping[str, Any], place: str) -> Any:
    """Return the value at a place of a row; None where nothing is."""
    if place in row:
        return row[place]
    if "[" in place:
        of, by, path = re.split(r"\[|\]\.?", place)
        known, names = at(row, of), at(row, by)
        if not isinstance(known, dict) or not isinstance(names, list):
            return None
        return [at(known.get(name) if isinstance(name, str) else None, path) for name in names]
    if "/" in place:
        parts = [at(row, path) for path in place.split("/")]
        return "/".join(["" if part is None else str(part) for part in parts])
    return at(row, place)


def at(value: Any, path: str) -> Any:
    """Return the value at a path; None where nothing is."""
    steps = path.split(".") if path else []
    for number, step in enumerate(steps):
        if isinstance(value, dict):
            value = value.get(step)
        elif not isinstance(value, list):
            return None
        elif step == "*":
            return [at(each, ".".join(steps[number + 1 :])) for each in value]
        elif step == "only":
            value = value[0] if len(value) == 1 else None
        else:
            value = value[int(step)] if step.isdecimal() and int(step) < len(value) else None
    return value
