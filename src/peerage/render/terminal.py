"""Views in a terminal: tables as wide as it is, nothing that it would obey.

In a pipe a table has at most 160 columns. What opens on demand, leads elsewhere or is drawn is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from string import ascii_lowercase
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TextIO

from msgspec.structs import replace

from peerage.game.blocks import (
    Bar,
    Board,
    Grid,
    Heading,
    Private,
    Quoted,
    ScoreLine,
    Sentence,
    SourceCode,
    Swatch,
    TaskText,
    Tone,
    VoteStrip,
)
from peerage.render import rows as laid
from peerage.render.blocks import (
    Beside,
    Column,
    Conclusion,
    Facts,
    Meeting,
    Notes,
    Rows,
    Section,
    Transcript,
    ViewBlock,
)
from peerage.render.names import AS_THEY_ARE, Names
from peerage.values.figures import PADS, sentence
from peerage.values.texts import visible

if TYPE_CHECKING:
    from rich.console import Console

STYLES: dict[Tone, str] = {"": "", "good": "green", "bad": "red", "quiet": "dim"}
MARGIN = "  | "
"""Stands before each line that a player wrote: what stands behind it is nobody else's."""
_PIPE = 160  # characters of a table in a pipe
_GAP = 2  # characters between two columns
_FOLDS = 40  # from so many characters on a text rather takes several lines than be left out
_NAMES = ("player", "model", "judge", "author")  # shortened where a terminal is too narrow, never broken
_NAME = 22  # characters of a name that are worth a column that may be spared
_NARROW = 24  # characters of a column of numbers, marks or bars
_LEAST = 8  # characters of a name that stay in any case


def write(
    blocks: Iterable[ViewBlock], to: TextIO, *, split: bool = False, names: Names = AS_THEY_ARE
) -> None:
    """Write blocks to `to`. With `split` the columns for which a terminal is too narrow follow in further
    tables, in place of being left out; `names` are written short."""
    to.write(text(blocks, to, split=split, names=names))


def text(blocks: Iterable[ViewBlock], to: TextIO, *, split: bool = False, names: Names = AS_THEY_ARE) -> str:
    """Return blocks as `write` writes them to `to`."""
    from rich.console import Console

    width = None if to.isatty() else _PIPE
    # Rich would show by itself in a notebook what is written to nowhere.
    console = Console(file=to, width=width, highlight=False, force_jupyter=False)
    return on(console, blocks, split=split, names=names)


def on(
    console: Console, blocks: Iterable[ViewBlock], *, split: bool = False, names: Names = AS_THEY_ARE
) -> str:
    """Return blocks as a console writes them."""
    writer = _Writer(console, split=split, names=names)
    with console.capture() as captured:
        for place, block in enumerate(blocks):
            writer.write(block, first=not place)
    lines = "\n".join(line.rstrip() for line in captured.get().split("\n"))
    return re.sub("\n{3,}", "\n\n", lines).strip("\n") + "\n"


