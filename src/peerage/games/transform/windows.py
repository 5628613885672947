"""Steps that look at other rows: ranks, sums so far, windows, stocks, tables with several rows. Pure; see
`transform.tables.of`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import TypeAlias

from peerage.game.texts import toml
from peerage.games.transform.tables import Cell, DataColumn, DataTable, Family, TableStep, of

_WORDS: Mapping[str, str] = toml(__package__, "windows")
_DEPOTS = ("Aker", "Brno", "Cork", "Dover", "Essen", "Faro", "Graz", "Haifa")
_OF: dict[str, Callable[[Iterable[int]], int]] = {"sum": sum, "smallest": min, "greatest": max}
_Looked: TypeAlias = Callable[[Sequence[int], Sequence[Cell]], Iterable[int]]


def _numbers(table: DataTable, at: int) -> list[int]:
    return [int(cell) for cell in table.column(at)]


def _looking(name: str, work: Callable[[DataTable], int], cells: _Looked) -> Family:
    """Return the family that adds column `name`, made of a number and, where its words name one, a word."""

    def step(rng: Random, table: DataTable, at: int) -> TableStep | None:
        by = table.pick(rng, "word") if "{word}" in _WORDS[name] else at
        if by is None:
            return None
        says = _WORDS[name].format(number=table.columns[at].name, word=table.columns[by].name)
        made = cells(_numbers(table, at), table.column(by))
        return TableStep(says, table.added(name, "number", made), work=work(table))

    step.__name__ = name
    return of("number", new=(name,))(step)


def _square(table: DataTable) -> int:
    return len(table.rows) ** 2


def _pairs(table: DataTable) -> int:
    return table.pairs


def _subtotals(cells: Sequence[int], keys: Sequence[Cell]) -> Iterable[int]:
    sums = dict.fromkeys(keys, 0)
    for cell, key in zip(cells, keys, strict=True):
        sums[key] += cell
        yield sums[key]


def _changes(cells: Sequence[int], keys: Sequence[Cell]) -> Iterable[int]:
    last: dict[Cell, int] = {}
    for cell, key in zip(cells, keys, strict=True):
        yield cell - last.get(key, cell)
        last[key] = cell


def _behind(cells: Sequence[int], keys: Sequence[Cell]) -> Iterable[int]:
    tops = {key: cell for cell, key in sorted(zip(cells, keys, strict=True))}  # the greatest comes last
    return [tops[key] - cell for cell, key in zip(cells, keys, strict=True)]


rank = _looking("rank", _square, lambda cells, _: [1 + sum([o > cell for o in cells]) for cell in cells])
subtotal = _looking("subtotal", _pairs, _subtotals)
change = _looking("change", _pairs, _changes)
behind = _looking("behind", _square, _behind)
earlier = _looking(
    "earlier", _pairs, lambda cells, _: [sum([o < cell for o in cells[:at]]) for at, cell in enumerate(cells)]
)


@of("number", new=("recent",))
def recent(rng: Random, table: DataTable, at: int) -> TableStep:
    """Windows of rows."""
    cells, above = _numbers(table, at), rng.randint(2, 4)
    word, does = rng.choice([*_OF.items()])
    says = _WORDS["recent"].format(number=table.columns[at].name, how=word, above=above)
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
    says = _WORDS["stock"].format(number=table.columns[at].name, start=start)
    return TableStep(says, table.added("served", "word", served))


@of("number", new=("band",))
def band(rng: Random, table: DataTable, at: int) -> TableStep | None:
    """Classes of numbers."""
    if len(values := sorted({*_numbers(table, at)})) < 3:
        return None
    low, high = sorted(rng.sample(values[1:], 2))
    says = _WORDS["band"].format(number=table.columns[at].name, low=low, high=high)
    bands = ["low" if cell < low else "high" if cell >= high else "mid" for cell in _numbers(table, at)]
    return TableStep(says, table.added("band", "word", bands))


@of("word", new=("picked",))
def either(rng: Random, table: DataTable, at: int) -> TableStep | None:
    """Of two numbers the one that a word chooses."""
    if len(places := table.of("number")) < 2:
        return None
    (a, b), value = rng.sample(places, 2), rng.choice(table.column(at))
    names = table.names()
    says = _WORDS["either"].format(a=names[a], word=names[at], value=value, b=names[b])
    picked = [row[a] if row[at] == value else row[b] for row in table.rows]
    return TableStep(says, table.added("picked", "number", picked))


@of("number")
def shift(rng: Random, table: DataTable, at: int) -> TableStep:
    """Numbers a row further."""
    first, *rest = table.column(at)
    says = _WORDS["shift"].format(number=table.columns[at].name)
    return TableStep(says, table.changed(at, [*rest, first]))


@of("number")
def remainder(rng: Random, table: DataTable, at: int) -> TableStep | None:
    """Remainders."""
    cells, by = _numbers(table, at), rng.randint(7, 60)
    if min(cells) < 0 or max(cells) <= by:
        return None
    says = _WORDS["remainder"].format(number=table.columns[at].name, by=by)
    return TableStep(says, table.changed(at, [cell % by for cell in cells]))


def thin(rng: Random, table: DataTable) -> TableStep:
    """Rows by their place."""
    every = rng.randint(3, 6)
    kept = [row for place, row in enumerate(table.rows, 1) if place % every]
    return TableStep(_WORDS["thin"].format(every=every), table._replace(rows=tuple(kept)))


@of("word")
def rates(rng: Random, table: DataTable, at: int) -> TableStep | None:
    """Numbers times those of a second table."""
    if (number := table.pick(rng, "number")) is None:
        return None
    rate = {key: rng.randint(2, 9) for key in sorted({str(cell) for cell in table.column(at)})}
    by, name = table.columns[at].name, table.columns[number].name
    listed: list[tuple[Cell, ...]] = [*rate.items()]
    second = DataTable(
        (DataColumn(by, "word"), DataColumn("rate", "number")), tuple(rng.sample(listed, len(listed)))
    )
    cells = [int(row[number]) * rate[str(row[at])] for row in table.rows]
    says = _WORDS["rates"].format(word=by, number=name)
    return TableStep(says, table.changed(number, cells), second, work=len(cells) * len(rate))


@of("word", new=("depot",))
def depots(rng: Random, table: DataTable, at: int) -> TableStep:
    """A row for each row of a second table."""
    keys, by = sorted({str(cell) for cell in table.column(at)}), table.columns[at].name
    listed = [(key, depot) for key in keys for depot in rng.sample(_DEPOTS, rng.choice((0, 1, 1, 2)))]
    pairs = rng.sample(listed, len(listed))
    second = DataTable((DataColumn(by, "word"), DataColumn("depot", "word")), tuple(pairs))
    made = [(*row, depot) for row in table.rows for key, depot in pairs if key == row[at]]
    after = DataTable((*table.columns, DataColumn("depot", "word", True)), tuple(made))
    return TableStep(_WORDS["depots"].format(word=by), after, second, work=len(table.rows) * len(pairs))
