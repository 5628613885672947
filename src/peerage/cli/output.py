"""Tables on standard output: for people, or as JSON, CSV or Markdown for programs.

The rows are plain data; JSON and CSV hold every key of a row unrounded, the other two what its columns show.
Nothing is ever read as terminal markup, and control characters are made visible.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, TextIO, TypeAlias

from peerage.cli.options import Format
from peerage.cli.streams import exact
from peerage.figures import DASH, counted, dollars, per_hundred, places_of, sentence, shortened

_GAP = 2  # characters between two columns
_FOLDS = 40  # from so many characters on a text rather takes several lines than be left out
_NAMES = ("player", "model", "judge", "author")  # shortened where a terminal is too narrow, never broken
_NAME = 16  # characters of a name that are worth a column that may be spared
_LEAST = 8  # characters of a name that stay in any case

Rows: TypeAlias = Sequence[Mapping[str, Any]]


class OutputColumn(NamedTuple):
    """A column for people: the row's key, its heading, and how a value is written.

    A heading that begins with `>` is of numbers: aligned right. In a narrow terminal columns with a `spare`
    above 0 are left out, the highest first, equal ones together.
    """

    key: str
    heading: str
    write: Callable[[Any], str] = str
    spare: int = 0

    @property
    def title(self) -> str:
        return self.heading.lstrip(">")

    def text(self, row: Mapping[str, Any]) -> str:
        """What a row says in this column."""
        value = row.get(self.key)
        return DASH if value is None else self.write(value)


def texts(write: Callable[[Any], str] = str, **headings: str) -> Iterator[OutputColumn]:
    """Columns of texts: headings by key, as `why="Why"`; `why="Why ~2"` may be spared."""
    for key, heading in headings.items():
        heading, _, spare = heading.partition(" ~")
        yield OutputColumn(key, heading, write, int(spare or 0))


def numbers(write: Callable[[Any], str], **headings: str) -> Iterator[OutputColumn]:
    """Columns of numbers, written alike; else as `texts`."""
    return (column._replace(heading=f">{column.heading}") for column in texts(write, **headings))


class Titled(NamedTuple):
    """A table with its heading, its columns, and notes to stand under it: each says what a column is, and
    begins with its name."""

    heading: str
    columns: Sequence[OutputColumn]
    notes: Sequence[str] = ()


def titled(heading: str, *columns: OutputColumn, notes: Sequence[str] = ()) -> Titled:
    return Titled(heading, columns, notes)


def show(
    rows: Rows,
    columns: Sequence[OutputColumn],
    shape: Format,
    *,
    title: str = "",
    notes: Sequence[str] = (),
    head: Sequence[str] = (),
    to: TextIO | None = None,
    split: bool = False,
) -> None:
    """Write a table to `to`, by default standard output; for people alone `head` stands above it, its first
    line strong, and `notes` under it: one that begins with a column's title only where that is shown. With
    `split` the columns for which a terminal is too narrow follow in further tables, in place of being left
    out."""
    to = sys.stdout if to is None else to
    match shape:
        case Format.json:
            show_json(list(rows), to)
        case Format.csv:
            from peerage.ledger.export import write_csv

            write_csv(exact(to), rows, [column.key for column in columns])
        case Format.markdown:
            _markdown(rows, columns, title, notes, head, to)
        case Format.table:
            to.write(drawn(rows, columns, title, notes, to, head, split=split))


def show_parts(
    found: Mapping[str, Any],
    parts: Mapping[str, Titled],
    of: str | None,
    shape: Format,
    first: str,
) -> None:
    """Write the tables of one object, each with its heading and columns, those without a row left out; for
    people also columns that may be spared and hold nothing. `of` is the table wanted alone. JSON holds all
    as one object, CSV can hold one table alone: the `first`, if not said."""
    if shape is Format.json and of is None:
        show_json(found)
        return
    of = first if shape is Format.csv and of is None else of
    for part, (heading, columns, notes) in parts.items():
        if part == of and not found[part] and shape is Format.table:
            sys.stdout.write(f"{heading}\nNothing of it is on record.\n")
        elif part == of or (of is None and found[part]):
            rows = found[part]
            told = [one for one in columns if not one.spare or any(row[one.key] is not None for row in rows)]
            titles = [one.title for one in told]
            said = [note for note in notes if note.partition(":")[0] in titles]
            if shape is not Format.table:
                show(rows, told if shape.for_people else columns, shape, title=heading, notes=said)
                continue
            text = drawn(rows, told, heading, said, sys.stdout)
            sys.stdout.write(text if text.endswith("\n\n") else f"{text}\n")


def show_json(data: Any, to: TextIO | None = None, *, indent: int | None = 2) -> None:
    """Write plain data as JSON, by default to standard output; on one line where `indent` is None."""
    to = exact(sys.stdout if to is None else to)
    text = json.dumps(data, ensure_ascii=False, indent=indent, allow_nan=False)
    # JSON may spell any character; those a terminal would obey it leaves to us.
    to.write(re.sub("[\x7f-\x9f]", lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")


def drawn(
    rows: Rows,
    columns: Sequence[OutputColumn],
    title: str,
    notes: Sequence[str],
    to: TextIO,
    head: Sequence[str] = (),
    *,
    split: bool = False,
) -> str:
    """The table as text, as wide as the terminal; in a pipe as wide as it needs to be."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    from peerage.protocol import visible

    columns = alike(columns, rows)
    console = Console(file=to, width=None if to.isatty() else 400, highlight=False)
    fitting = fit(rows, columns, console.width)
    parts, rest = [fitting], [column for column in columns if column not in fitting]
    while split and rest:
        least = min(column.spare for column in rest) - 1
        again = [columns[0], *(column._replace(spare=column.spare - least) for column in rest)]
        most = fit(rows, again, console.width)
        shown = max(1, len(most) - 1)
        parts.append([columns[0], *rest[:shown]])
        rest = rest[shown:]
    # A heading with gaps is a scale, no name.
    if left_out := [column.title for column in rest if "  " not in column.title]:
        notes = [note for note in notes if note.partition(":")[0] not in left_out]
        notes += [f"in a wider terminal also: {', '.join(dict.fromkeys(left_out))}"]
    with console.capture() as captured:
        for place, line in enumerate(head):
            console.print(Text(visible(line), style="" if place else "bold"), soft_wrap=not to.isatty())
        if head:
            console.print()
        for place, part in enumerate(parts):
            console.print(table(named(rows, part, console.width), part, "" if place else title))
        for note in _sentences(notes, rows):
            console.print(Padding(Text(visible(note), style="dim"), (0, 1)), soft_wrap=not to.isatty())
    text = "\n".join(line.rstrip() for line in captured.get().splitlines())
    return re.sub("\n{3,}", "\n\n", text) + "\n"


