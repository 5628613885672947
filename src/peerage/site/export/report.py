"""The whole arena in one file to send to somebody: the verdict first, then the evidence.

The file needs nothing beside it. Its style sheet and its one script stand inside and are named by their
SHA-256 in its Content-Security-Policy, so that nothing else can run.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from importlib import resources

from markupsafe import Markup

from peerage.game.blocks import Heading, Sentence, Target
from peerage.ledger import Ledger
from peerage.reading.match import in_words
from peerage.reading.results.outside import in_words as results_in_words
from peerage.render.blocks import Facts, Figure, LoneFigure, Notes, Rows, Section, ViewBlock
from peerage.render.html.writer import Html
from peerage.site.pages.media import TYPES, body_of
from peerage.site.reading import Site
from peerage.site.rendering import inline, render
from peerage.values.figures import measured, whole
from peerage.views.arena.charts import charts
from peerage.views.arena.leaderboard import captioned, concluded, last_time, moves
from peerage.views.decision.decision import below
from peerage.views.judges.measures import Measure
from peerage.views.leaderboard.board import Leaderboard
from peerage.views.leaderboard.columns import Moved, table
from peerage.views.leaderboard.strengths import strengths
from peerage.views.players import head_to_head

ON_A_PAGE = 14
"""Rows of the table that a printed page holds with cost against quality."""
LARGEST, EMBEDDED = 500_000, 5_000_000
"""Bytes of a picture or sound in the file, and of all of them together; words stand for others."""
COMPARED = 12
"""Players in the table of who beat whom."""


def report(site: Site) -> bytes:
    """The report as an HTML document. Raises LedgerError."""
    media = _Embedded(site.ledger)
    found, html = site.board(), Html(media.href, names=site.names)
    drawn = [*map(captioned, charts(site, site.track, found))]
    style, script = (_asset(name) for name in ("site.css", "site.js"))
    top, evidence = html.blocks(_first_page(site, found, drawn)), html.blocks(_evidence(site, found, drawn))
    return render(
        "report.html",
        {
            "site": site,
            "policy": f"default-src 'none'; base-uri 'none'; "
            f"style-src {inline(style)}; script-src {inline(script)}{media.policy}",
            "style": Markup(style),
            "script": Markup(script),
            "verdict": site.verdict,
            "top": Markup(top),
            "evidence": Markup(evidence),
        },
    )


class _Embedded:
    """Small pictures and sounds within the file; `policy` allows them where there are any."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._left = EMBEDDED
        self.policy = ""

    def href(self, to: Target) -> str | None:
        """Return a data URL of a picture or sound; None where it is too large."""
        body = body_of(self._ledger, to[1]) if to[0] == "media" else None
        if body is None:
            return "" if to[0] == "media" else None
        if len(body) > min(LARGEST, self._left):
            return None
        self._left -= len(body)
        self.policy = "; img-src data:; media-src data:"
        return f"data:{TYPES[to[1].rpartition('.')[2]]};base64,{b64encode(body).decode()}"


def _first_page(site: Site, found: Leaderboard, drawn: Sequence[Figure]) -> Iterator[ViewBlock]:
    """Yield what one printed page holds: the answer, how sure it is, and of the owner's tasks the decision,
    else the table and cost against quality, which stands first where the table needs pages of its own."""
    yield from concluded(site.verdict, found.verdict, site.outlook)
    if site.verdict.by_task:
        yield below(site.verdict)
    elif found.rows:
        frontier = [chart for chart in drawn if chart.kind == "frontier"][:1]
        parts = [_table(site, found), *frontier]
        yield Section("ranking", parts if len(found.rows) <= ON_A_PAGE else parts[::-1])


def _table(site: Site, found: Leaderboard) -> Rows:
    return table(found, moved=Moved(moves(site, site.track), last_time(site)))


def _evidence(site: Site, found: Leaderboard, drawn: Sequence[Figure]) -> Iterator[ViewBlock]:
    """Yield everything below the first page: ratings, charts, who beat whom, judges, how it was measured."""
    names = [row.player for row in found.rows if row.rank is not None]
    if site.verdict.by_task:
        yield Heading("Ratings")
        yield _table(site, found)
    yield from strengths("game", site.profiles) if site.profiles else ()
    yield from strengths("topic", site.by_topic) if site.by_topic else ()
    yield from (chart for chart in drawn if site.verdict.by_task or chart.kind != "frontier")
    if len(names) > 1:
        yield Heading(f"Head-to-head{f', the first {COMPARED}' if len(names) > COMPARED else ''}")
        yield head_to_head(names[:COMPARED], site.met)
    if site.judges.measures:
        yield Heading("Can the judges be trusted?")
        yield Facts([_fact(one) for one in site.judges.measures])
        favours = [
            f"{pair.judge} rates {pair.author} {'higher' if pair.excess > 0 else 'lower'} than chance and "
            "taste explain."
            for pair in site.judges.favours
            if pair.found
        ]
        yield Sentence(" ".join(favours) or "No judge rates an author higher than chance and taste explain.")
    yield Heading("How it was measured")
    yield Notes([*_how(site, names)], names)


def _fact(one: Measure) -> LoneFigure:
    bounds = "" if one.lower is None or one.upper is None else f"{one.lower:.2f} to {one.upper:.2f}; "
    return LoneFigure(one.measure.replace("_", " ").capitalize(), measured(one.value), f"{bounds}{one.about}")


def _how(site: Site, names: Sequence[str]) -> Iterator[str]:
    for player, found in site.models.items():
        for one in found:
            if one.before and player in names:
                yield f"{player}: {one.in_words}; the rating counts all its matches."
    if voids := site.stats.voids:
        counts = "; ".join(f"{whole(number)}: {in_words(reason)}" for reason, number in voids.items())
        yield f"Matches without a result, not counted: {counts}."
    yield (
        f"Every number follows from the ledger of {results_in_words(site.results(site.number))}, head "
        f"`{site.chain}`; with the ledger, `peerage verify` and `peerage replay` check it."
    )


def _asset(name: str) -> str:
    return resources.files("peerage.site").joinpath("assets", name).read_text("utf-8")
