"""Matches: a page for each, `match/37.html`, whose steps have addresses, `#step-9`.

With the query of a list of matches a server shows the one before and the next one among those it lets pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from time import monotonic
from urllib.parse import urlencode

from msgspec.structs import replace

from peerage.ledger.topics.series import matches_of
from peerage.reading.match import Match
from peerage.render.blocks import ViewBlock
from peerage.site.addresses import BUNDLE, first_of, match_page, number_in
from peerage.site.cards import CardRow
from peerage.site.pages.match_list import FILTER, MATCHES, wanted_in
from peerage.site.reading import Site
from peerage.site.rendering import PageView
from peerage.values.figures import score
from peerage.views.match.finder import SEARCH_S, find
from peerage.views.match.match import transcript, view_of

RENDERED = 10_000
"""Matches up to which files show Markdown as it is meant; of more a server does."""
AS_WRITTEN = "Texts are shown as they were written; `peerage serve` renders their Markdown."


def paths(site: Site) -> Iterator[str]:
    yield from map(match_page, site.moment.numbers(1, site.number))


def view(site: Site, path: str) -> PageView | bytes | None:
    number = number_in(path, "match", ".html")
    if number is not None:
        found = site.moment.match(number, exchanges=False)
        place = site.moment.place(number) if found else 0
        return page_of(site, place, next(iter(site.matches(place, place)))) if found else None
    return None


def filtered(site: Site, path: str, query: Mapping[str, str]) -> PageView | None:
    """Return the page of a match; the one before and the next one are those that the filter in a query lets
    pass, which their addresses keep."""
    page, stated = view(site, path), {name: query[name] for name in FILTER if query.get(name)}
    if not isinstance(page, PageView) or not stated:
        return page if isinstance(page, PageView) else None
    wanted, place = wanted_in(site, stated), site.moment.place(number_in(path, "match", ".html") or 0)
    chances, began = site.board().chances, monotonic()

    def first(places: range) -> int:
        for at in places:
            row = site.summaries[at - 1]
            if find(site, [row], chances, wanted, 1).lines:
                return row.number
            if monotonic() - began > SEARCH_S:
                break
        return 0

    nearest = {"before": first(range(place - 1, 0, -1)), "after": first(range(place + 1, site.number + 1))}
    return page._replace(values={**page.values, **nearest, "query": f"?{urlencode(stated)}"})


def page_of(site: Site, place: int, match: Match) -> PageView:
    """Return the page of the match that was folded at a place."""
    series = tuple(matches_of(site.moment, match.fixture.series)) if match.fixture.series else ()
    shown = view_of(match, match.verdict, match.blocks, series, requests=False)
    entries = site.entries.get(match.number, ())
    proven = any(entry.position <= site.signed_to for entry in entries)
    numbers = site.moment.numbers(max(place - 1, 1), min(place + 1, site.number))
    at = numbers.index(match.number)
    told = transcript(
        shown,
        site.settings.rating.cost_unit.name,
        asked=match.asked,
        proof=f"proofs/{first_of(place, BUNDLE)}.jsonl" if proven else "",
    )
    if site.number > RENDERED and not site.menu:
        told = replace(told, plain=AS_WRITTEN)
    page = framed(
        shown.title,
        [told],
        shown.headline,
        before=numbers[at - 1] if at else 0,
        after=numbers[at + 1] if at + 1 < len(numbers) else 0,
    )
    scored = [(seat, match.outcome.scores.get(seat.label)) for seat in match.contestants]
    card = [
        CardRow(seat.player, score(got), marked=got == match.best) for seat, got in scored if got is not None
    ]
    return page._replace(card=card)


def framed(title: str = "", blocks: Sequence[ViewBlock] = (), says: str = " ", **values: int) -> PageView:
    """Return the page of a match; without anything the frame that all of them share."""
    return PageView(
        title,
        MATCHES,
        blocks,
        says=[says],
        template="match.html",
        values={"before": 0, "after": 0, "query": "", **values},
    )
