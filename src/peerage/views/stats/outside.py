"""Outside results by source: imported, not played here."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from msgspec import Struct

from peerage.reading.results.outside import Imported, in_words
from peerage.render.blocks import Column, Rows, numbers, texts
from peerage.values.figures import whole


class SourceStats(Struct, frozen=True):
    """A file of outside results; `players` and `results` are counted (of answers the questions), the latter
    in words too: `counted`. `sha256` is that of its bytes."""

    source: str
    layout: str
    results: int
    players: int
    sha256: str
    counted: str = ""


def listed(files: Sequence[Imported]) -> tuple[SourceStats, ...]:
    """Return every source, in the order in which they were imported."""
    stated = [(file.source, in_words(file.counts)) for file in files]
    return tuple(
        [
            SourceStats(source.name, source.layout, source.results, len(source.players), source.sha256, words)
            for source, words in stated
        ]
    )


def table(rows: Sequence[SourceStats]) -> Rows:
    """Return the table of sources."""
    columns = [
        *texts(source="Source", layout="Format"),
        Column("counted", "Results", number=True, order=attrgetter("results")),
        *numbers(whole, players="Players"),
        *texts(lambda digest: f"{digest[:16]}…", sha256="SHA-256 ~1"),
    ]
    return Rows(rows, columns, title="Outside results: imported, not played here", name="outside")
