"""Steps that look at other rows: ranks, sums so far, windows, stocks, tables with several rows. Pure; see
`transform.tables.of`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random

from peerage.games.transform.tables import Cell, DataColumn, DataTable, TableStep, of

_DEPOTS = ("Aker", "Brno", "Cork", "Dover", "Essen", "Faro", "Graz", "Haifa")
_OF: dict[str, Callable[[Iterable[int]], int]] = {"sum": sum, "smallest": min, "greatest": max}


def _numbers(table: DataTable, at: int) -> list[int]:
    return [int(cell) for cell in table.column(at)]


@of("number", new=("rank",))
def rank(rng: Random, table: DataTable, at: int) -> TableStep:
    """Ranks by a number."""
    cells = _numbers(table, at)
    name = table.columns[at].name
    says = (
        f"Add a column rank at the end: 1 more than the number of rows whose {name} is greater than this "
        "row's."
    )
    ranks = [1 + sum([other > cell for other in cells]) for cell in cells]
    return TableStep(says, table.added("rank", "number", ranks), work=len(cells) ** 2)


@of("number", new=("subtotal",))
def subtotal(rng: Random, table: DataTable, at: int) -> TableStep | None:
    """Running totals of groups."""
    if (by := table.pick(rng, "word")) is None:
        return None
    cells, keys = _numbers(table, at), table.column(by)
    says = (
        f"Add a column subtotal at the end: the sum of {table.columns[at].name} in this row and in all rows "
        f"above it with the same {table.columns[by].name}."
    )
    sums = [
        sum([cell for cell, other in zip(cells[: row + 1], keys, strict=False) if other == key])
        for row, key in enumerate(keys)
    ]
    return TableStep(says, table.added("subtotal", "number", sums), work=table.pairs)


@of("number", new=("change",))
def change(rng: Random, table: DataTable, at: int) -> TableStep | None:
    """Changes since the row before in a group."""
    if (by := table.pick(rng, "word")) is None:
        return None
    name = table.columns[at].name
    says = (
        f"Add a column change at the end: {name} in this row minus {name} in the nearest row above it with "
        f"the same {table.columns[by].name}, and 0 where there is none."
    )
    last: dict[Cell, int] = {}
    changes: list[Cell] = []
    for cell, key in zip(_numbers(table, at), table.column(by), strict=True):
        changes.append(cell - last.get(key, cell))
        last[key] = cell
    return TableStep(says, table.added("change", "number", changes), work=table.pairs)


@of("number", new=("behind",))
def behind(rng: Random, table: DataTable, at: int) -> TableStep | None:
    """Distances from the best of a group."""
    if (by := table.pick(rng, "word")) is None:
        return None
    cells, keys, name = _numbers(table, at), table.column(by), table.columns[at].name
    says = (
        f"Add a column behind at the end: the greatest {name} of all rows with the same "
        f"{table.columns[by].name} as this row, minus this row's."
    )
    tops = {key: max([c for c, k in zip(cells, keys, strict=True) if k == key]) for key in keys}
    made = [tops[key] - cell for cell, key in zip(cells, keys, strict=True)]
    return TableStep(says, table.added("behind", "number", made), work=len(cells) ** 2)


@of("number", new=("earlier",))
def earlier(rng: Random, table: DataTable, at: int) -> TableStep:
    """Counts of smaller numbers above."""
    cells = _numbers(table, at)
    says = (
        "Add a column earlier at the end: the number of rows above this one whose "
        f"{table.columns[at].name} is smaller than this row's."
    )
    counts = [sum([other < cell for other in cells[:row]]) for row, cell in enumerate(cells)]
    return TableStep(says, table.added("earlier", "number", counts), work=table.pairs)


@of("number", new=("recent",))
def recent(rng: Random, table: DataTable, at: int) -> TableStep:
    """Windows of rows."""
    cells, above = _numbers(table, at), rng.randint(2, 4)
    word, does = rng.choice([*_OF.items()])
    says = (
        f"Add a column recent at the end: the {word} of {table.columns[at].name} in this row and in the "
        f"{above} rows above it, or as many as there are."
    )
    made = [does(cells[max(0, row - above) : row + 1]) for row in range(len(cells))]
    return TableStep(says, table.added("recent", "number", made), work=(above + 1) * len(cells))


@of("number", new=("served",))
def stock(rng: Random, table: DataTable, at: int) -> TableStep | None:
    """A stock that rows take from, one after another."""
    cells = _numbers(table, at)
    if min(cells) < 0 or max(cells) == 0:
        return None
    left = start = max(sum(cells) * rng.randint(3, 6) // 10, 1)
    served: list[Cell] = []
    for cell in cells:
        served.append("yes" if cell <= left else "no")
        left -= cell if cell <= left else 0
    says = (
        f"Add a column served at the end. A stock holds {start}; go through the rows from the first to the "
        f"last: where {table.columns[at].name} is at most what the stock holds, write yes and take it from "
        "the stock, else write no and take nothing."
    )
    return TableStep(says, table.added("served", "word", served))


@of("number", new=("band",))
def band(rng: Random, table: DataTable, at: int) -> TableStep | None:
    """Classes of numbers."""
    if len(values := sorted({*_numbers(table, at)})) < 3:
        return None
    low, high = sorted(rng.sample(values[1:], 2))
    name = table.columns[at].name
    says = (
        f"Add a column band at the end: low where {name} is less than {low}, high where it is at least "
        f"{high}, else mid."
    )
    bands = ["low" if cell < low else "high" if cell >= high else "mid" for cell in _numbers(table, at)]
    return TableStep(says, table.added("band", "word", bands))


@of("word", new=("picked",))
def either(rng: Random, table: DataTable, at: int) -> TableStep | None:
    """Of two numbers the one that a word chooses."""
    if len(places := table.of("number")) < 2:
        return None
    (a, b), value = rng.sample(places, 2), rng.choice(table.column(at))
    names = table.names()
    says = f"Add a column picked at the end: {names[a]} where {names[at]} is {value}, else {names[b]}."
    picked = [row[a] if row[at] == value else row[b] for row in table.rows]
    return TableStep(says, table.added("picked", "number", picked))


@of("number")
def shift(rng: Random, table: DataTable, at: int) -> TableStep:
    """Numbers a row further."""
    first, *rest = table.column(at)
    name = table.columns[at].name
    says = (
        f"Replace {name} in each row by the {name} of the row below it, and in the last row by that of the "
        "first."
    )
    return TableStep(says, table.changed(at, [*rest, first]))


@of("number")
def remainder(rng: Random, table: DataTable, at: int) -> TableStep | None:
    """Remainders."""
    cells, by = _numbers(table, at), rng.randint(7, 60)
    if min(cells) < 0 or max(cells) <= by:
        return None
    says = f"Replace {table.columns[at].name} in each row by its remainder when it is divided by {by}."
    return TableStep(says, table.changed(at, [cell % by for cell in cells]))


def thin(rng: Random, table: DataTable) -> TableStep:
    """Rows by their place."""
    every = rng.randint(3, 6)
    says = f"Count the rows from 1 and remove those whose count can be divided by {every}."
    kept = [row for place, row in enumerate(table.rows, 1) if place % every]
    return TableStep(says, table._replace(rows=tuple(kept)))


@of("word")
def rates(rng: Random, table: DataTable, at: int) -> TableStep | None:
    """Numbers times those of a second table."""
    if (number := table.pick(rng, "number")) is None:
        return None
    rate: dict[Cell, Cell] = {
        key: rng.randint(2, 9) for key in sorted({str(cell) for cell in table.column(at)})
    }
    by, name = table.columns[at].name, table.columns[number].name
    second = DataTable((DataColumn(by, "word"), DataColumn("rate", "number")), _shuffled(rng, rate.items()))
    says = f"The second table gives the rate of a {by}. Multiply {name} in each row by the rate of its {by}."
    cells = [int(row[number]) * int(rate[row[at]]) for row in table.rows]
    return TableStep(says, table.changed(number, cells), second, work=len(cells) * len(rate))


@of("word", new=("depot",))
def depots(rng: Random, table: DataTable, at: int) -> TableStep:
    """A row for each row of a second table."""
    keys, by = sorted({str(cell) for cell in table.column(at)}), table.columns[at].name
    pairs = _shuffled(
        rng, [(key, depot) for key in keys for depot in rng.sample(_DEPOTS, rng.choice((0, 1, 1, 2)))]
    )
    second = DataTable((DataColumn(by, "word"), DataColumn("depot", "word")), pairs)
    says = (
        f"The second table gives the depots of a {by}. Replace each row by one row for each depot of its "
        f"{by}, in the order of that table, with the depot in a new column depot at the end; remove rows "
        f"whose {by} has none."
    )
    made = [(*row, depot) for row in table.rows for key, depot in pairs if key == row[at]]
    columns = (*table.columns, DataColumn("depot", "word", True))
    return TableStep(says, DataTable(columns, tuple(made)), second, work=len(table.rows) * len(pairs))


def _shuffled(rng: Random, rows: Iterable[tuple[Cell, Cell]]) -> tuple[tuple[Cell, Cell], ...]:
    listed = [*rows]
    return tuple(rng.sample(listed, len(listed)))
