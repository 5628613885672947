"""Outside results by source: imported, not played here."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from peerage.ledger import Ledger
from peerage.ledger.topics.outside import sources
from peerage.render.blocks import Rows, numbers, texts
from peerage.values.figures import whole


class SourceStats(Struct, frozen=True):
    """A file of outside results; `players` and `results` are counted, `sha256` is that of its bytes."""

    source: str
    layout: str
    results: int
    players: int
    sha256: str


def listed(ledger: Ledger) -> tuple[SourceStats, ...]:
    """Return every source, in the order in which they were imported."""
    return tuple(
        [
            SourceStats(one.name, one.layout, one.results, len(one.players), one.sha256)
            for one in sources(ledger)
        ]
    )


def table(rows: Sequence[SourceStats]) -> Rows:
    """Return the table of sources."""
    columns = [
        *texts(source="Source", layout="Format"),
        *numbers(whole, results="Results", players="Players"),
        *texts(lambda digest: f"{digest[:16]}…", sha256="SHA-256 ~1"),
    ]
    return Rows(rows, columns, title="Outside results: imported, not played here", name="outside")
