"""The whole arena in one file to send to somebody: the verdict first, then the evidence.

The file needs nothing beside it. Its style sheet and its one script stand inside and are named by their
SHA-256 in its Content-Security-Policy, so that nothing else can run.
"""

from __future__ import annotations

from importlib import resources

from markupsafe import Markup

from peerage.engine.model_watch import changes
from peerage.protocol import visible
from peerage.site.board_charts import charts, in_tenths
from peerage.site.leaderboards import WIDTH, compared, last_time, lines, moves, shade
from peerage.site.reading import Site
from peerage.site.rendering import inline, render
from peerage.tables.tracks import NAMES

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
            "found": found,
            "verdict": site.verdict,
            "track": NAMES[site.track],
            "lines": lines(found, moves(site, site.track)),
            "since": last_time(site),
            "width": WIDTH,
            "tenths": in_tenths(site.track),
            "charts": list(charts(site, site.track, found)),
            "strengths": compared(site),
            "names": [row.player for row in ranked[:COMPARED]],
            "cell": site.met,
            "shade": shade,
            "measures": site.judges.measures,
            "favours": [pair for pair in site.judges.favours if pair.found],
            "voids": site.stats.voids,
            "models": [
                f"{row.player}: {visible(one.in_words)}"
                for row in ranked
                for one in models.get(row.player, [])
                if one.before
            ],
        },
    )


def _asset(name: str) -> str:
    return resources.files("peerage.site").joinpath("assets", name).read_text("utf-8")
