"""The ledger to take along: all of it as SQLite and JSON Lines, its narrow table as CSV and Parquet.

What is sealed stands there as its commitment, so `peerage verify` finds the same head in the copy as in the
arena. Files are written piece by piece: none is ever held in memory. A server has them made by a process of
their own, `python -m peerage.site.downloads FOLDER PATH FILE`.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from peerage import __version__
from peerage.ledger import Ledger
from peerage.ledger.disclosure import write_redacted
from peerage.ledger.export import COLUMNS, contestants, export
from peerage.site.reading import Site

SQLITE: Final = "data/arena.db"
"""Named as an arena's ledger is, so that `peerage verify` finds it in the folder it was saved to."""
JSONL: Final = "data/matches.jsonl"
CSV: Final = "data/matches.csv"
PARQUET: Final = "data/matches.parquet"

TYPES: Mapping[str, str] = {
    SQLITE: "application/vnd.sqlite3",
    JSONL: "application/x-ndjson",
    CSV: "text/csv; charset=utf-8",
    PARQUET: "application/vnd.apache.parquet",
}
"""Content types by path."""

_ABOUT: Mapping[str, tuple[str, str]] = {
    SQLITE: ("SQLite", "the whole ledger, which peerage reads"),
    JSONL: ("JSONL", "one self-contained match a line, every reply with its proof"),
    CSV: ("CSV", "one line for each match and contestant"),
    PARQUET: ("Parquet", "the same, with types"),
}

LONGEST = 1_000
"""Matches up to which whole copies lie among static pages: hosts take files of 100 MB, builds stay short."""

_GROUP = 50_000
"""Rows of Parquet written at a time."""
_WHOLE = ("number", "round", "seat", "spent_nano", "at_ms")
_TEXTS = ("game", "topic", "status", "player")


class Download(NamedTuple):
    """A file that is offered, and what is in it."""

    path: str
    name: str
    about: str


def possible() -> list[str]:
    """The paths that can be written here: Parquet needs pyarrow."""
    return [path for path in TYPES if path != PARQUET or find_spec("pyarrow")]


def offered(site: Site) -> list[Download]:
    """What is offered; a server, unlike static pages, makes whole copies of a ledger of any length."""
    served = bool(site.menu)  # only a server has entries of its own there
    whole = served or site.number <= LONGEST
    return [Download(path, *_ABOUT[path]) for path in possible() if whole or path in (CSV, PARQUET)]


def paths(site: Site) -> list[str]:
    """Where files to download stand."""
    return [one.path for one in offered(site)]


def version(site: Site) -> str:
    """What stays the same while all these files do."""
    ended = site.summaries[-1].at_ms if site.summaries else 0
    told = sha256(f"{__version__} {site.number} {site.chain} {ended} {paths(site)}".encode())
    for stream in sorted(site.moment.streams()):
        for row in site.moment.amendments(stream):
            told.update(row.chain)
    return told.hexdigest()


def write(site: Site, path: str, to: Path) -> None:
    """Write the file of `path` to `to`, whole or not at all.

    The same ledger gives the same bytes. Raises LedgerError and OSError.
    """
    to.parent.mkdir(parents=True, exist_ok=True)
    part = to.with_name(f".{to.name}.part")
    shutil.rmtree(part, ignore_errors=True)  # of a build that was interrupted
    part.mkdir()
    file = part / to.name
    try:
        if path == SQLITE:
            write_redacted(site.moment, file)
        elif path == PARQUET:
            _parquet(site.moment, file)
        else:
            with file.open("w", encoding="utf-8", errors="replace", newline="") as out:
                out.writelines(export(site.moment, "csv" if path == CSV else "jsonl"))
        file.replace(to)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _parquet(ledger: Ledger, file: Path) -> None:
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    types = {**dict.fromkeys(_WHOLE, arrow.int64()), **dict.fromkeys(_TEXTS, arrow.string())}
    schema = arrow.schema([(name, types.get(name, arrow.float64())) for name in COLUMNS])
    with parquet.ParquetWriter(file, schema) as writer:
        for rows in _groups(contestants(ledger)):
            columns = zip(zip(*rows, strict=True), schema.types, strict=True)
            arrays = [arrow.array(column, kind) for column, kind in columns]
            writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))


def _groups(rows: Iterator[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    while group := list(islice(rows, _GROUP)):
        yield group


def main(folder: Path, path: str, to: Path) -> None:
    """Write one file of the arena in `folder` as it is now."""
    with closing(Site.open(folder)) as site:
        write(site, path, to)


if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(10)  # answers to spectators go first
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
