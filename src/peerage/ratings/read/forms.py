"""The forms in which others keep results, as mappings of their columns to ours: data, in `forms.toml`.

A form has the columns that mark it (`signs`: `a|b` is either, `!a` not there) and, for each of our
columns, where it is in a row of that form, the first place that has a value. A place is a column, or a path:
it names keys inside objects (`a.b`), an element of a list (`a.0`), the only one (`a.only`) or all (`a.*`);
`a.$text` is the text of a message, or of several by role; `a[b].c` looks the name, or each of the names, at
`b` up in the object at `a`; `a/b` joins texts. Rows of a kind have common columns, which a form may move.
"""

from __future__ import annotations

import ast
import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, lru_cache
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from peerage.ratings.read.report import DataError, NoSingleResults, ReadingReport
from peerage.ratings.read.words import BATTLE, data, guessed, readable, squeezed, standard

Layout = Literal["auto", "battles", "games", "answers", "valyrian", "cob", "fastchat"]
FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""The beginning of a text that a spreadsheet might take for a formula, in full-width letters too, or that
already has the apostrophe put before such a text in CSV."""


class Form(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One form of rows.

    `words` are its verdicts in ours, `ending` follows a winner's name, `flags` are columns of which one is
    set, and its verdict. `verdicts` are the places of several, each a battle, of which every second has its
    sides `turned`; `weights` are those of words. A row counts where the value at `counted[0]` is one of the
    others. `controls` are the places of what can be held equal, `{}` being the side. A `private` column
    becomes a number, in order of appearance. `answers` are places that only other judges need. `path` finds
    in the file's name what its rows lack, and `stated` are columns that may hold a name that the user gives,
    with what it is. `refused` says why no row of this form can be rated.
    """

    kind: Literal["battles", "games", "answers"]
    signs: str
    layout: Layout = "auto"
    columns: dict[str, list[str]] = {}
    answers: dict[str, list[str]] = {}
    controls: dict[str, str] = {}
    words: dict[str, str] = {}
    flags: dict[str, str] = {}
    verdicts: list[str] = []
    turned: bool = False
    weights: dict[str, float] = {}
    ending: str = ""
    counted: list[str] = []
    private: str = ""
    path: str = ""
    stated: dict[str, str] = {}
    refused: str = ""


class GivenForm(NamedTuple):
    """Statements of a user about files: our `columns` with theirs, their `words` for winners with our
    verdicts, and whether a row that cannot be used refuses them all (`strict`)."""

    columns: Mapping[str, str] = {}
    words: Mapping[str, str] = {}
    strict: bool = False

    @classmethod
    def of(cls, columns: Mapping[str, str], winner: Mapping[Any, str], *, strict: bool = False) -> GivenForm:
        """Return what mappings such as `{"a": "left"}` and `{1: "a", 0: "tie"}` state. Raises DataError."""
        named, words = dict[str, str](), dict[str, str]()
        for ours, theirs in columns.items():
            name = _OURS.get(ours, ours)
            if named.setdefault(name, str(theirs)) != str(theirs):
                raise DataError(f"columns {ours}={theirs}: it is {named[name]} already; leave one out")
            if name not in _known() and ours[-2:] not in ("_a", "_b"):
                raise DataError(
                    f"columns {ours}={theirs}: ours are a, b, {', '.join(data()['columns'][:18])}"
                )
        if named.get("model_a", "") == named.get("model_b"):
            raise DataError(f"columns a and b are both {named['model_a']}: name one for each side")
        for word, ours in winner.items():
            if (verdict := standard(str(ours))) is None:
                raise DataError(f"winner {word}={ours}: expected a, b, tie, both bad or none, not {ours!r}")
            words[str(word)] = verdict
        return cls(named, words, strict)


AS_WRITTEN = GivenForm()
_OURS = {"a": "model_a", "baseline": "model_a", "b": "model_b", "model": "player", "item": "challenge"}


def pairs(texts: Iterable[str] | None, option: str) -> dict[str, str]:
    """Return what texts such as `a=left,b=right` map, ours first in columns, theirs first in words. Quotes
    keep commas together. Raises DataError."""
    parts = [part for row in csv.reader(texts or (), skipinitialspace=True) for part in row if part.strip()]
    split = str.partition if option == "--columns" else str.rpartition
    found = dict[str, str]()
    for part in parts:
        word, equals, meant = split(part, "=")
        if not (equals and word.strip() and meant.strip()):
            raise DataError(f"{option} {part}: expected pairs such as a=left,b=right, or 1=a,2=b,0=tie")
        if found.get(word.strip(), meant.strip()) != meant.strip():
            raise DataError(f"{option} {part}: it is {found[word.strip()]} already; leave one out")
        found[word.strip()] = meant.strip()
    return found


