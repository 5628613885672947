"""Views in a terminal: tables as wide as it is, nothing that it would obey.

In a pipe a table is as wide as it needs to be. What opens on demand, leads elsewhere or is drawn is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TextIO

from msgspec.structs import replace

from peerage.blocks import (
    Answer,
    Beside,
    Column,
    Facts,
    Heading,
    Notes,
    Quoted,
    Rows,
    Section,
    Sentence,
    Task,
    Tone,
    ViewBlock,
)
from peerage.protocol import visible
from peerage.render import rows as laid

if TYPE_CHECKING:
    from rich.console import Console

STYLES: dict[Tone, str] = {"": "", "good": "green", "bad": "red", "quiet": "dim"}
MARGIN = "  | "
"""Stands before each line that a player wrote: what stands behind it is nobody else's."""
_PIPE = 400  # characters of a line in a pipe
_GAP = 2  # characters between two columns
_FOLDS = 40  # from so many characters on a text rather takes several lines than be left out
_NAMES = ("player", "model", "judge", "author")  # shortened where a terminal is too narrow, never broken
_NAME = 16  # characters of a name that are worth a column that may be spared
_LEAST = 8  # characters of a name that stay in any case


def write(blocks: Iterable[ViewBlock], to: TextIO, *, split: bool = False) -> None:
    """Write blocks to `to`. With `split` the columns for which a terminal is too narrow follow in further
    tables, in place of being left out."""
    to.write(text(blocks, to, split=split))


def text(blocks: Iterable[ViewBlock], to: TextIO, *, split: bool = False) -> str:
    """Return blocks as `write` writes them to `to`."""
    from rich.console import Console

    width = None if to.isatty() else _PIPE
    # Rich would show by itself in a notebook what is written to nowhere.
    console = Console(file=to, width=width, highlight=False, force_jupyter=False)
    with console.capture() as captured:
        for place, block in enumerate(blocks):
            _write(console, block, first=not place, split=split)
    lines = "\n".join(line.rstrip() for line in captured.get().splitlines())
    return re.sub("\n{3,}", "\n\n", lines).rstrip("\n") + "\n"


def _write(console: Console, block: ViewBlock, *, first: bool, split: bool) -> None:
    from rich.padding import Padding
    from rich.text import Text

    def line(words: str, style: str = "") -> None:
        console.print(Text(visible(words), style=style), soft_wrap=not console.is_terminal)

    def note(words: str) -> None:
        padded = Padding(Text(visible(words), style="dim"), (0, 1))
        console.print(padded, soft_wrap=not console.is_terminal)

    match block:
        case Heading():
            if not first:
                console.print()
            line(block.text, "bold")
        case Sentence():
            line(block.text, STYLES[block.tone])
        case Task() | Quoted():
            if isinstance(block, Quoted):
                about = ", ".join(filter(None, (block.verdict, block.note)))
                line(f"  {block.label}{f' ({about})' if about else ''}", STYLES[block.tone])
            for words in _quoted(block.text or "(nothing)", block.more, console):
                line(words)
            if block.more:
                line(f"  {block.more:,} more characters", "dim")
        case Section():
            for one in block.blocks:
                _write(console, one, first=False, split=split)
        case Beside():
            for group in block.groups:
                for one in group:
                    _write(console, one, first=False, split=split)
        case Answer():
            for place, words in enumerate(block.lines):
                line(words, "" if place else "bold")
            console.print()
        case Facts():
            for fact in block.facts:
                about = f" ({fact.about})" if fact.about else ""
                line(f"{fact.title}: {fact.value}{about}")
        case Notes():
            for words in laid.sentences(block.lines, [{"player": name} for name in block.names]):
                note(words)
        case Rows():
            parts, notes = _parts(block, console.width, split=split)
            for place, part in enumerate(parts):
                console.print(drawn(part, "" if place else block.title))
            for words in notes:
                note(words)
        case _:
            pass


def _quoted(words: str, more: int, console: Console) -> Iterator[str]:
    """Yield a text with a margin before each line, also before those that a terminal would begin; `…` ends
    one of which there is more."""
    for whole in (visible(words) + " …" * bool(more)).split("\n"):
        parts = fitting(whole, console.width) if console.is_terminal else [whole]
        yield from (f"{MARGIN}{part}" for part in parts)


def fitting(line: str, width: int) -> list[str]:
    """Return a line in parts that fit beside the margin, whatever its characters."""
    from rich.cells import chop_cells

    room = max(20, width - len(MARGIN))
    return [piece for part in wrap(line, room) or [""] for piece in chop_cells(part, room) or [""]]


class Cells(NamedTuple):
    """Some columns of a table, and what they say row by row."""

    columns: list[Column]
    rows: list[list[str]]


def cells(block: Rows, marks: Sequence[str] = ()) -> Cells:
    """Return what rows say, with each row's mark behind its first text."""
    columns = laid.shown(block)
    name = next((column for column in columns if not column.number), None)
    return Cells(
        columns,
        [
            [column.text(row) + (mark if column is name else "") for column in columns]
            for row, mark in zip(block.rows, marks or [""] * len(block.rows), strict=True)
        ],
    )


def _parts(block: Rows, width: int, *, split: bool) -> tuple[list[Cells], list[str]]:
    """Return the tables in which rows are shown, and the notes to stand under them."""
    remarks = laid.remarks(block)
    whole = cells(block, remarks.marks)
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
        notes.append(f"in a wider terminal also: {', '.join(dict.fromkeys(left_out))}")
    own = [f"{mark} {note}" for note, mark in remarks.own.items()]
    return [_named(part, width) for part in parts], [*laid.sentences([*notes], block.rows), *own]


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


def _named(cells: Cells, width: int) -> Cells:
    """Return the cells, names shortened to what `width` characters leave them; see `figures.shortened`."""
    from peerage.figures import shortened

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
    for row in cells.rows:
        grid.add_row(*[Text(visible(cell)) for cell in row])
    # A title of rich's own is broken where its table ends.
    return Group(Text(visible(title), style="italic"), grid) if title else grid
