"""All families of steps. Pure."""

from __future__ import annotations

from peerage.games.transform import columns, rows
from peerage.games.transform.step import Family

FAMILIES: tuple[Family, ...] = (
    rows.keep_numbers,
    rows.keep_words,
    rows.sort,
    rows.dedupe,
    rows.explode,
    rows.aggregate,
    rows.pivot,
    rows.thin,
    columns.rename,
    columns.select,
    columns.compute,
    columns.units,
    columns.write_dates,
    columns.move_dates,
    columns.date_part,
    columns.clean,
    columns.split_names,
    columns.join,
    columns.running,
    columns.share,
    columns.number_rows,
    columns.fill,
    columns.recode,
    columns.label,
)