@cache
def forms() -> tuple[Form, ...]:
    """Return every form that is read, in the order in which they are tried."""
    given = data()
    whole = []
    for own in given["form"]:
        common = given["common"][own["kind"]]
        merged = {part: {**common.get(part, {}), **own.get(part, {})} for part in ("columns", "answers")}
        whole.append({"layout": own["kind"], **common, **own, **merged})
    return msgspec.convert(tuple(whole), tuple[Form, ...])


@cache
def _known() -> frozenset[str]:
    """Return the names of columns that forms and their readers know."""
    names = {*data()["columns"], "model_a", "model_b"}
    for form in forms():
        places = [
            place for known in (form.columns, form.answers) for each in known.values() for place in each
        ]
        names |= {_first(place) for place in (*places, *form.counted[:1])} | {*form.columns, *form.flags}
        names |= {name for sign in form.signs.split() for name in sign.lstrip("!").split("|")}
    return frozenset(names)


def form_of(row: Mapping[str, Any], name: str, layout: Layout = "auto") -> tuple[Form, dict[str, str]]:
    """Return the form of a file by its first row, of those that `layout` names, and the columns that were
    guessed, theirs by ours. Raises DataError."""
    named = [form for form in forms() if layout in ("auto", form.layout)]
    fits = (form for form in named if all(_fits(row, sign) for sign in form.signs.split()))
    form = next(fits, None if layout == "auto" else named[-1])
    if form and form.refused:
        raise NoSingleResults(f"{name} {form.refused}")
    known = {} if form is None else {ours: ours for ours in BATTLE if _has(row, form, ours)}
    guess: dict[str, str] = {}
    if form is None or (form.kind == "battles" and {"model_a", "model_b"} == known.keys()):
        guess = guessed(map(str, row), known, name)
    if guess:
        form = form or next(form for form in reversed(named) if form.layout == "battles")
        guess = {ours: theirs for ours, theirs in guess.items() if ours not in known}
        places = {"winner": guess.get("model_a", ""), **guess}  # of winner and loser, the name of the winner
        columns = {**form.columns, **{ours: [theirs] for ours, theirs in places.items()}}
        return replace(form, columns=columns), guess
    if form is not None:
        return form, {}
    raise DataError(
        f"{name}: expected battles (model_a, model_b, winner), games (players, ranks; or game, player, rank) "
        f"or answers (player, challenge, solved); its columns are {', '.join(map(str, row)) or 'none':.2000}"
        "; `--columns a=COLUMN,b=COLUMN,winner=COLUMN` says which are meant"
    )


def held(record: Any) -> list[Any] | None:
    """Return the rows that an object holds in a list, where it is no row itself; None where it is one."""
    if not isinstance(record, dict) or len(record) > 30:
        return None
    lists = (at(record, place) for place in data()["lists"])
    rows = next(
        (rows for rows in lists if isinstance(rows, list) and rows and isinstance(rows[0], dict)), None
    )
    row = rows is None or any(all(_fits(record, sign) for sign in form.signs.split()) for form in forms())
    return None if row else rows


def _fits(row: Mapping[str, Any], sign: str) -> bool:
    return any(_there(row, place) for place in sign.lstrip("!").split("|")) != (sign[0] == "!")


def _has(row: Mapping[str, Any], form: Form, column: str) -> bool:
    """Return whether a row of the form has a place for one of our columns."""
    if column == "winner" and (form.flags or form.verdicts or "share" in row):
        return True
    places = form.columns.get(column, [column])
    return any(place in row or _first(place) in row for place in places)


def _there(row: Mapping[str, Any], place: str) -> bool:
    return place in row or at(row, place) is not None


