"""Views on standard output: for people, or as JSON, CSV, Markdown or LaTeX for programs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from peerage.cli.shared.options import ReportFormat, TableFormat, short_names
from peerage.cli.shared.streams import exact
from peerage.render.blocks import Rows, ViewBlock
from peerage.render.data import dicts, plain, write_json, write_table
from peerage.render.latex import latex
from peerage.render.markdown import markdown
from peerage.views.shown import Shown


def show_blocks(
    blocks: Sequence[Any], table: Rows, shape: TableFormat, *, to: TextIO | None = None, split: bool = False
) -> None:
    """Write blocks for people, or for programs the rows of the one `table`."""
    to = sys.stdout if to is None else to
    match shape:
        case TableFormat.json:
            show_json(dicts(table.rows), to)
        case TableFormat.csv:
            write_table(table, exact(to))
        case TableFormat.markdown:
            to.write(markdown(blocks))
        case TableFormat.latex:
            to.write(latex(blocks))
        case TableFormat.table:
            from peerage.render.terminal import write

            write(blocks, to, split=split, names=short_names())


def show_table(table: Rows, shape: TableFormat, *, split: bool = False) -> None:
    """Write one table to standard output; with `split` the columns for which a terminal is too narrow follow
    in further tables, in place of being left out."""
    show_blocks([table], table, shape, split=split)


def show_whole(view: Shown, blocks: Iterable[ViewBlock], shape: ReportFormat) -> None:
    """Write blocks to standard output, or as JSON what they show."""
    from peerage.render.terminal import write

    if shape is ReportFormat.json:
        show_json(view.as_dict())
    else:
        write(blocks, sys.stdout, split=True, names=short_names())


def show_parts(whole: Any, parts: Sequence[Rows], of: str | None, shape: TableFormat, first: str) -> None:
    """Write the tables of one object, those without a row left out. `of` names the table wanted alone. JSON
    holds all as the one object `whole`, CSV can hold one table alone: the `first`, if not said."""
    if shape is TableFormat.json and of is None:
        show_json(plain(whole))
        return
    of = first if shape is TableFormat.csv and of is None else of
    for part in parts:
        if part.name == of and not part.rows and shape is TableFormat.table:
            sys.stdout.write(f"{part.title}\nNothing of it is on record.\n")
        elif part.name == of or (of is None and part.rows):
            show_blocks([part], part, shape)
            if shape is TableFormat.table:
                sys.stdout.write("\n")


def show_json(data: Any, to: TextIO | None = None, *, indent: int | None = 2) -> None:
    """Write plain data as JSON, by default to standard output; on one line where `indent` is None."""
    write_json(data, exact(sys.stdout if to is None else to), indent=indent)