def alike(columns: Sequence[OutputColumn], rows: Rows) -> list[OutputColumn]:
    """The columns, those of dollars with as many decimals in every row."""

    def one(column: OutputColumn) -> OutputColumn:
        values = [row[column.key] for row in rows if row.get(column.key) is not None]
        if column.write is dollars:
            return column._replace(write=partial(dollars, places=places_of(values)))
        if column.write is per_hundred:
            places = places_of([100 * value for value in values])
            return column._replace(write=partial(per_hundred, places=places))
        return column

    return [one(column) for column in columns]


def fit(rows: Rows, columns: Sequence[OutputColumn], width: int) -> list[OutputColumn]:
    """The columns that fit into `width` characters; those that cannot be spared stay in any case. Those that
    are spared alike go together: no lower bound stands there without its upper one."""
    from rich.cells import cell_len

    def wide(column: OutputColumn) -> int:
        longest = _longest(column, rows)
        most = _NAME if column.key in _NAMES else longest if column.heading.startswith(">") else _FOLDS
        return _GAP + max(cell_len(column.title), min(longest, most))

    widths = [wide(column) for column in columns]
    for spare in sorted({column.spare for column in columns}, reverse=True):
        if spare and sum(widths) > width:
            kept = [place for place, column in enumerate(columns) if column.spare < spare]
            columns, widths = [columns[place] for place in kept], [widths[place] for place in kept]
    return list(columns)


