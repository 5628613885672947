"""Steps that change columns, and what is in them. Pure; see `transform.step`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from operator import add, mul, sub
from random import Random

from peerage.games.names import NAMES
from peerage.games.transform.step import Step, extended, kept, replaced
from peerage.games.transform.tables import UNITS, Cell, DataColumn, DataTable

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def _new(rng: Random, table: DataTable, names: Sequence[str]) -> str | None:
    free = [name for name in names if name not in table.names()]
    return rng.choice(free) if free else None


def rename(rng: Random, table: DataTable) -> Step | None:
    """Another name of a column."""
    new = _new(rng, table, ("item", "entry", "field_a", "field_b", "detail", "aspect"))
    at = rng.randrange(len(table.columns))
    if new is None or table.columns[at].name in UNITS:
        return None
    after = replaced(table, at, table.columns[at]._replace(name=new), table.column(at))
    return Step(f"Rename the column {table.columns[at].name} to {new}.", after)


def select(rng: Random, table: DataTable) -> Step | None:
    """Some columns, in another order."""
    if len(table.columns) < 4:
        return None
    chosen = rng.sample(range(len(table.columns)), len(table.columns) - rng.randint(1, 2))
    names = [table.columns[at].name for at in chosen]
    rows = [tuple([row[at] for at in chosen]) for row in table.rows]
    says = f"Keep only the columns {', '.join(names)}, in this order."
    return Step(says, DataTable(tuple([table.columns[at] for at in chosen]), tuple(rows)))


def compute(rng: Random, table: DataTable) -> Step | None:
    """A column made of two."""
    new = _new(rng, table, ("result", "value", "score"))
    if new is None or len(places := table.of("number")) < 2:
        return None
    a, b = rng.sample(places, 2)
    word, does = rng.choice((("plus", add), ("minus", sub), ("times", mul)))
    cells = [does(x, y) for x, y in zip(table.column(a), table.column(b), strict=True)]
    says = f"Add a column {new} at the end: {table.columns[a].name} {word} {table.columns[b].name}."
    return Step(says, extended(table, DataColumn(new, "number"), cells))


def units(rng: Random, table: DataTable) -> Step | None:
    """Another unit."""
    if not (places := [at for at, name in enumerate(table.names()) if name in UNITS]):
        return None
    at = rng.choice(places)
    name = table.columns[at].name
    new, what, unit, before, rule, factor = UNITS[name]
    cells = [int(cell) * factor for cell in table.column(at)]
    same = f"the same {what} in {unit} instead of {before} ({rule})"
    says = f"Replace the column {name} by {new}, in its place: {same}."
    return Step(says, replaced(table, at, DataColumn(new, "number"), cells))


def write_dates(rng: Random, table: DataTable) -> Step | None:
    """Another format of dates."""
    if not (places := table.of("date")):
        return None
    at = rng.choice(places)
    form, example = rng.choice(
        (
            ("{day:02}.{month:02}.{year}", "DD.MM.YYYY"),
            ("{month:02}/{day:02}/{year}", "MM/DD/YYYY"),
            ("{day:02}-{name}-{year}", "DD-Mon-YYYY"),
            ("{name} {day}, {year}", "Mon D, YYYY"),
        )
    )

    def written(cell: Cell) -> str:
        day = date.fromisoformat(str(cell))
        return form.format(day=day.day, month=day.month, year=day.year, name=_MONTHS[day.month - 1])

    months = f"; the months are {', '.join(_MONTHS)}" if "{name}" in form else ""
    says = (
        f"Write the dates in {table.columns[at].name} as {example} instead of YYYY-MM-DD: 2031-05-09 becomes "
        f"{written('2031-05-09')}{months}."
    )
    return Step(
        says, replaced(table, at, table.columns[at]._replace(kind="text"), map(written, table.column(at)))
    )


def move_dates(rng: Random, table: DataTable) -> Step | None:
    """Dates some days later or earlier."""
    if not (places := table.of("date")):
        return None
    at, days, sign = rng.choice(places), rng.randint(3, 90), rng.choice((-1, 1))
    cells = [
        (date.fromisoformat(str(cell)) + timedelta(sign * days)).isoformat() for cell in table.column(at)
    ]
    says = f"Make every date in {table.columns[at].name} {days} days {'later' if sign > 0 else 'earlier'}."
    return Step(says, replaced(table, at, table.columns[at], cells))


def date_part(rng: Random, table: DataTable) -> Step | None:
    """The weekday or the month of a date."""
    if not (places := table.of("date")) or "weekday" in table.names() or "month" in table.names():
        return None
    at = rng.choice(places)
    name = table.columns[at].name
    if rng.random() < 0.5:
        cells = [_DAYS[date.fromisoformat(str(cell)).weekday()] for cell in table.column(at)]
        says = f"Add a column weekday at the end: the weekday of {name}, from Monday to Sunday."
        return Step(says, extended(table, DataColumn("weekday", "word"), cells))
    cells = [str(cell)[:7] for cell in table.column(at)]
    return Step(
        f"Add a column month at the end: {name} without its day, as YYYY-MM.",
        extended(table, DataColumn("month", "word"), cells),
    )


def clean(rng: Random, table: DataTable) -> Step | None:
    """Stray spaces and capitals put right."""
    if not (places := table.of("messy")):
        return None
    at = rng.choice(places)
    capital = rng.random() < 0.5
    words = [str(cell).lower().split() for cell in table.column(at)]
    cells = [" ".join([word.capitalize() if capital else word for word in some]) for some in words]
    case = (
        "each word with a capital first letter and small letters after it"
        if capital
        else "everything in small letters"
    )
    spaces = "remove spaces at both ends, make every run of spaces one space"
    says = f"In {table.columns[at].name}, {spaces}, and write {case}."
    return Step(says, replaced(table, at, table.columns[at]._replace(kind="text"), cells))


def split_names(rng: Random, table: DataTable) -> Step | None:
    """First and last names in columns of their own."""
    if not (places := table.of("person", "person,")):
        return None
    at = rng.choice(places)
    pairs = [
        str(cell).split(", ")[::-1] if ", " in str(cell) else str(cell).split(" ")
        for cell in table.column(at)
    ]
    columns = (
        *table.columns[:at],
        DataColumn("first", "text"),
        DataColumn("last", "text"),
        *table.columns[at + 1 :],
    )
    rows = [(*row[:at], *pair, *row[at + 1 :]) for row, pair in zip(table.rows, pairs, strict=True)]
    form = "Last, First" if table.columns[at].kind == "person," else "First Last"
    says = (
        f"Replace the column {table.columns[at].name}, whose names are written {form}, by two columns in its "
        "place: first, "
        "the first name, and then last, the last name."
    )
    return Step(says, DataTable(columns, tuple(rows)))


def join(rng: Random, table: DataTable) -> Step | None:
    """A column of a second table."""
    if not (places := table.of("word")) or "manager" in table.names():
        return None
    at = rng.choice(places)
    name, values = table.columns[at].name, sorted({str(cell) for cell in table.column(at)})
    known = rng.sample(values, max(1, len(values) - 1))
    second = DataTable(
        (DataColumn(name, "word"), DataColumn("manager", "word")),
        tuple(zip(known, rng.choices(NAMES, k=len(known)), strict=True)),
    )
    managers: dict[Cell, Cell] = dict(second.rows)  # type: ignore[arg-type]
    drops = rng.random() < 0.5
    rest = f"remove the rows whose {name} is not there" if drops else "write Nobody where it has none"
    says = (
        f"The second table gives the manager of a {name}. Add it as a column manager at the end, and {rest}."
    )
    made = extended(
        table, DataColumn("manager", "word"), [managers.get(cell, "Nobody") for cell in table.column(at)]
    )
    return Step(says, kept(made, lambda row: not drops or row[at] in managers), second)


def running(rng: Random, table: DataTable) -> Step | None:
    """Running totals."""
    if not (places := table.of("number")) or "so_far" in table.names():
        return None
    at, total, cells = rng.choice(places), 0, list[Cell]()
    for cell in table.column(at):
        total += int(cell)
        cells.append(total)
    name = table.columns[at].name
    says = f"Add a column so_far at the end: the sum of {name} in this row and in all rows above it."
    return Step(says, extended(table, DataColumn("so_far", "number"), cells))


def share(rng: Random, table: DataTable) -> Step | None:
    """Percentages."""
    if not (places := table.of("number")) or "percent" in table.names():
        return None
    at = rng.choice(places)
    cells = [int(cell) for cell in table.column(at)]
    if min(cells) < 0 or not sum(cells):
        return None
    name = table.columns[at].name
    says = (
        f"Add a column percent at the end: {name} in percent of the sum of {name} over all rows, rounded "
        "down to a "
        "whole number."
    )
    return Step(
        says, extended(table, DataColumn("percent", "number"), [100 * cell // sum(cells) for cell in cells])
    )


def number_rows(rng: Random, table: DataTable) -> Step | None:
    """The rows numbered."""
    if "no" in table.names():
        return None
    rows = [(at, *row) for at, row in enumerate(table.rows, 1)]
    return Step(
        "Add a column no at the beginning that numbers the rows from 1.",
        DataTable((DataColumn("no", "id"), *table.columns), tuple(rows)),
    )


def fill(rng: Random, table: DataTable) -> Step | None:
    """Missing words."""
    if not (places := table.of("gaps")):
        return None
    at, word = rng.choice(places), rng.choice(("none", "unknown", "other"))
    cells = [cell or word for cell in table.column(at)]
    says = f"Where {table.columns[at].name} is empty, write {word}."
    return Step(says, replaced(table, at, table.columns[at]._replace(kind="word"), cells))


def recode(rng: Random, table: DataTable) -> Step | None:
    """Codes in the place of words."""
    if not (places := table.of("word")):
        return None
    at = rng.choice(places)
    values = [*dict.fromkeys(table.column(at))]
    codes = {
        value: f"{rng.choice('bdfgkmps')}{rng.randint(10, 99)}"
        for value in rng.sample(values, min(2, len(values)))
    }
    if len({*codes.values()}) < len(codes):
        return None
    told = " and ".join([f"{value} by {code}" for value, code in codes.items()])
    says = f"In {table.columns[at].name}, replace {told}."
    column = table.columns[at]._replace(kind="text")  # capital and small letters are mixed now
    return Step(says, replaced(table, at, column, [codes.get(cell, cell) for cell in table.column(at)]))


def label(rng: Random, table: DataTable) -> Step | None:
    """A text made of two columns."""
    if (
        not (words := table.of("word"))
        or not (numbers := table.of("number", "id"))
        or "label" in table.names()
    ):
        return None
    a, b, sign = rng.choice(words), rng.choice(numbers), rng.choice("-_/")
    cells = [f"{str(x).upper()}{sign}{y}" for x, y in zip(table.column(a), table.column(b), strict=True)]
    says = (
        f"Add a column label at the end: {table.columns[a].name} in capital letters, then {sign} and then "
        f"{table.columns[b].name}, without spaces between them, as in ABC{sign}12."
    )
    return Step(says, extended(table, DataColumn("label", "text"), cells))
