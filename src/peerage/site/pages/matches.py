"""Transcripts: twenty matches to a page, each with an address of its own, `matches/21.html#m37`.

With an address to one match the page shows that match alone (`:target` in the style sheet), so it reads like
a page of its own, without a script; an arena of 100,000 matches stays 5,000 files.
"""

from __future__ import annotations

from collections.abc import Iterator

from peerage.ledger.topics.series import matches_of
from peerage.reading.match import Match
from peerage.render.blocks import Transcript
from peerage.site.addresses import BUNDLE, first_of, number_in
from peerage.site.reading import Site
from peerage.site.rendering import PageView
from peerage.views.arena.leaderboard import judged
from peerage.views.match.match import transcript, view_of


def paths(site: Site) -> Iterator[str]:
    yield from (f"matches/{first}.html" for first in range(1, site.number + 1, BUNDLE))


def view(site: Site, path: str) -> PageView | bytes | None:
    first = number_in(path, "matches", ".html")
    if first is not None and first == first_of(first, BUNDLE) and first <= site.number:
        return _bundle(site, first)
    return None


def _bundle(site: Site, first: int) -> PageView:
    last = min(first + BUNDLE - 1, site.number)
    unit = site.settings.rating.cost_unit.name

    def told(match: Match) -> Transcript:
        series = tuple(matches_of(site.moment, match.fixture.series)) if match.fixture.series else ()
        view = view_of(match, match.verdict, match.blocks, series, requests=False)
        proven = any(entry.position <= site.signed_to for entry in site.entries.get(match.number, ()))
        proof = f"proofs/{first}.jsonl" if proven else ""
        return transcript(view, unit, asked=match.asked, proof=proof)

    title = f"Matches {first} to {last}" if last > first else f"Match {first}"
    values = {"first": first, "last": last, "size": BUNDLE, "judged": judged(site)}
    shown = map(told, site.matches(first, last))
    return PageView(title, "matches.html", shown, template="match.html", values=values)