class _Writer:
    """Writes blocks to a console, those of a match `within` its transcript."""

    def __init__(
        self, console: Console, *, split: bool, names: Names, within: Transcript | None = None
    ) -> None:
        self._console = console
        self._split = split
        self._names = names
        self._within = within

    def write(self, block: ViewBlock, *, first: bool = False) -> None:
        match block:
            case Heading():
                if not first:
                    self._console.print()
                self._line(block.text, "bold")
            case Sentence():
                self._line(block.text, STYLES[block.tone], 2 if self._within else 0)
            case TaskText():
                by = f"by {self._who(*block.by)}" if block.by else ""
                self._line(" ".join(filter(None, (block.name, by))), "italic", 2)
                self._quoted(block.text, block.more, prose=block.prose)
            case Quoted() | SourceCode():
                self._said(block)
            case Section():
                self._all(block.blocks)
            case Beside():
                for group in block.groups:
                    self._all(group)
            case Conclusion():
                for place, words in enumerate([*block.lines, *block.notes]):
                    self._line(words, "" if place else "bold")
                self._console.print()
            case Facts():
                for fact in block.facts:
                    about = f" ({fact.about})" if fact.about else ""
                    self._line(f"{fact.title}: {fact.value}{about}")
            case Notes():
                for words in laid.sentences(block.lines, [{"player": name} for name in block.names]):
                    self._line(words, "dim", 1)
            case Rows():
                parts, notes = _parts(block, self._console, split=self._split, names=self._names)
                for place, part in enumerate(parts):
                    self._console.print(drawn(part, "" if place else block.title))
                for words in notes:
                    self._line(words, "dim", 1)
            case _:
                self._of_match(block)

    def _of_match(self, block: ViewBlock) -> None:
        match block:
            case Transcript():
                self._all(block.head)
                writer = _Writer(self._console, split=self._split, names=self._names, within=block)
                writer._all(block.blocks)
            case Meeting():
                self._line(laid.meeting(block), "bold")
                self._line(sentence(block.why, ()) if block.why else "")
            case VoteStrip():
                self._votes(block)
            case Grid():
                self._console.print()
                for place, part in enumerate(_of_grid(block, self._who, self._console.width - 2)):
                    self._indented(drawn(part, "" if place else block.title), 2)
                self._console.print()
            case ScoreLine() if not block.pictured:
                self._line(laid.worth(block, self._who(block.label)), indent=2)
            case Swatch():
                for tile in laid.tiles(block):
                    self._indented(_color(*tile), 4)
            case Board():
                if block.squared and block.rows:
                    self._console.print(_squared(block))
                else:
                    for row in block.rows:
                        self._line(row, indent=4)
            case Private():
                if block.labels and block.marked:
                    self._line(f"seen by {self._who(*block.labels)} alone", "dim", 2)
            case Bar():
                self._line(f"{_bar(block, 24)} {laid.cell(block)}", indent=2)
            case _:
                pass

    def _all(self, blocks: Iterable[ViewBlock]) -> None:
        for block in blocks:
            self.write(block)

    def _line(self, words: str, style: str = "", indent: int = 0) -> None:
        """Write words of ours, their names short."""
        if words:
            self._put(self._names.in_text(words), style, indent)

    def _put(self, words: str, style: str = "", indent: int = 0) -> None:
        from rich.text import Text

        # No terminal obeys what players wrote. Where none listens, a line stays one line.
        if self._console.is_terminal:
            self._indented(Text(visible(words), style), indent)
        else:
            spaces = " " * indent
            self._console.print(
                Text(f"{spaces}{visible(words).replace(chr(10), chr(10) + spaces)}", style), soft_wrap=True
            )

    def _indented(self, drawing: Any, by: int) -> None:
        from rich.padding import Padding

        self._console.print(Padding(drawing, (0, 0, 0, by)))

    def _who(self, *labels: str) -> str:
        who = map(self._within.who, labels) if self._within else labels
        return self._names.in_text(" and ".join(who))

    def _said(self, block: Quoted | SourceCode) -> None:
        from rich.text import Text

        about = Text("  ").append(visible(self._who(block.label)), "italic")
        for text, style in ((block.verdict, STYLES[block.tone] or "cyan"), (block.note, "dim")):
            about.append(f"  {visible(text)}" if text else "", style)
        reply = self._within.reply(block.key) if self._within and block.key else None
        about.append(f"  {visible(reply.took)}" if reply else "", "dim")
        self._console.print(about, soft_wrap=not self._console.is_terminal)
        if isinstance(block, Quoted):
            self._quoted(block.text, block.more, prose=block.prose)
        else:
            self._quoted(block.source, block.more, diff=block.diff)

    def _votes(self, strip: VoteStrip) -> None:
        several, width = len(strip.titles) > 1, self._console.width - 2
        known = self._within.names if self._within else {}
        names = {line.label: self._names.short(known.get(line.label, line.label)) for line in strip.votes}
        if several:
            rows = cells(laid.of_votes(strip, names.get))
            self._indented(drawn(_named(fit(rows, width), width)), 2)
        for line in strip.votes:
            for title, given in zip(strip.titles, line.given, strict=True):
                if given and (given.text or given.note or not several):
                    about = f"{names[line.label]}{', ' * bool(title)}{title}: {given.choice}"
                    self._line("; ".join(filter(None, (about, given.note))), "italic", 2)
                    if given.text:
                        self._quoted(given.text, 0)

    def _quoted(self, words: str, more: int, *, prose: bool = False, diff: bool = False) -> None:
        kinds = {"+": "green", "-": "red", "@": "dim"} if diff else {}
        if prose and self._console.is_terminal and laid.maybe_markdown(words):
            self._markdown(words + " …" * bool(more))
        else:
            for line in _quoted(words or "(nothing)", more, self._console):
                self._put(line, kinds.get(line[len(MARGIN) :][:1], ""))
        if more:
            self._line(f"{more:,} more characters", "dim", 2)

    def _markdown(self, words: str) -> None:
        """Write a text as its Markdown means it, behind the margin that no text of a player can leave."""
        from rich.markdown import Markdown
        from rich.segment import Segment, Segments

        room = max(20, self._console.width - len(MARGIN))
        meant = Markdown(visible(words), hyperlinks=False)
        for line in self._console.render_lines(meant, self._console.options.update(width=room), pad=False):
            self._console.print(Segments([Segment(MARGIN), *line, Segment.line()]), end="")


