"""Rows as cells of a terminal: the columns that fit its width, and names as short as that asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from msgspec.structs import replace

from peerage.game.blocks import Bar, Grid
from peerage.game.media import worded
from peerage.render import rows as laid
from peerage.render.blocks import Column, Rows
from peerage.render.names import AS_THEY_ARE, Names
from peerage.values.figures import PADS, shortened
from peerage.values.texts import visible

if TYPE_CHECKING:
    from rich.console import Console

_GAP = 2  # characters between two columns
_FOLDS = 40  # from so many characters on a text rather takes several lines than be left out
_NAMES = ("player", "model", "judge", "author")  # shortened where a terminal is too narrow, never broken
_NAME = 22  # characters of a name that are worth a column that may be spared
_NARROW = 24  # characters of a column of numbers, marks or bars
_LEAST = 8  # characters of a name that stay in any case


class Cells(NamedTuple):
    """Some columns of a table, and what they say row by row."""

    columns: list[Column]
    rows: list[list[str]]


def cells(block: Rows, marks: Sequence[str] = (), names: Names = AS_THEY_ARE) -> Cells:
    """Return what rows say, with each row's mark behind its first text."""
    columns = [replace(column, title=names.in_text(column.title)) for column in laid.shown(block)]
    name = next((column for column in columns if not column.number), None)
    return Cells(
        columns,
        [
            [
                (AS_THEY_ARE if column.quoted or column.key == "model" else names).in_text(column.text(row))
                + mark * (column is name)
                for column in columns
            ]
            for row, mark in zip(block.rows, marks or [""] * len(block.rows), strict=True)
        ],
    )


def parts(block: Rows, console: Console, *, split: bool, names: Names) -> tuple[list[Cells], list[str]]:
    """Return the tables in which rows are shown, and the notes to stand under them."""
    remarks = laid.remarks(block)
    width, whole = console.width, cells(block, remarks.marks, names)
    columns = whole.columns
    fitting = fit(whole, width)
    parts, rest = [fitting], [column for column in columns if column not in fitting.columns]
    while split and rest:
        least = min(column.spare for column in rest) - 1
        again = [columns[0], *(replace(column, spare=column.spare - least) for column in rest)]
        most = len(fit(_only(whole, [columns[0], *rest])._replace(columns=again), width).columns)
        now = max(1, most - 1)
        parts.append(_only(whole, [columns[0], *rest[:now]]))
        rest = rest[now:]
    notes = [*laid.hints(columns), *block.notes, *remarks.shared]
    # A title with gaps is a scale, no name.
    if left_out := [column.title for column in rest if "  " not in column.title]:
        notes = [note for note in notes if note.partition(":")[0] not in left_out]
        where = "in a wider terminal" if console.is_terminal else "with `--format json` or `csv`"
        notes.append(f"{where} also: {', '.join(dict.fromkeys(left_out))}")
    own = [f"{mark} {note}" for note, mark in remarks.own.items()]
    return [named(part, width) for part in parts], [*laid.sentences([*notes], block.rows), *own]


def _only(cells: Cells, columns: Sequence[Column]) -> Cells:
    places = [cells.columns.index(column) for column in columns]
    return Cells([*columns], [[row[place] for place in places] for row in cells.rows])


def fit(cells: Cells, width: int) -> Cells:
    """Return the columns that fit into `width` characters; those that cannot be spared stay in any case.
    Those that are spared alike go together: no lower bound stands there without its upper one."""
    from rich.cells import cell_len

    def wide(place: int) -> int:
        column = cells.columns[place]
        longest = _longest(cells, place)
        most = _NAME if column.key in _NAMES else longest if column.number else _FOLDS
        return _GAP + max(cell_len(column.title), min(longest, most))

    kept = {place: wide(place) for place in range(len(cells.columns))}
    for spare in sorted({column.spare for column in cells.columns}, reverse=True):
        if spare and sum(kept.values()) > width:
            kept = {place: taken for place, taken in kept.items() if cells.columns[place].spare < spare}
    return Cells(
        [cells.columns[place] for place in kept], [[row[place] for place in kept] for row in cells.rows]
    )


def _longest(cells: Cells, place: int) -> int:
    from rich.cells import cell_len

    return max([cell_len(row[place]) for row in cells.rows], default=0)


def named(cells: Cells, width: int) -> Cells:
    """Return the cells, names shortened to what `width` characters leave them; see `figures.shortened`."""
    names = [place for place, column in enumerate(cells.columns) if column.key in _NAMES]
    taken = sum(
        _GAP + max(len(column.title), min(_longest(cells, place), _FOLDS))
        for place, column in enumerate(cells.columns)
        if place not in names
    )
    for left, place in zip(range(len(names), 0, -1), names, strict=True):
        short = shortened({row[place] for row in cells.rows}, max(_LEAST, (width - taken) // left - _GAP))
        for row in cells.rows:
            row[place] = short.get(row[place], row[place])
        taken += _GAP + max(len(cells.columns[place].title), _longest(cells, place))
    return cells


def drawn(cells: Cells, title: str = "") -> Any:
    """Return the table as rich draws it."""
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for column in cells.columns:
        side: Literal["left", "right"] = "right" if column.number else "left"
        grid.add_column(Text(visible(column.title)), justify=side, no_wrap=column.number, overflow="fold")
    # Rich would take the spaces away that keep decimal points one above the other.
    wide = [
        max(len(column.title), _longest(cells, place)) if column.number else 0
        for place, column in enumerate(cells.columns)
    ]
    for row in cells.rows:
        grid.add_row(
            *[
                Text(visible(cell).rjust(width), justify="left" if cell.endswith(PADS) else None)
                for cell, width in zip(row, wide, strict=True)
            ]
        )
    # A title of rich's own is broken where its table ends.
    return Group(Text(visible(worded(title)), style="italic"), grid) if title else grid


def of_grid(block: Grid, who: Callable[[str], str], width: int) -> Iterator[Cells]:
    """Yield a game's table in as many parts as it takes in `width`, each with the first column; bars are
    drawn where one column alone has them."""
    from rich.cells import cell_len

    table = cells(laid.of_table(block, who))
    if not table.columns:
        return
    bars = [place for place, cell in enumerate(block.rows[0] if block.rows else ()) if isinstance(cell, Bar)]
    if len(bars) == 1:
        for line, row in zip(table.rows, block.rows, strict=True):
            if isinstance(bar := row[bars[0]], Bar):
                line[bars[0]] = f"{bar_of(bar, 12)} {line[bars[0]]}"
    wide = [
        _GAP + max(cell_len(column.title), _longest(table, place))
        for place, column in enumerate(table.columns)
    ]
    first = min(wide[0], _NARROW)
    if first + sum(wide[1:]) <= width or max(wide[1:], default=0) > _NARROW:  # what has words folds them
        yield named(table, width)
        return
    rest = [*range(1, len(wide))]
    while rest:
        fits = [
            first + sum(wide[place] for place in rest[:count]) <= width for count in range(1, len(rest) + 1)
        ]
        now = max(1, sum(fits))
        part = _only(table, [table.columns[place] for place in (0, *rest[:now])])
        yield named(part, first + sum(wide[place] for place in rest[:now]))
        rest = rest[now:]


def bar_of(bar: Bar, length: int) -> str:
    """Return a bar from 0 to its value in so many characters, none where it has no length."""
    if not laid.drawable(bar):
        return "·" * length
    begin, end, _ = map(round, laid.extent(bar, length))
    return f"{'·' * begin}{'█' * (end - begin)}{'·' * (length - end)}"
