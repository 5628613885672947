"""The ledger to take along: all of it as SQLite and JSON Lines, its narrow table as CSV and Parquet.

What is sealed stands there as its commitment, so `peerage verify` finds the same head in the copy as in the
arena. Files are written piece by piece: none is ever held in memory. One that is there already is added to
where that comes to the same bytes. A server has them made by a process of their own,
`python -m peerage.site.downloads FOLDER PATH FILE`.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from hashlib import file_digest, sha256
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from peerage import __version__
from peerage.ledger import Ledger
from peerage.ledger.disclosure import write_redacted
from peerage.ledger.export import COLUMNS, contestants, lines, table
from peerage.ledger.store import MENDED, LedgerError
from peerage.outputs import replacing
from peerage.protocol import visible
from peerage.settings import SettingsError
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
    ended = next((row.at_ms for row in site.moment.records(site.number, site.number)), 0)
    mended = site.moment.meta().get(MENDED, "")
    told = sha256(f"{__version__} {site.number} {site.chain} {ended} {mended} {paths(site)}".encode())
    for stream in sorted(site.moment.streams()):
        for row in site.moment.amendments(stream):
            told.update(row.chain)
    return told.hexdigest()


def write(site: Site, path: str, to: Path, since: int = 0, digest: str = "") -> str:
    """Write the file of `path` to `to`, whole or not at all; the SHA-256 of its bytes, in hex.

    The same ledger gives the same bytes. `digest` is what an earlier call returned for the file at `to`, when
    the ledger ended with match `since`; if that is the beginning of this ledger, with nothing amended, and
    the file is as it was, only later matches are written into it. Raises LedgerError and OSError.
    """
    to.parent.mkdir(parents=True, exist_ok=True)
    first = since + 1 if since and whole(to, digest) else 1
    with replacing(to) as file:
        if path == SQLITE:
            write_redacted(site.moment, file)
        elif path == PARQUET:
            _parquet(site.moment, file, to, first)
        else:
            if first > 1:
                shutil.copyfile(to, file)
            with file.open("a", encoding="utf-8", errors="replace", newline="") as out:
                out.writelines((table if path == CSV else lines)(site.moment, first))
        return _digest(file)


def _digest(file: Path) -> str:
    with file.open("rb") as body:
        return file_digest(body, "sha256").hexdigest()


def whole(file: Path, digest: str) -> bool:
    """Whether a file is as `write` left it."""
    try:
        return _digest(file) == digest
    except OSError:
        return False


def _parquet(ledger: Ledger, file: Path, known: Path, first: int) -> None:
    """Write the narrow table to `file`; what comes before match `first` is in the file `known`."""
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    types = {**dict.fromkeys(_WHOLE, arrow.int64()), **dict.fromkeys(_TEXTS, arrow.string())}
    schema = arrow.schema([(name, types.get(name, arrow.float64())) for name in COLUMNS])

    def pieces() -> Iterator[Any]:
        if first > 1:
            with known.open("rb") as there, parquet.ParquetFile(there) as before:
                yield from map(before.read_row_group, range(before.num_row_groups))
        rows = contestants(ledger, first)
        while some := list(islice(rows, _GROUP)):
            columns = zip(schema.types, zip(*some, strict=True), strict=True)
            yield arrow.Table.from_arrays([_array(kind, values) for kind, values in columns], schema=schema)

    # Numbers are hardly ever the same: a dictionary of them would take time, and room.
    # It takes no path whose name is not UTF-8.
    with (
        file.open("wb") as out,
        parquet.ParquetWriter(out, schema, use_dictionary=list(_TEXTS)) as writer,
    ):
        rest: list[Any] = []
        for piece in pieces():
            held = arrow.concat_tables([*rest, piece]).combine_chunks()
            full = held.num_rows // _GROUP * _GROUP
            if full:
                writer.write_table(held.slice(0, full), _GROUP)
            rest = [held.slice(full)]
        for last in rest:
            if last.num_rows:
                writer.write_table(last)


def _array(kind: Any, values: Sequence[Any]) -> Any:
    """A column of Arrow, of numbers or texts; None: unknown.

    `pyarrow.array` would import pandas where it is installed, which takes longer than all else.
    """
    arrow = import_module("pyarrow")
    if kind == arrow.string():
        encoded = {text: text.encode("utf-8", "replace") for text in set(values)}
        texts = [encoded[text] for text in values]
        ends = np.cumsum([0, *map(len, texts)], dtype=np.int32)
        parts = [None, arrow.py_buffer(ends), arrow.py_buffer(b"".join(texts))]
    else:
        known = None
        if None in values:
            known = arrow.py_buffer(np.packbits([value is not None for value in values], bitorder="little"))
        numbers = np.array(values, np.int64 if kind == arrow.int64() else np.float64)
        parts = [known, arrow.py_buffer(numbers)]
    return arrow.Array.from_buffers(kind, len(values), parts)


def main(folder: Path, path: str, to: Path) -> None:
    """Write one file of the arena in `folder` as it is now."""
    try:
        with closing(Site.open(folder)) as site:
            write(site, path, to)
    except (LedgerError, SettingsError, OSError) as error:
        sys.exit(visible(str(error)))


if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(10)  # answers to spectators go first
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