def interval(lower: float | None, upper: float | None, write: Callable[[float], str]) -> str | None:
    """An interval with nothing about its dash, so that it fits, but where a sign might be read as one."""
    if lower is None or upper is None:
        return None
    return f"{write(lower)} – {write(upper)}" if lower < 0 else f"{write(lower)}–{write(upper)}"


def _longest(column: OutputColumn, rows: Rows) -> int:
    from rich.cells import cell_len

    return max([cell_len(column.text(row)) for row in rows], default=0)


def named(rows: Rows, columns: Sequence[OutputColumn], width: int) -> Rows:
    """The rows, their names shortened to what `width` characters leave them; see `figures.shortened`."""
    names = [column for column in columns if column.key in _NAMES]
    rest = [column for column in columns if column.key not in _NAMES]
    taken = sum([_GAP + max(len(column.title), min(_longest(column, rows), _FOLDS)) for column in rest])
    for place, column in enumerate(names):
        most = max(_LEAST, (width - taken) // (len(names) - place) - _GAP)
        short = shortened({str(row[column.key]) for row in rows}, most)
        rows = [{**row, column.key: short.get(str(row[column.key]), row[column.key])} for row in rows]
        taken += _GAP + max(len(column.title), _longest(column, rows))
    return rows


def table(rows: Rows, columns: Sequence[OutputColumn], title: str = "") -> Any:
    """The table as rich draws it."""
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from peerage.protocol import visible

    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        number = column.heading.startswith(">")
        side: Literal["left", "right"] = "right" if number else "left"
        grid.add_column(Text(visible(column.title)), justify=side, no_wrap=number, overflow="fold")
    for row in rows:
        grid.add_row(*[Text(visible(column.text(row))) for column in columns])
    # A title of rich's own is broken where its table ends.
    return Group(Text(visible(title), style="italic"), grid) if title else grid


def _sentences(notes: Sequence[str], rows: Rows) -> list[str]:
    """The notes under a table; one may begin with the name of a player in it, which stays as it is."""
    names = [str(row["player"]) for row in rows if row.get("player")]
    return [sentence(note, names) for note in notes]


def inert(text: str) -> str:
    """Text alone in Markdown: no link, picture, markup or further column."""
    from peerage.protocol import visible

    marks = r"([\\`*<>|\[\]~]|\b_|_\b|:(?=//)|(?<=www)\.|&(?=#?\w+;))"
    return re.sub(marks, r"\\\1", visible(text).replace("\n", " "))


def _markdown(
    rows: Rows,
    columns: Sequence[OutputColumn],
    title: str,
    notes: Sequence[str],
    head: Sequence[str],
    to: TextIO,
) -> None:
    columns = alike(columns, rows)
    if title:
        to.write(f"**{inert(title)}**\n\n")
    to.writelines(f"{inert(line) if place else f'**{inert(line)}**'}\n\n" for place, line in enumerate(head))
    to.write("| " + " | ".join(inert(column.title) for column in columns) + " |\n")
    to.write("|" + "|".join("--:" if column.heading.startswith(">") else "---" for column in columns) + "|\n")
    to.writelines("| " + " | ".join(inert(column.text(row)) for column in columns) + " |\n" for row in rows)
    to.writelines(f"\n{inert(note)}\n" for note in _sentences(notes, rows))


def money(billed_nano: int, possibly_nano: int, unpriced: int = 0) -> str:
    """What is known to have been billed, and beside it what may have been in addition, and the calls without
    a known price, where there are any."""
    calls = f"{counted(unpriced, 'call')} of unknown cost"
    if unpriced and not billed_nano and not possibly_nano:
        return calls
    more = f", {dollars(possibly_nano / 1e9)} more possibly billed" if possibly_nano else ""
    return f"{dollars(billed_nano / 1e9)} billed{more}{f', and {calls}' if unpriced else ''}"


hundredths = "{:.2f}".format
signed = "{:+.2f}".format


def points(value: float) -> str:
    """A difference in whole points, with its sign; never `-0`."""
    return f"{round(value):+d}"
