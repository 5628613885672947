"""The whole arena in one file to send to somebody: the verdict first, then the evidence.

The file needs nothing beside it. Its style sheet and its one script stand inside and are named by their
SHA-256 in its Content-Security-Policy, so that nothing else can run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import resources

from markupsafe import Markup

from peerage.engine.model_watch import changes
from peerage.protocol import visible
from peerage.site.leaderboards import NAMES, WIDTH, before, charts, in_tenths, lines, moves, priced, shade
from peerage.site.reading import Site
from peerage.site.rendering import inline, render
from peerage.tables.leaderboard import Row

COMPARED = 12
"""Players in the table of who beat whom."""


def report(site: Site) -> bytes:
    """The report as an HTML document. Raises LedgerError."""
    found = site.board()
    ranked = [row for row in found.rows if row.rank is not None]
    models = changes(site.moment)
    style, script = (_asset(name) for name in ("site.css", "site.js"))
    return render(
        "report.html",
        {
            "site": site,
            "policy": f"default-src 'none'; base-uri 'none'; "
            f"style-src {inline(style)}; script-src {inline(script)}",
            "style": Markup(style),
            "script": Markup(script),
            "verdict": [*verdict(site), *[f"{line[:1].upper()}{line[1:]}." for line in found.registered]],
            "track": NAMES[site.track],
            "lines": lines(found, moves(site, site.track)),
            "since": before(site.number),
            "width": WIDTH,
            "tenths": in_tenths(site.track),
            "charts": list(charts(site, site.track, found)),
            "names": [row.player for row in ranked[:COMPARED]],
            "cell": site.met,
            "shade": shade,
            "measures": site.judges.measures,
            "favours": [pair for pair in site.judges.favours if pair.found],
            "notes": found.notes,
            "voids": site.stats.voids,
            "models": [
                f"{row.player}: {visible(one.told)}"
                for row in ranked
                for one in models.get(row.player, [])
                if one.before
            ],
        },
    )


def verdict(site: Site) -> Iterator[str]:
    """What the matches show, in sentences."""
    rows = [row for row in site.table() if row.rank is not None]
    decided = site.tally.decided
    if not rows:
        yield "No match has been decided yet, so there is nothing to say."
        return
    first = [row for row in rows if row.rank_range is not None and row.rank_range[0] == 1]
    if len(first) == 1:
        yield f"{rows[0].player} is the best of {len(rows)} players, with 95% confidence."
    elif len(first) == len(rows):
        yield f"After {decided:,} decided matches no one of {len(rows)} players is clearly the best."
    else:
        yield f"Who is the best of {len(rows)} players is not settled: {_names(first)} share the first place."
    value = cheapest(first)
    if value is not None and len(first) > 1:
        yield f"Of these, {value.player} is the cheapest."
    plane = priced(rows)
    bargains = [
        offer for offer in plane if offer["best"] and offer["player"] != rows[0].player and offer["cost"]
    ]
    if bargains and rows[0].cost_per_match:
        offer = bargains[-1]
        times = rows[0].cost_per_match / offer["cost"]
        if times > 1:
            yield (
                f"{offer['player']} costs {times:.1f} times less per match than {rows[0].player}, "
                f"and is rated {rows[0].rating - offer['rating']:.0f} points lower."
            )
    told = [row for row in rows if row.rank_range is not None and row.rank_range[0] == row.rank_range[1]]
    yield f"{decided:,} matches were decided; {len(told)} of {len(rows)} players have a rank of their own."


def cheapest(rows: Sequence[Row]) -> Row | None:
    """The row with the least cost per match; None where one is unknown or they are all the same."""
    costs = [row.cost_per_match for row in rows if row.cost_per_match is not None]
    if len(costs) < len(rows) or len(set(costs)) < 2:
        return None
    return min(rows, key=lambda row: row.cost_per_match or 0.0)


def _names(rows: Sequence[Row]) -> str:
    names = [row.player for row in rows]
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _asset(name: str) -> str:
    return resources.files("peerage.site").joinpath("assets", name).read_text("utf-8")