def _color(caption: str, color: str, same: Sequence[bool], right: str) -> Any:
    from rich.text import Text

    known = re.fullmatch("[0-9A-Fa-f]{6}", color)
    digits = zip(visible(color), ["bold green" if good else "dim" for good in same], strict=True)
    parts = digits if known and same else [(visible(color), "")]
    line = Text.assemble(("      ", f"on #{color}" if known else ""), f" {visible(caption)} ", *parts)
    return line.append(f"  {right}" if right else "", "dim")


def _bar(bar: Bar, length: int) -> str:
    """Return a bar from 0 to its value in so many characters, none where it has no length."""
    if not laid.drawable(bar):
        return "·" * length
    least, most = min(bar.least, 0.0), max(bar.most, 0.0)
    scale = length / ((most - least) or 1.0)
    ends = sorted((round((min(max(bar.value, least), most) - least) * scale), round(-least * scale)))
    return f"{'·' * ends[0]}{'█' * (ends[1] - ends[0])}{'·' * (length - ends[1])}"


def _squared(block: Board) -> Any:
    """Return a board whose squares differ in their ground, and in a point where nothing is coloured."""
    from rich.text import Text

    rows, lines = laid.squares(block), Text()
    for y, row in enumerate(rows):
        lines.append(f"    {len(rows) - y:>2} ", "dim")
        for x, piece in enumerate(row):
            lines.append(f" {visible(piece) or '·'} ", "on grey23" if (x + y) % 2 else "on grey35")
        lines.append("\n")
    files = "".join([f" {letter} " for letter, _ in zip(ascii_lowercase, rows[0], strict=False)])
    return lines.append(f"       {files}", "dim")


def _of_grid(block: Grid, who: Callable[[str], str], width: int) -> Iterator[Cells]:
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
                line[bars[0]] = f"{_bar(bar, 12)} {line[bars[0]]}"
    wide = [
        _GAP + max(cell_len(column.title), _longest(table, place))
        for place, column in enumerate(table.columns)
    ]
    first = min(wide[0], _NARROW)
    if first + sum(wide[1:]) <= width or max(wide[1:], default=0) > _NARROW:  # what has words folds them
        yield _named(table, width)
        return
    rest = [*range(1, len(wide))]
    while rest:
        fits = [
            first + sum(wide[place] for place in rest[:count]) <= width for count in range(1, len(rest) + 1)
        ]
        now = max(1, sum(fits))
        part = _only(table, [table.columns[place] for place in (0, *rest[:now])])
        yield _named(part, first + sum(wide[place] for place in rest[:now]))
        rest = rest[now:]


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


def _parts(block: Rows, console: Console, *, split: bool, names: Names) -> tuple[list[Cells], list[str]]:
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
    from peerage.values.figures import shortened

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
    return Group(Text(visible(title), style="italic"), grid) if title else grid
