"""Steps that change which rows there are, and in which order. Pure; see `transform.step`."""

from __future__ import annotations

from collections.abc import Callable
from operator import ge, gt, le, lt
from random import Random
from typing import Any

from peerage.games.transform.tables import Cell, DataColumn, DataTable, TableStep, of
from peerage.values import grouped

_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "at least": ge,
    "at most": le,
    "greater than": gt,
    "less than": lt,
}


@of("number")
def keep_numbers(rng: Random, table: DataTable, at: int) -> TableStep:
    """Rows by a number."""
    bound: Any = rng.choice(table.column(at))
    words, holds = rng.choice([*_COMPARED.items()])
    says = f"Keep only the rows whose {table.columns[at].name} is {words} {bound}."
    return TableStep(says, table.kept(lambda row: holds(row[at], bound)))


@of("word")
def keep_words(rng: Random, table: DataTable, at: int) -> TableStep:
    """Rows by a word."""
    values = [*dict.fromkeys(table.column(at))]
    name, chosen = table.columns[at].name, rng.sample(values, min(2, len(values)))
    if rng.random() < 0.5:
        says = f"Keep only the rows whose {name} is {' or '.join(map(str, chosen))}."
        return TableStep(says, table.kept(lambda row: row[at] in chosen))
    says = f"Remove the rows whose {name} is {chosen[0]}."
    return TableStep(says, table.kept(lambda row: row[at] != chosen[0]))


@of("number", "word", "date")
def sort(rng: Random, table: DataTable, at: int) -> TableStep:
    """Another order of rows."""
    orders = {
        "number": ("from the smallest to the greatest", "from the greatest to the smallest"),
        "word": ("in alphabetical order", "in reverse alphabetical order"),
        "date": ("from the earliest to the latest", "from the latest to the earliest"),
    }
    column, turned = table.columns[at], rng.random() < 0.5
    says = (
        f"Sort the rows by {column.name}, {orders[column.kind][turned]}; rows that are equal in it keep "
        "their order."
    )
    rows = sorted(table.rows, key=lambda row: row[at], reverse=turned)
    return TableStep(says, table._replace(rows=tuple(rows)), work=table.pairs)


def dedupe(rng: Random, table: DataTable) -> TableStep | None:
    """The first of equal rows."""
    if not (places := table.of("word")):
        return None
    chosen = sorted(rng.sample(places, rng.randint(1, min(2, len(places)))))
    names = " and the same ".join([table.columns[at].name for at in chosen])
    seen: dict[tuple[Cell, ...], tuple[Cell, ...]] = {}
    for row in table.rows:
        seen.setdefault(tuple([row[at] for at in chosen]), row)
    says = f"Of all rows with the same {names} keep only the first."
    return TableStep(says, table._replace(rows=tuple(seen.values())), work=table.pairs)


@of("list")
def explode(rng: Random, table: DataTable, at: int) -> TableStep:
    """A row for each word of a list."""
    pairs = [(row, word) for row in table.rows for word in str(row[at]).split(";")]
    name = table.columns[at].name
    says = (
        f"{name} holds words with semicolons between them. Replace each row by one row for each of these "
        f"words, in their order, with that word alone in {name} and everything else as it is."
    )
    repeated = table._replace(rows=tuple([row for row, _ in pairs]))
    return TableStep(says, repeated.changed(at, [word for _, word in pairs], kind="word"))


def aggregate(rng: Random, table: DataTable) -> TableStep | None:
    """A row for each group."""
    if not (words := table.of("word")) or not (numbers := table.of("number")):
        return None
    by, summed = rng.sample(words, rng.randint(1, min(3, len(words)))), rng.choice(numbers)
    word, does = rng.choice((("sum", sum), ("smallest", min), ("greatest", max)))
    groups = grouped((tuple([row[at] for at in by]), int(row[summed])) for row in table.rows)
    names, number = [table.columns[at].name for at in by], table.columns[summed].name
    made = f"{word}_{number}"
    says = (
        f"Replace the table by one with a row for each different {' and '.join(names)}, in the order in "
        f"which they first appear, and with the columns {', '.join(names)}, count (how many rows had it) and "
        f"{made} (the {word} of their {number})."
    )
    columns = [DataColumn("count", "number", True), DataColumn(made, "number", True)]
    rows = [(*key, len(cells), does(cells)) for key, cells in groups.items()]
    after = DataTable((*[table.columns[at] for at in by], *columns), tuple(rows))
    return TableStep(says, after, work=len(groups) * len(table.rows))


def pivot(rng: Random, table: DataTable) -> TableStep | None:
    """Groups by rows and columns."""
    if len(words := table.of("word")) < 2 or not (numbers := table.of("number")):
        return None
    (down, across), summed = rng.sample(words, 2), rng.choice(numbers)
    tops, sums = sorted({str(cell) for cell in table.column(across)}), dict[Cell, dict[str, int]]()
    for row in table.rows:
        line = sums.setdefault(row[down], dict.fromkeys(tops, 0))
        line[str(row[across])] += int(row[summed])
    a, b = table.columns[down].name, table.columns[across].name
    says = (
        f"Replace the table by one with a row for each different {a}, in the order in which they first "
        f"appear. Its columns are {a} and then every different {b}, in alphabetical order; in each cell is "
        f"the sum of {table.columns[summed].name} over the rows with that {a} and that {b}, and 0 where "
        "there are none."
    )
    columns = (table.columns[down], *[DataColumn(top, "number", True) for top in tops])
    after = DataTable(columns, tuple([(key, *line.values()) for key, line in sums.items()]))
    return TableStep(says, after, work=len(sums) * len(table.rows))
