"""The ledger to take along: all of it as SQLite and JSON Lines, its narrow table as CSV and Parquet.

What is sealed is in them as its commitment, so `peerage verify` finds the same head in the copy as in the
arena. Files are written piece by piece: none is ever held in memory. The same ledger gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from filecmp import cmp
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Final

from peerage.ledger import Ledger, LedgerError
from peerage.ledger.out.disclosure import write_redacted
from peerage.ledger.out.export import COLUMNS, contestants, lines, table, written
from peerage.settings import SettingsError
from peerage.site.reading import Site
from peerage.values.outputs import replacing
from peerage.views.arena.ledger import Download

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

_GROUP = 10_000
"""Rows of Parquet written at a time."""
_WHOLE = ("number", "round", "seat", "spent_nano", "at_ms")
_TEXTS = ("game", "topic", "status", "player")


def possible() -> list[str]:
    """The paths that can be written here: Parquet needs pyarrow."""
    return [path for path in TYPES if path != PARQUET or find_spec("pyarrow")]


def offered(site: Site) -> list[Download]:
    """Return what is offered; a server, unlike static pages, makes whole copies of a ledger of any length."""
    served = bool(site.menu)  # only a server has entries of its own there
    whole = served or site.number <= LONGEST
    return [Download(path, *_ABOUT[path]) for path in possible() if whole or path in (CSV, PARQUET)]


def paths(site: Site) -> list[str]:
    """Return where files to download stand."""
    return [one.path for one in offered(site)]


def update(site: Site, path: str, to: Path) -> bool:
    """Write the file of `path` to `to`, whole or not at all, where it differs from what is there; whether it
    did. Raises LedgerError and OSError."""
    to.parent.mkdir(parents=True, exist_ok=True)
    with replacing(to) as file:
        if path == SQLITE:
            write_redacted(site.moment, file)
        elif path == PARQUET:
            _parquet(site.moment, file)
        else:
            with file.open("w", encoding="utf-8", errors="replace", newline="") as out:
                out.writelines((table if path == CSV else lines)(site.moment))
        changed = not to.exists() or not cmp(file, to, shallow=False)
        if not changed:
            file.unlink()
    return changed


def _parquet(ledger: Ledger, file: Path) -> None:
    """Write the narrow table to `file`."""
    # Its reader of CSV makes columns without pandas, whose import takes longer than all of this.
    arrow, parquet, reader = map(import_module, ("pyarrow", "pyarrow.parquet", "pyarrow.csv"))
    types = {**dict.fromkeys(_WHOLE, arrow.int64()), **dict.fromkeys(_TEXTS, arrow.string())}
    schema = arrow.schema([(name, types.get(name, arrow.float64())) for name in COLUMNS])
    rows = contestants(ledger)
    # Numbers are hardly ever the same: a dictionary of them would take time, and room.
    # It takes no path whose name is not UTF-8.
    with file.open("wb") as out, parquet.ParquetWriter(out, schema, use_dictionary=list(_TEXTS)) as writer:
        while some := list(islice(rows, _GROUP)):
            table = reader.read_csv(
                BytesIO(written(some).encode("utf-8", "replace")),
                reader.ReadOptions(column_names=schema.names, use_threads=False),
                reader.ParseOptions(newlines_in_values=True),
                reader.ConvertOptions(column_types=schema, null_values=[""]),
            )
            writer.write_table(table, _GROUP)


def write(folder: Path, path: str, to: Path) -> str:
    """Write one file of the arena in `folder` as it is now; why it was not written, empty when it was."""
    try:
        with closing(Site.open(folder)) as site:
            update(site, path, to)
    except (LedgerError, SettingsError, OSError) as error:
        return str(error)
    return ""
