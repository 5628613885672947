"""Tables on standard output: for people, or as JSON, CSV or Markdown for programs.

The rows are plain data; JSON and CSV hold every key of a row unrounded, the other two what its columns show.
Nothing is ever read as terminal markup, and control characters are made visible.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TextIO

from peerage.cli.options import Format
from peerage.cli.streams import exact

_GAP = 2  # characters between two columns


class Column(NamedTuple):
    """A column for people: the row's key, its heading, and how a value is written.

    A heading that begins with `>` is of numbers: aligned right. In a narrow terminal columns with a `spare`
    above 0 are left out, the highest first.
    """

    key: str
    heading: str
    write: Callable[[Any], str] = str
    spare: int = 0


def show(
    rows: Sequence[Mapping[str, Any]],
    columns: Sequence[Column],
    shape: Format,
    *,
    title: str = "",
    notes: Sequence[str] = (),
    to: TextIO | None = None,
) -> None:
    """Write a table to `to`, by default standard output; `notes` stand under it, for people alone."""
    to = sys.stdout if to is None else to
    match shape:
        case Format.json:
            show_json(list(rows), to)
        case Format.csv:
            _csv(rows, [column.key for column in columns], to)
        case Format.markdown:
            _markdown(rows, columns, title, notes, to)
        case Format.table:
            to.write(drawn(rows, columns, title, notes, to))


def show_parts(
    found: Mapping[str, Any],
    headings: Mapping[str, str],
    columns: Mapping[str, Sequence[Column]],
    of: str | None,
    shape: Format,
    first: str,
) -> None:
    """Write the tables of one object, each with its heading, those without a row left out; `of` is the one
    wanted alone. JSON holds all as one object, CSV can hold one table alone: the `first`, if not said."""
    if shape is Format.json and of is None:
        show_json(found)
        return
    of = first if shape is Format.csv and of is None else of
    for part in columns if of is None else (of,):
        if found[part] or of is not None:
            show(found[part], columns[part], shape, title=headings[part])


def show_json(data: Any, to: TextIO | None = None) -> None:
    """Write plain data as JSON, by default to standard output."""
    to = exact(sys.stdout if to is None else to)
    text = json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False)
    # JSON may spell any character; those a terminal would obey it leaves to us.
    to.write(re.sub("[\x7f-\x9f]", lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")


def drawn(
    rows: Sequence[Mapping[str, Any]],
    columns: Sequence[Column],
    title: str,
    notes: Sequence[str],
    to: TextIO,
) -> str:
    """The table as text, as wide as the terminal; in a pipe as wide as it needs to be."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    from peerage.protocol import visible

    console = Console(file=to, width=None if to.isatty() else 400, highlight=False)
    fitting = fit(rows, columns, console.width)
    if len(fitting) < len(columns):
        more = len(columns) - len(fitting)
        notes = [*notes, f"{more} more column{'s' * (more > 1)} in a wider terminal"]
    with console.capture() as captured:
        console.print(table(rows, fitting, title))
        for note in notes:
            console.print(Padding(Text(visible(note), style="dim"), (0, 1)), soft_wrap=not to.isatty())
    return "\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n"


def fit(rows: Sequence[Mapping[str, Any]], columns: Sequence[Column], width: int) -> list[Column]:
    """The columns that fit into `width` characters; those that cannot be spared stay in any case."""
    from rich.cells import cell_len

    wide = {
        column: max(
            cell_len(text) for text in (column.heading.lstrip(">"), *[_cell(row, column) for row in rows])
        )
        for column in columns
    }
    kept = list(columns)
    while sum(wide[column] + _GAP for column in kept) > width and any(column.spare for column in kept):
        kept.remove(max(kept, key=lambda column: column.spare))
    return kept


def table(rows: Sequence[Mapping[str, Any]], columns: Sequence[Column], title: str = "") -> Any:
    """The table as rich draws it."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from peerage.protocol import visible

    grid = Table(
        title=Text(visible(title)) if title else None,
        box=box.SIMPLE_HEAD,
        title_justify="left",
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    for column in columns:
        number = column.heading.startswith(">")
        grid.add_column(
            Text(visible(column.heading.lstrip(">"))),
            justify="right" if number else "left",
            no_wrap=number,
            overflow="fold",
        )
    for row in rows:
        grid.add_row(*[Text(visible(_cell(row, column))) for column in columns])
    return grid


def _csv(rows: Sequence[Mapping[str, Any]], keys: Sequence[str], to: TextIO) -> None:
    from peerage.ledger.export import cell

    fields = list(rows[0]) if rows else list(keys)
    writer = csv.DictWriter(exact(to), fields, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow(
            {
                key: cell(value)
                if not isinstance(value, list | tuple | dict)
                else json.dumps(value, ensure_ascii=False)
                for key, value in row.items()
            }
        )


def _markdown(
    rows: Sequence[Mapping[str, Any]],
    columns: Sequence[Column],
    title: str,
    notes: Sequence[str],
    to: TextIO,
) -> None:
    from peerage.protocol import visible

    def inert(text: str) -> str:
        """Text alone: no link, picture, markup or further column."""
        return re.sub(r"([\\`*<>|\[\]])", r"\\\1", visible(text).replace("\n", " "))

    if title:
        to.write(f"**{inert(title)}**\n\n")
    to.write("| " + " | ".join(inert(column.heading.lstrip(">")) for column in columns) + " |\n")
    to.write("|" + "|".join("--:" if column.heading.startswith(">") else "---" for column in columns) + "|\n")
    for row in rows:
        cells = (inert(_cell(row, column)) for column in columns)
        to.write("| " + " | ".join(cells) + " |\n")
    to.writelines(f"\n{inert(note)}\n" for note in notes)


def _cell(row: Mapping[str, Any], column: Column) -> str:
    value = row.get(column.key)
    return "–" if value is None else column.write(value)


def dollars(value: float) -> str:
    """A sum of money, with as many digits as tell small ones apart."""
    if value >= 1 or value == 0:
        return f"${value:,.2f}"
    return f"${value:.4f}" if value >= 0.001 else f"${value:.6f}"


def money(billed_nano: int, possibly_nano: int) -> str:
    """What is known to have been billed, and beside it what may have been in addition, where there is any."""
    more = f", {dollars(possibly_nano / 1e9)} more possibly billed" if possibly_nano else ""
    return f"{dollars(billed_nano / 1e9)} billed{more}"


def whole(value: float) -> str:
    return f"{value:,.0f}"


def percent(value: float) -> str:
    return f"{100 * value:.0f}%"


def seconds(value: float) -> str:
    return f"{value:.1f} s" if value >= 1 else f"{1000 * value:.0f} ms"


def hundredths(value: float) -> str:
    return f"{value:.2f}"


def signed(value: float) -> str:
    """A difference, to a hundredth."""
    return f"{value:+.2f}"


def span(bounds: Sequence[int]) -> str:
    """Two whole numbers, or one where they are the same."""
    first, last = bounds
    return f"{first}" if first == last else f"{first}–{last}"
