"""The forms in which others keep results, as mappings of their columns to ours: data, in `forms.toml`.

A form has the columns that mark it (`signs`: `a|b` is either, `!a` not there) and, for each of our
columns, where it is in a row of that form, the first place that has a value. A place is a column, or a path:
it names keys inside objects (`a.b`), an element of a list (`a.0`), the only one (`a.only`) or all (`a.*`);
`a.$text` is the text of a message, or of several by role; `a[b].c` looks each name at `b` up in the object at
`a`; `a/b` joins texts. Rows of a kind have common columns, which a form may move.
"""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
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
    set, and its verdict. A row counts where the value at `counted[0]` is one of the others. `controls` are
    the places of what can be held equal, `{}` being the side. A `private` column becomes a number, in order
    of appearance. `refused` says why no row of this form can be rated.
    """

    kind: Literal["battles", "games", "answers"]
    signs: str
    layout: Layout = "auto"
    columns: dict[str, list[str]] = {}
    controls: dict[str, str] = {}
    words: dict[str, str] = {}
    flags: dict[str, str] = {}
    ending: str = ""
    counted: list[str] = []
    private: str = ""
    refused: str = ""


@cache
def forms() -> tuple[Form, ...]:
    """Return every form that is read, in the order in which they are tried."""
    text = resources.files(__package__).joinpath("forms.toml").read_text("utf-8")
    given = tomllib.loads(text)
    whole = []
    for own in given["form"]:
        common = given["common"][own["kind"]]
        columns = {**common["columns"], **own.get("columns", {})}
        whole.append({"layout": own["kind"], **common, **own, "columns": columns})
    return msgspec.convert(tuple(whole), tuple[Form, ...])


def form_of(row: Mapping[str, Any], name: str, layout: Layout = "auto") -> Form:
    """Return the form of a file by its first row, of those that `layout` names. Raises DataError."""
    named = [form for form in forms() if layout in ("auto", form.layout)]
    for form in named:
        signs = [(sign.lstrip("!").split("|"), sign[0] == "!") for sign in form.signs.split()]
        if all(any(_there(row, name) for name in names) != absent for names, absent in signs):
            if form.refused:
                raise DataError(f"{name} {form.refused}")
            return form
    if layout != "auto":
        return named[-1]
    raise DataError(
        f"{name}: expected battles (model_a, model_b, winner), games (players, ranks; or game, player, rank) "
        f"or answers (player, challenge, solved); its columns are {', '.join(map(str, row)) or 'none':.2000}"
    )


def _there(row: Mapping[str, Any], place: str) -> bool:
    return place in row or at(row, place) is not None


class Mapper:
    """Maps rows of one form to our columns; columns that have no place in it stay as they are. `score` is the
    column of what was solved, where one is named; in a `table` rows have the same columns."""

    def __init__(self, form: Form, score: str = "", table: tuple[str, ...] = ()) -> None:
        self.form = form
        self._columns = {**form.columns, **({"solved": [score]} if score else {})}
        self.titles = {column: places[0] for column, places in self._columns.items()}
        self._moves = lru_cache(16)(self._moves_of)
        self._of_table = self._moves_of(table) if table else None

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return the row by our columns."""
        moves = self._moves(tuple(row)) if self._of_table is None else self._of_table
        mapped = dict(row) if moves or self.form.flags else row
        for column, places in moves:
            for place in places:
                value = row[place] if place in row else at(row, place)
                if value is not None and value != "":
                    break
            mapped[column] = value
        if flags := self.form.flags:
            given = [word for column, word in flags.items() if str(row.get(column)).lower() in _SET]
            mapped["winner"] = " and ".join(given)
        return mapped

    def places(self, column: str, columns: Sequence[str]) -> list[str]:
        """Return where our column is in rows that have these, by its own name where nothing else is said."""
        named = self._columns.get(column, [column])
        return [place for place in named if {place, re.split(r"[.\[/]", place)[0]} & {*columns}]

    def _moves_of(self, columns: tuple[str, ...]) -> tuple[tuple[str, list[str]], ...]:
        """Return the places of our columns in rows that have these, of those that are elsewhere."""
        moves = []
        for column in self._columns:
            there = self.places(column, columns)
            if there and there != [column]:
                self.titles[column] = there[0]
                moves.append((column, there))
        return tuple(moves)


_SET = ("1", "true", "1.0")


def labelled(value: Any) -> str:
    """Return a label as a text; several, in a list or as flags that are set, as a list of JSON."""
    listed = _literal(value) if isinstance(value, str) and value[:1] in ("[", "{") else value
    if isinstance(listed, dict) and (flags := [*_flags(listed)]):
        listed = [name for name, is_set in flags if is_set]
    if isinstance(listed, list):
        return json.dumps(sorted({str(each) for each in listed}), ensure_ascii=False)
    return "" if value is None else str(value)


def _flags(value: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    for name, part in value.items():
        if isinstance(part, dict):
            yield from _flags(part)
        elif isinstance(part, bool):
            yield name, part


def at(value: Any, path: str) -> Any:
    """Return the value at a place; None where nothing is. Objects and lists may be written as texts."""
    if path in ("", _TEXT):
        return _text(value) if path else value
    if isinstance(value, str):
        value = _literal(value)
    step, _, rest = path.partition(".")
    if isinstance(value, list):
        if step == "*":
            return [at(each, rest) for each in value]
        number = 0 if step == "only" and len(value) == 1 else int(step) if step.isdecimal() else len(value)
        return at(value[number], rest) if number < len(value) else None
    if not isinstance(value, dict) or path in value:
        return value[path] if isinstance(value, dict) else None
    if "[" in path:
        known, by, rest = re.split(r"\[|\]\.?", path)
        names = at(value, by)
        each = names if isinstance(names, list) else ()
        return [at(at(at(value, known), str(name)), rest) for name in each] or None
    if "/" in path:
        parts = [at(value, part) for part in path.split("/")]
        return None if None in parts else "/".join(map(str, parts))
    return at(value.get(step), rest)


_TEXT = "$text"


def _text(written: Any) -> str | None:
    """Return a text, or those of messages, by role where they are several; None where some of it is no text,
    such as a picture."""
    alone = written if isinstance(written, dict) else {"content": written}
    turns = written if isinstance(written, list) else [alone]
    texts: list[list[Any]] = []
    for turn in turns:
        content = turn.get("content") if isinstance(turn, dict) else None
        parts = content if isinstance(content, list) else [{"text": content}]
        texts += [[part.get("text") if isinstance(part, dict) else None for part in parts]]
    if not all(isinstance(text, str) and text for each in texts for text in each):
        return None
    whole = ["\n".join(each) for each in texts]
    named = [f"{turn.get('role', '')}: {text}" for turn, text in zip(turns, whole, strict=True)]
    return "\n".join(named if len(turns) > 1 else whole)


@lru_cache(1)  # several columns may be of one text
def _literal(text: str) -> Any:
    """Return the value of JSON, or of Python, as which a data frame writes objects to CSV; None for anything
    else."""
    for reading in (json.loads, ast.literal_eval):
        try:
            return reading(text)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            pass
    return None
