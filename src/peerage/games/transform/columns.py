"""Steps that change columns, and what is in them. Pure; see `transform.step`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from itertools import accumulate
from operator import add, mul, sub
from random import Random

from peerage.games.names import NAMES
from peerage.games.transform.tables import UNITS, Cell, DataColumn, DataTable, TableStep, of

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_FORMS = (
    ("{day:02}.{month:02}.{year}", "DD.MM.YYYY"),
    ("{month:02}/{day:02}/{year}", "MM/DD/YYYY"),
    ("{day:02}-{name}-{year}", "DD-Mon-YYYY"),
    ("{name} {day}, {year}", "Mon D, YYYY"),
)


def _new(rng: Random, table: DataTable, names: Sequence[str]) -> str | None:
    free = [name for name in names if name not in table.names()]
    return rng.choice(free) if free else None


def _dates(table: DataTable, at: int) -> list[date]:
    return [date.fromisoformat(str(cell)) for cell in table.column(at)]


def rename(rng: Random, table: DataTable) -> TableStep | None:
    """Another name of a column."""
    new = _new(rng, table, ("item", "entry", "field_a", "field_b", "detail", "aspect"))
    at = rng.randrange(len(table.columns))
    if new is None or table.columns[at].name in UNITS:
        return None
    says = f"Rename the column {table.columns[at].name} to {new}."
    return TableStep(
        says, table.put(at, [table.columns[at]._replace(name=new)], zip(table.column(at))), work=1
    )


def select(rng: Random, table: DataTable) -> TableStep | None:
    """Some columns, in another order."""
    left_out = [at for at, column in enumerate(table.columns) if not column.fresh]
    rng.shuffle(left_out)
    left_out = left_out[: rng.randint(1, 3)]
    if len(table.columns) < 3 + len(left_out):
        return None
    chosen = rng.sample(
        [at for at in range(len(table.columns)) if at not in left_out], len(table.columns) - len(left_out)
    )
    names = [table.columns[at].name for at in chosen]
    rows = [tuple([row[at] for at in chosen]) for row in table.rows]
    says = f"Keep only the columns {', '.join(names)}, in this order."
    after = DataTable(tuple([table.columns[at] for at in chosen]), tuple(rows))
    return TableStep(says, after, work=len(names))


def compute(rng: Random, table: DataTable) -> TableStep | None:
    """A column made of two."""
    new = _new(rng, table, ("result", "value", "score"))
    a = table.pick(rng, "number")
    others = [at for at in table.of("number") if at != a]
    if new is None or a is None or not others:
        return None
    b = rng.choice(others)
    word, does = rng.choice((("plus", add), ("minus", sub), ("times", mul)))
    says = f"Add a column {new} at the end: {table.columns[a].name} {word} {table.columns[b].name}."
    return TableStep(says, table.added(new, "number", map(does, table.column(a), table.column(b))))


def units(rng: Random, table: DataTable) -> TableStep | None:
    """Another unit."""
    if not (places := [at for at, name in enumerate(table.names()) if name in UNITS]):
        return None
    at = rng.choice(places)
    name = table.columns[at].name
    new, what, unit, before, rule, factor = UNITS[name]
    cells = [int(cell) * factor for cell in table.column(at)]
    same = f"the same {what} in {unit} instead of {before} ({rule})"
    says = f"Replace the column {name} by {new}, in its place: {same}."
    return TableStep(says, table.changed(at, cells, name=new, kind="number"))


@of("date")
def write_dates(rng: Random, table: DataTable, at: int) -> TableStep:
    """Another format of dates."""
    form, example = rng.choice(_FORMS)
    *cells, shown = [
        form.format(day=day.day, month=day.month, year=day.year, name=_MONTHS[day.month - 1])
        for day in [*_dates(table, at), date(2031, 5, 9)]
    ]
    months = f"; the months are {', '.join(_MONTHS)}" if "{name}" in form else ""
    says = (
        f"Write the dates in {table.columns[at].name} as {example} instead of YYYY-MM-DD: 2031-05-09 becomes "
        f"{shown}{months}."
    )
    return TableStep(says, table.changed(at, cells, kind="text"))


@of("date")
def move_dates(rng: Random, table: DataTable, at: int) -> TableStep:
    """Dates some days later or earlier."""
    days, sign = rng.randint(3, 90), rng.choice((-1, 1))
    cells = [(day + timedelta(sign * days)).isoformat() for day in _dates(table, at)]
    says = f"Make every date in {table.columns[at].name} {days} days {'later' if sign > 0 else 'earlier'}."
    return TableStep(says, table.changed(at, cells))


@of("date", new=("weekday", "month"))
def date_part(rng: Random, table: DataTable, at: int) -> TableStep:
    """The weekday or the month of a date."""
    name = table.columns[at].name
    if rng.random() < 0.5:
        says = f"Add a column weekday at the end: the weekday of {name}, from Monday to Sunday."
        return TableStep(
            says, table.added("weekday", "word", [_DAYS[day.weekday()] for day in _dates(table, at)])
        )
    says = f"Add a column month at the end: {name} without its day, as YYYY-MM."
    return TableStep(says, table.added("month", "word", [str(cell)[:7] for cell in table.column(at)]))


@of("messy")
def clean(rng: Random, table: DataTable, at: int) -> TableStep:
    """Stray spaces and capitals put right."""
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
    return TableStep(says, table.changed(at, cells, kind="text"))


@of("person", "person,")
def split_names(rng: Random, table: DataTable, at: int) -> TableStep:
    """First and last names in columns of their own."""
    names = [str(cell) for cell in table.column(at)]
    pairs = [name.split(", ")[::-1] if ", " in name else name.split(" ") for name in names]
    form = "Last, First" if table.columns[at].kind == "person," else "First Last"
    says = (
        f"Replace the column {table.columns[at].name}, whose names are written {form}, by two columns in its "
        "place: first, the first name, and then last, the last name."
    )
    return TableStep(says, table.put(at, [DataColumn("first", "text"), DataColumn("last", "text")], pairs))


@of("word", new=("manager",))
def join(rng: Random, table: DataTable, at: int) -> TableStep:
    """A column of a second table."""
    name, values = table.columns[at].name, sorted({str(cell) for cell in table.column(at)})
    known = rng.sample(values, max(1, len(values) - 1))
    managers: dict[Cell, Cell] = dict(zip(known, rng.choices(NAMES, k=len(known)), strict=True))
    second = DataTable((DataColumn(name, "word"), DataColumn("manager", "word")), tuple(managers.items()))
    drops = rng.random() < 0.5
    rest = f"remove the rows whose {name} is not there" if drops else "write Nobody where it has none"
    says = (
        f"The second table gives the manager of a {name}. Add it as a column manager at the end, and {rest}."
    )
    after = table.added("manager", "word", [managers.get(cell, "Nobody") for cell in table.column(at)])
    kept = after.kept(lambda row: not drops or row[at] in managers)
    return TableStep(says, kept, second, work=len(after.rows) * len(managers))


@of("number", new=("so_far",))
def running(rng: Random, table: DataTable, at: int) -> TableStep:
    """Running totals."""
    name = table.columns[at].name
    says = f"Add a column so_far at the end: the sum of {name} in this row and in all rows above it."
    return TableStep(says, table.added("so_far", "number", accumulate(map(int, table.column(at)))))


@of("number", new=("percent",))
def share(rng: Random, table: DataTable, at: int) -> TableStep | None:
    """Percentages."""
    cells, name = [int(cell) for cell in table.column(at)], table.columns[at].name
    if min(cells) < 0 or not sum(cells):
        return None
    says = (
        f"Add a column percent at the end: {name} in percent of the sum of {name} over all rows, rounded "
        "down to a whole number."
    )
    return TableStep(says, table.added("percent", "number", [100 * cell // sum(cells) for cell in cells]))


@of("gaps")
def fill(rng: Random, table: DataTable, at: int) -> TableStep:
    """Missing words."""
    word = rng.choice(("none", "unknown", "other"))
    says = f"Where {table.columns[at].name} is empty, write {word}."
    return TableStep(says, table.changed(at, [cell or word for cell in table.column(at)], kind="word"))


@of("word")
def recode(rng: Random, table: DataTable, at: int) -> TableStep | None:
    """Codes in the place of words."""
    values = [*dict.fromkeys(table.column(at))]
    codes = {
        value: f"{rng.choice('bdfgkmps')}{rng.randint(10, 99)}"
        for value in rng.sample(values, min(2, len(values)))
    }
    if len({*codes.values()}) < len(codes):
        return None
    exchanges = " and ".join([f"{value} by {code}" for value, code in codes.items()])
    cells = [codes.get(cell, cell) for cell in table.column(at)]
    # capital and small letters are mixed now: no longer a word
    return TableStep(
        f"In {table.columns[at].name}, replace {exchanges}.", table.changed(at, cells, kind="text")
    )