class Mapper:
    """Maps rows of one form, that of a file's first row, to our columns; columns that have no place in it
    stay as they are. `score` is the column of what was solved, where one is named; `answers` adds what other
    judges need. Raises DataError."""

    def __init__(
        self,
        row: dict[str, Any],
        report: ReadingReport,
        given: GivenForm = AS_WRITTEN,
        layout: Layout = "auto",
        *,
        score: str = "",
        answers: bool = False,
    ) -> None:
        self._spelled = _spelled(row)
        self._more: dict[str, Any] = {}
        theirs = {ours: self._spelled.get(column, column) for ours, column in given.columns.items()}
        there = self._row(row).keys()
        named = {ours: it for ours, it in theirs.items() if it not in there and _first(it) not in there}
        mapped = dict.fromkeys(theirs.keys() - named.keys(), True)
        try:
            form, guess = form_of({**self._row(row), **mapped}, report.file, "answers" if score else layout)
        except DataError as error:
            for ours in named if not isinstance(error, NoSingleResults) else ():
                raise DataError(_no_column(report.file, given.columns[ours], row)) from None
            raise
        if form.path and (match := re.search(form.path, report.file)):
            self._more = {key: part.replace("__", "/") for key, part in match.groupdict().items() if part}
            if "model" in self._more and "model" not in row and "player" not in theirs:
                report.guess("the model's name is that in the file's path")
        for ours, column in named.items():
            if ours not in form.stated:
                raise DataError(_no_column(report.file, given.columns[ours], row))
            self._more[ours] = column
        columns = {ours: [ours if ours in named else column] for ours, column in theirs.items()}
        own = {**form.columns, **(form.answers if answers else {}), **({"solved": [score]} if score else {})}
        form = replace(form, columns={**own, **columns}, words={**form.words, **given.words})
        if "winner" in given.columns:
            form = replace(form, flags={}, verdicts=[])
        for ours, meaning in form.stated.items():
            if not _has(self._row(row), form, ours):
                option = f"--columns {ours.removeprefix('model_')}=NAME"
                raise DataError(f"{report.file} does not name {meaning}: add `{option}`")
        if guess := {ours: column for ours, column in guess.items() if ours != column}:
            written = {ours: column for column, ours in self._spelled.items()}
            pairs = [
                f"{ours.removeprefix('model_')}={written.get(column, column)}"
                for ours, column in guess.items()
            ]
            report.guess(f"read as {', '.join(pairs)}")
        self.form = form
        self.as_named = not (self._spelled or self._more)
        self.titles = {column: places[0] for column, places in form.columns.items()}
        self.titles |= {ours: column for column, ours in self._spelled.items()}
        self._moves = lru_cache(16)(self._moves_of)
        self._of_table = self._moves_of(tuple(self._row(row))) if report.fixed else None

    def _row(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return the row with columns as we spell them too, and with what its file states elsewhere."""
        if self._spelled:
            row = {**row, **{ours: row[column] for column, ours in self._spelled.items() if column in row}}
        return {**self._more, **row} if self._more else row

    def __call__(self, written: dict[str, Any]) -> dict[str, Any]:
        """Return the row by our columns."""
        row = written if self.as_named else self._row(written)
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
        named = self.form.columns.get(column, [column])
        return [place for place in named if {place, _first(place)} & {*columns}]

    def battles(self, written: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield a row for each of several verdicts; the first that is none, where all are not to be read."""
        row = self(written)
        given = [at(row, place) for place in self.form.verdicts]
        given = next(([word] for word in given if not readable(word)), given)
        turned = {"model_a": row.get("model_b"), "model_b": row.get("model_a")} if self.form.turned else {}
        for number, word in enumerate(given):
            weight = self.form.weights.get(str(word).strip("[] "), 1)
            yield {**row, "winner": word, "weight": weight, **(turned if number % 2 else {})}

    def _moves_of(self, columns: tuple[str, ...]) -> tuple[tuple[str, list[str]], ...]:
        """Return the places of our columns in rows that have these, of those that are elsewhere."""
        moves = []
        for column in self.form.columns:
            there = self.places(column, columns)
            if there and there != [column]:
                self.titles[column] = there[0]
                moves.append((column, there))
        return tuple(moves)


_SET = ("1", "true", "1.0")


def _first(place: str) -> str:
    """Return the column in which a place is."""
    return re.split(r"[.\[/\]]", place.lstrip("["))[0]


def _spelled(row: Mapping[str, Any]) -> dict[str, str]:
    """Return how we spell columns of a row that differ from a known name in case, blanks or marks alone."""
    ours: dict[str, str] = {}
    for name in sorted(_known()):
        ours[squeezed(name)] = "" if squeezed(name) in ours else name
    spelled: dict[str, str] = {}
    for column in row:
        name = ours.get(squeezed(column), "")
        if column not in _known() and name and name not in row and name not in spelled.values():
            spelled[column] = name
    return spelled


def _no_column(file: str, column: str, row: Mapping[str, Any]) -> str:
    """Return that a column is not there, which are, and which may be meant."""
    by_name = {squeezed(each): str(each) for each in row}
    close = get_close_matches(squeezed(column), by_name, 1)
    meant = f"; is {by_name[close[0]]} meant?" if close else "."
    return f"{file}: there is no column {column}{meant} The columns are {', '.join(map(str, row)):.2000}"


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
        if isinstance(names, str):
            return at(at(at(value, known), names), rest)
        each = names if isinstance(names, list) else ()
        return [at(at(at(value, known), str(name)), rest) for name in each] or None
    if "/" in path:
        parts = [at(value, part) for part in path.split("/")]
        return None if None in parts else "/".join(map(str, parts))
    return at(value.get(step), rest)


_TEXT = "$text"


def _text(written: Any) -> str | None:
    """Return a text, or messages' texts, by role where several; None where some is no text, as a picture."""
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
    """Return the value of JSON or Python, as data frames write objects to CSV; None for anything else."""
    for reading in (json.loads, ast.literal_eval):
        try:
            return reading(text)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            pass
    return None
