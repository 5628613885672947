"""Data of pages to download: leaderboards, what charts show, battles as their original reads them."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from peerage.game.match import DONE
from peerage.game.spec import Original
from peerage.games import installed
from peerage.ledger.out.export import documents
from peerage.render.data import write_csv
from peerage.site.reading import Site
from peerage.views.arena.charts import course, in_seconds, paced, priced
from peerage.views.arena.costs import by_day


def paths(site: Site) -> Iterator[str]:
    for track in site.tracks:
        yield from (f"data/leaderboard-{track}.csv", f"data/leaderboard-{track}.json")
        yield from (f"data/course-{track}.csv", f"data/frontier-{track}.csv")
    yield from (f"data/speed-{site.track}.csv", "data/spending.csv")
    if site.has_pool:
        yield "data/challenges.csv"
    yield from originals(site)


def originals(site: Site) -> dict[str, Original]:
    """Return what games decided here write for the benchmarks they come from, by the file's name."""
    decided = [installed(game) for game, statuses in site.tally.games.items() if statuses.get(DONE)]
    return {spec.original.file: spec.original for spec in decided if spec and spec.original}


def view(site: Site, path: str) -> bytes | None:
    if path not in paths(site):
        return None
    if original := originals(site).get(path):
        return "".join(original.write(documents(site.moment))).encode()
    name, _, kind = path.removeprefix("data/").rpartition(".")
    what, _, track = name.partition("-")
    if what == "spending":
        return table(by_day(site))
    if what == "challenges":
        return table([row.as_dict() for row in site.pool])
    rows = [row.as_dict() for row in site.table(track)]
    if kind == "json":
        return msgspec.json.format(msgspec.json.encode(rows), indent=2) + b"\n"
    if what == "leaderboard":
        return table(rows)
    if what == "frontier":
        return table(priced(site.table(track)))
    if what == "speed":
        return table(in_seconds(paced(site, site.table(track))))
    return table(course(site, next(one for one in site.tracks if one == track)))


def table(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Rows as CSV."""
    out = io.StringIO()
    write_csv(out, rows)
    return out.getvalue().encode("utf-8", "replace")
