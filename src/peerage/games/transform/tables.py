"""Tables: drawn at random, and written in the shapes in which players get and give them. Pure.

A column's kind says what may be done with it: `word` (few different values), `person` ("Ada Berg") or
`person,` ("Berg, Ada"), `number`, `date` (YYYY-MM-DD), `list` (words with semicolons between), `messy` (stray
spaces and capitals), `gaps` (words, some missing), `id`, and `text`, with which nothing is done.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from functools import wraps
from random import Random
from typing import Any, NamedTuple, TypeAlias

from peerage.games.names import NAMES
from peerage.values import grouped

Cell: TypeAlias = str | int

_FRESH = 0.7
"""Share of the choices of a column that fall on one that a step before made, where there is any."""


class DataColumn(NamedTuple):
    """A column; `fresh` is what a step made of others, which later steps prefer and none leaves out."""

    name: str
    kind: str
    fresh: bool = False


class DataTable(NamedTuple):
    columns: tuple[DataColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def of(self, *kinds: str) -> list[int]:
        """Return the places of the columns of these kinds."""
        return [at for at, column in enumerate(self.columns) if column.kind in kinds]

    def pick(self, rng: Random, *kinds: str) -> int | None:
        """Return a column of these kinds, as a rule a fresh one, so that steps hang together."""
        places = self.of(*kinds)
        fresh = [at for at in places if self.columns[at].fresh]
        places = fresh if fresh and rng.random() < _FRESH else places
        return rng.choice(places) if places else None

    @property
    def pairs(self) -> int:
        """The number of pairs of rows."""
        return len(self.rows) * (len(self.rows) - 1) // 2

    def column(self, at: int) -> list[Cell]:
        return [row[at] for row in self.rows]

    def kept(self, keep: Callable[[tuple[Cell, ...]], bool]) -> DataTable:
        """Return the table with these of its rows."""
        return self._replace(rows=tuple(filter(keep, self.rows)))

    def put(self, at: int, columns: Sequence[DataColumn], cells: Iterable[Sequence[Cell]]) -> DataTable:
        """Return the table with other columns in the place of this one, filled row by row."""
        rows = [(*row[:at], *some, *row[at + 1 :]) for row, some in zip(self.rows, cells, strict=True)]
        return DataTable((*self.columns[:at], *columns, *self.columns[at + 1 :]), tuple(rows))

    def changed(self, at: int, cells: Iterable[Cell], *, name: str = "", kind: str = "") -> DataTable:
        """Return the table with other cells in this column, and another name or kind of it."""
        before = self.columns[at]
        made = DataColumn(name or before.name, kind or before.kind, True)
        return self.put(at, [made], [(cell,) for cell in cells])

    def added(self, name: str, kind: str, cells: Iterable[Cell]) -> DataTable:
        """Return the table with a column more at the end."""
        return self.put(len(self.columns), [DataColumn(name, kind, True)], [(cell,) for cell in cells])


class WrittenTable(NamedTuple):
    """A table in a shape: the words for the shape, and the text."""

    says: str
    text: str


_LAST = (
    "Berg",
    "Cruz",
    "Diaz",
    "Endo",
    "Falk",
    "Gray",
    "Hall",
    "Ito",
    "Jung",
    "Kern",
    "Lund",
    "Moss",
    "Nagy",
)
_WORDS = {
    "city": ("Oslo", "Rome", "Lima", "Cairo", "Porto", "Quito", "Delhi", "Perth"),
    "team": ("north", "south", "east", "west"),
    "product": ("lamp", "desk", "chair", "shelf", "clock", "carpet"),
    "status": ("open", "paid", "late", "void"),
}
_NUMBERS = {"quantity": 40, "points": 990, "price": 90, "stock": 300}
UNITS = {
    "weight_kg": ("weight_g", "weight", "grams", "kilograms", "1 kg is 1000 g", 1000),
    "distance_km": ("distance_m", "distance", "meters", "kilometers", "1 km is 1000 m", 1000),
    "height_m": ("height_cm", "height", "centimeters", "meters", "1 m is 100 cm", 100),
    "duration_h": ("duration_min", "time", "minutes", "hours", "1 hour is 60 minutes", 60),
    "age_days": ("age_hours", "time", "hours", "days", "1 day is 24 hours", 24),
}
_TAGS = ("new", "sale", "gift", "large", "green", "spare")
_TITLES = ("green tea", "oak table", "blue glass vase", "wall map", "old brass bell", "paper lantern")


def drawn(rng: Random, rows: int) -> DataTable:
    """A table with a column of most kinds, in a random order."""
    person = rng.choice(("person", "person,"))
    names = [f"{first} {rng.choice(_LAST)}" for first in rng.choices(NAMES, k=rows)]
    columns: dict[DataColumn, Sequence[Cell]] = {
        DataColumn("customer", person): [_turned(name, person) for name in names]
    }
    for name in rng.sample([*_WORDS], 2):
        some = rng.sample(_WORDS[name], rng.randint(3, 4))
        columns[DataColumn(name, "word")] = rng.choices(some, k=rows)
    for name in rng.sample([*_NUMBERS], 2):
        columns[DataColumn(name, "number")] = [rng.randint(1, _NUMBERS[name]) for _ in range(rows)]
    columns[DataColumn(rng.choice([*UNITS]), "number")] = [rng.randint(1, 80) for _ in range(rows)]
    first = date(rng.randint(2016, 2034), 1, 1)
    columns[DataColumn(rng.choice(("ordered", "shipped", "due")), "date")] = [
        (first + timedelta(rng.randrange(500))).isoformat() for _ in range(rows)
    ]
    more: dict[DataColumn, Sequence[Cell]] = {
        DataColumn("tags", "list"): [";".join(rng.sample(_TAGS, rng.randint(1, 3))) for _ in range(rows)],
        DataColumn("title", "messy"): [_messy(rng, rng.choice(_TITLES)) for _ in range(rows)],
        DataColumn("carrier", "gaps"): rng.choices(("rail", "ship", "truck", ""), k=rows),
    }
    order = [*rng.sample([*columns], rng.randint(5, 6)), *rng.sample([*more], 1)]
    rng.shuffle(order)
    columns |= more | {DataColumn("id", "id"): rng.sample(range(100, 1000), rows)}
    order = [DataColumn("id", "id"), *order]
    return DataTable(tuple(order), tuple(zip(*[columns[column] for column in order], strict=True)))


def _turned(name: str, kind: str) -> str:
    first, _, last = name.partition(" ")
    return f"{last}, {first}" if kind == "person," else name


def _messy(rng: Random, title: str) -> str:
    words = ["".join(rng.choice((letter, letter.upper())) for letter in word) for word in title.split()]
    return (
        " " * rng.randrange(3) + "".join(f"{word}{' ' * rng.randint(1, 3)}" for word in words).rstrip() + " "
    )


# ------------------------------------------------------------------------------------------- shapes


def _plain(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _array(items: Iterable[Any]) -> str:
    return "[\n" + ",\n".join([f"  {_plain(item)}" for item in items]) + "\n]"


def _objects(table: DataTable, without: int | None = None) -> list[dict[str, Cell]]:
    names = table.names()
    return [{names[at]: cell for at, cell in enumerate(row) if at != without} for row in table.rows]


def json_objects(rng: Random, table: DataTable) -> WrittenTable:
    """Each row an object."""
    says = "a JSON array with one object for each row, whose keys are the names of the columns"
    return WrittenTable(says, _array(_objects(table)))


def json_arrays(rng: Random, table: DataTable) -> WrittenTable:
    """Each row an array."""
    says = "a JSON array of arrays: first one of the names of the columns, then one for each row"
    return WrittenTable(says, _array([table.names(), *table.rows]))


def json_columns(rng: Random, table: DataTable) -> WrittenTable:
    """Each column an array."""
    says = "a JSON object with a key for each column, whose value is the array of its values in all rows"
    lines = [f"  {_plain(name)}: {_plain(table.column(at))}" for at, name in enumerate(table.names())]
    return WrittenTable(says, "{\n" + ",\n".join(lines) + "\n}")


def json_groups(rng: Random, table: DataTable) -> WrittenTable:
    """The rows grouped by a column."""
    by = rng.choice(table.of("word") or [0])
    says = (
        f"a JSON object with a key for each different value of {table.columns[by].name} (as a string), whose "
        "value is the array of the rows with it, in their order, each an object of all other columns"
    )
    groups = grouped(
        (str(row[by]), record) for row, record in zip(table.rows, _objects(table, by), strict=True)
    )
    lines = [f"  {_plain(key)}: {_plain(rows)}" for key, rows in groups.items()]
    return WrittenTable(says, "{\n" + ",\n".join(lines) + "\n}")


def separated(rng: Random, table: DataTable) -> WrittenTable:
    """CSV, with commas or semicolons."""
    name, sign = rng.choice((("comma", ","), ("semicolon", ";")))
    says = (
        f"CSV with {name}s: a line of the names of the columns, then one line for each row, with a {name} "
        f"between fields; a field that holds a {name} is put in double quotes, and no other field is"
    )
    out = io.StringIO()
    csv.writer(out, delimiter=sign, lineterminator="\n").writerows([table.names(), *table.rows])
    return WrittenTable(says, out.getvalue().rstrip("\n"))


def markdown(rng: Random, table: DataTable) -> WrittenTable:
    """A Markdown table."""
    says = (
        "a Markdown table in lines of the form | a | b |: one of the names of the columns, one with --- for "
        "each column, then one for each row, with one space on each side of every value"
    )
    lines = [table.names(), ["---"] * len(table.columns), *table.rows]
    return WrittenTable(says, "\n".join([f"| {' | '.join(map(str, line))} |" for line in lines]))


def blocks(rng: Random, table: DataTable) -> WrittenTable:
    """A block of lines for each row."""
    says = (
        "a block of lines for each row, with one empty line between blocks; a block has one line for each "
        "column, in their order, in the form name: value"
    )
    made = ["\n".join([f"{name}: {cell}" for name, cell in record.items()]) for record in _objects(table)]
    return WrittenTable(says, "\n\n".join(made))


def template(rng: Random, table: DataTable) -> WrittenTable:
    """A line for each row, by a template."""
    shown = [column.name for column in table.columns if column.fresh]
    rest = [name for name in table.names() if name not in shown]
    names = rng.sample([*shown, *rest[: max(0, 3 - len(shown))]], min(len(table.columns), max(3, len(shown))))
    signs = rng.choices((" / ", " -> ", ": ", " # ", " | "), k=len(names) - 1)
    form = "".join([f"<{name}>{sign}" for name, sign in zip(names, [*signs, ""], strict=True)])
    says = f"one line for each row, in which <name> stands for the row's value in that column: {form}"
    lines = [
        "".join([f"{record[name]}{sign}" for name, sign in zip(names, [*signs, ""], strict=True)])
        for record in _objects(table)
    ]
    return WrittenTable(says, "\n".join(lines))


Shape: TypeAlias = Callable[[Random, DataTable], WrittenTable]

JSON: tuple[Shape, ...] = (json_objects, json_arrays, json_columns, json_groups)
LINES: tuple[Shape, ...] = (separated, markdown, blocks, template)
INPUTS: tuple[Shape, ...] = (json_objects, json_arrays, json_columns, separated, markdown, blocks)
WORDY: tuple[Shape, ...] = (json_objects, json_groups, blocks)
"""Shapes that repeat the names of columns in every row."""


class TableStep(NamedTuple):
    """Words of a step, the table after it, a second table it needs, and its work, in values compared."""

    says: str
    after: DataTable
    second: DataTable | None = None
    work: int = 0
    """Operations of the step; 0 stands for one for each row before."""


Family: TypeAlias = Callable[[Random, DataTable], TableStep | None]


ColumnStep: TypeAlias = Callable[[Random, DataTable, int], TableStep | None]


def of(*kinds: str, new: tuple[str, ...] = ()) -> Callable[[ColumnStep], Family]:
    """Make a family of a step at a drawn column of these kinds, in a table that has no column `new` yet."""

    def family(step: ColumnStep) -> Family:
        @wraps(step)
        def drawn(rng: Random, table: DataTable) -> TableStep | None:
            at = table.pick(rng, *kinds)
            return None if at is None or {*new} & {*table.names()} else step(rng, table, at)

        return drawn

    return family
