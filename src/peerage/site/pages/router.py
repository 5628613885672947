"""From a path to the bytes of a page: what the server answers and the export writes.

    page(site, "match/21.html")    match 21, from the question to the result

Addresses in pages are relative, so that they hold on any host, under any prefix, and in a plain folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib import resources
from typing import NamedTuple

from markupsafe import Markup

from peerage.game.blocks import Target
from peerage.judging.measures.corrections import CORRECTIONS
from peerage.reading.scope import ScopeError
from peerage.render.blocks import Beside, Figure, Section, ViewBlock
from peerage.render.charts import pictured
from peerage.render.html.writer import Html
from peerage.site import cards
from peerage.site.addresses import match_page, pair_page, player_page, slug
from peerage.site.pages import downloads, files, leaderboards, match_list, matches, media, players, proofs
from peerage.site.reading import Menu, Site
from peerage.site.rendering import PageView, render
from peerage.values.figures import begun
from peerage.values.texts import visible
from peerage.views.arena.audience import audience, audience_blocks
from peerage.views.arena.challenges import challenges
from peerage.views.arena.charts import charts
from peerage.views.arena.costs import costs_and_gains
from peerage.views.arena.games import games
from peerage.views.arena.ledger import about_ledger
from peerage.views.arena.method import method
from peerage.views.judges.report import blocks as judges
from peerage.views.leaderboard.corrected import CorrectedRow, table

HTML = "text/html; charset=utf-8"
TYPES = {
    "html": HTML,
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
    "jsonl": "application/x-ndjson",
    **media.TYPES,
}

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'"
)
"""The Content-Security-Policy of every page: no script but ours, nothing inline, nothing from elsewhere."""


class Page(NamedTuple):
    """What stands at a path."""

    body: bytes
    content_type: str


def _judges(site: Site) -> Iterable[ViewBlock]:
    # First what needs nothing of what all matches tell, which may still be read.
    rows: list[CorrectedRow] = []
    with suppress(ScopeError):
        rows = site.corrected(CORRECTED)
    return judges(site.judges, [row.player for row in site.table()], table(rows))


def _ledger(site: Site) -> Iterable[ViewBlock]:
    return about_ledger(site, proofs.shown(site), downloads.offered(site))


CORRECTED = tuple([correction for correction in CORRECTIONS if correction != "style"])
"""What the page of judges corrects: style rests on the texts of answers, which are not read for it."""
VIEWS: Mapping[str, tuple[str, Callable[[Site], Iterable[ViewBlock]]]] = {
    "games.html": ("Games", games),
    "challenges.html": ("Challenges", challenges),
    "judges.html": ("Judges", _judges),
    "costs.html": ("Costs", costs_and_gains),
    "method.html": ("Method", method),
    "ledger.html": ("Ledger", _ledger),
}
"""Views of the whole arena that are pages, with their titles, in the order of the menu."""
MENU = (
    ("index.html", "Leaderboard"),
    ("matches.html", "Matches"),
    *[(path, title) for path, (title, _) in VIEWS.items()],
)

AUDIENCE = "audience.html"
"""Where people vote, or have voted, what they said."""

LESS = ("challenges.html", "method.html", "ledger.html", AUDIENCE)
"""Entries that stand behind the last one: on a phone the others fill two lines."""

ASSETS = ("icon.svg", "site.css", "site.js", "matches.js", "replay.js")
SERVED = ("live.css", "live.js", "seat.css", "seat.js")
"""What a server's pages load beside what all pages load."""

DESCRIBED = 200
"""Characters of a description, of which others show no more."""

NOT_FOUND = "404.html"
"""What a host shows at any address at which nothing is."""

HOME_CARD = "index.png"
"""The picture of the first page, which stands for pages that have none in a folder: one takes 50 ms."""

_PAGES: Mapping[str, Callable[[Site], PageView]] = {
    "head-to-head.html": players.head_to_head_page,
    match_list.MATCHES: match_list.index,
}
QUERIED: Mapping[str, Callable[[Site, Mapping[str, str]], PageView]] = {
    players.COMPARE: players.compare_page,
    match_list.MATCHES: match_list.index,
}
"""Pages that a server answers with a query."""
_ROOMS = (leaderboards, players, matches, files, proofs, media)


def page(site: Site, path: str) -> Page | None:
    """Return what stands at `path` (no leading slash; empty is the first page); None when nothing does."""
    path = path or "index.html"
    kind = TYPES.get(path.rpartition(".")[2])
    made = None if kind is None else body(site, path)
    return None if made is None or kind is None else Page(made, kind)


def paths(site: Site) -> Iterator[str]:
    """Every path at which something stands."""
    yield from (*_PAGES, *VIEWS)
    if _has_audience(site):
        yield AUDIENCE
    for room in (*_ROOMS, match_list):
        yield from room.paths(site)
    yield from (f"assets/{name}" for name in ASSETS)
    yield from (f"data/{figure.name}.svg" for figure in _drawn(_charts(site)))
    if site.url:
        yield from (NOT_FOUND, HOME_CARD)


def body(site: Site, path: str) -> bytes | None:
    """The bytes at `path`; None when nothing stands there."""
    if path.startswith("assets/"):
        return _asset(path.removeprefix("assets/"))
    if path.startswith(("data/", "players/")) and path.endswith((".svg", ".png")):
        drawn = _picture(site, path)
        if drawn is not None or path.startswith("data/"):
            return drawn
    if path.endswith(".png") and not path.startswith(media.FOLDER):
        view = _view(site, f"{path.removesuffix('png')}html")
        if not isinstance(view, PageView) or not view.says:
            return None
        rows = [row._replace(name=site.names.short(row.name)) for row in view.card]
        return cards.png(site.settings.name, site.names.in_text(view.says[0]), rows)
    view = _view(site, path)
    return document(site, path, view) if isinstance(view, PageView) else view


def _picture(site: Site, path: str) -> bytes | None:
    """Return the chart at `path`, as a picture of its own."""
    stem, _, kind = path.rpartition(".")
    page, _, name = stem.rpartition("." if path.startswith("players/") else "/")
    view = _view(site, f"{page}.html") if path.startswith("players/") else None
    blocks = view.blocks if isinstance(view, PageView) else _charts(site, name)
    drawn = next((figure for figure in _drawn(blocks) if figure.name == name), None)
    if drawn is None:
        return None
    svg = pictured(drawn, site.settings.name, site.names)
    return svg.encode("utf-8", "replace") if kind == "svg" else cards.png_of(svg)


def _drawn(blocks: Iterable[ViewBlock]) -> Iterator[Figure]:
    """Yield the charts among blocks and within them."""
    for block in blocks:
        if isinstance(block, Figure):
            yield block
        elif isinstance(block, Section):
            yield from _drawn(block.blocks)
        elif isinstance(block, Beside):
            for group in block.groups:
                yield from _drawn(group)


def _charts(site: Site, name: str = "") -> Iterator[ViewBlock]:
    """Yield what holds the charts of all tables and of costs; of one `name` those beside it."""
    if not name or name == "spending":
        yield from costs_and_gains(site)
    for track in site.tracks:
        if not name or name.endswith(f"-{track}"):
            yield from charts(site, track, site.board(track))


def _view(site: Site, path: str) -> PageView | bytes | None:
    """Return the view of the page at `path`, or the bytes of what is no page."""
    if site.url and path == NOT_FOUND:
        return missing("", root=site.url)
    if path == AUDIENCE and _has_audience(site):
        return _audience(site)
    if path in VIEWS:
        title, view = VIEWS[path]
        return PageView(title, path, view(site))
    if path in _PAGES:
        return _PAGES[path](site)
    if first := match_list.first_in(site, path):
        return match_list.shard(site, first, links(site, match_list.MATCHES))
    views = (room.view(site, path) for room in _ROOMS)
    return next((view for view in views if view is not None), None)


@cache
def _asset(name: str) -> bytes | None:
    there = name in (*ASSETS, *SERVED)
    return resources.files("peerage.site").joinpath("assets", name).read_bytes() if there else None


def menu(site: Site) -> Menu:
    """The entries of the menu; where all results are outside ones, without pages on matches."""
    main = MENU if site.number or not site.imported else (MENU[0], *MENU[-2:])
    return (*main, *[(AUDIENCE, "Audience")] * _has_audience(site), *site.menu)


def _has_audience(site: Site) -> bool:
    """Return whether people vote here, or have."""
    return bool(site.menu or site.votes.count())


def _audience(site: Site) -> PageView:
    found, peers = audience(site.ledger, site.votes.votes()), {row.player: row.rank for row in site.table()}
    return PageView("What the audience says", AUDIENCE, audience_blocks(found, peers))


def missing(path: str, match: tuple[int, str] | None = None, **values: str) -> PageView:
    """Return the page that is shown where nothing is; `match` and its page are what the reader may mean."""
    return PageView(
        "Nothing here", "", template="missing.html", values={"path": path, "match": match, **values}
    )


def described(site: Site, view: PageView) -> str:
    """Return what a page says beyond its title, for those who find it or are sent it."""
    if view.says:
        return begun(site.names.in_text(" ".join(view.says[1:]) or view.says[0]), DESCRIBED)
    about = "language models ranked by letting them play, every reply on record."
    return f"{view.title} of {site.settings.name}: {about}"


def links(site: Site, path: str) -> Html:
    """Return the writer of blocks into the page at `path`."""
    root = "../" * path.count("/")

    def href(to: Target) -> str | None:
        kind, name = to
        match kind:
            case "player":
                return f"{root}{player_page(name)}"
            case "pair":
                at = pair_page(*name.split("\n"))
                return f"{root}{at}" if players.compares(site, at) else None
            case "match":
                number, mark, query = name.partition("?")
                return f"{root}{match_page(int(number))}{mark}{query}"
            case "view" | "file":
                return f"{root}{name}"
            case "picture" if path.startswith("players/"):
                return f"{root}{path.removesuffix('html')}{name}" if site.menu else None
            case "picture":
                return f"{root}data/{name}" if site.menu or name.endswith(".svg") else None
            case "media":
                return f"{root}{media.FOLDER}{name}" if name.partition(".")[0] in site.media else ""
            case "game" | "topic":
                return leaderboards.of_part(site, kind, name, root)
            case _:
                return None

    return Html(href, slug, names=site.names)


def document(site: Site, path: str, view: PageView) -> bytes:
    """A view inside the frame that all pages share: head, menu, foot."""
    picture = f"{path.removesuffix('html')}png" if site.menu else HOME_CARD
    entitled = f"{view.title} · {site.settings.name}"
    html = links(site, path)
    return render(
        view.template,
        {
            "site": site,
            "match_page": match_page,
            "policy": POLICY,
            "menu": menu(site),
            "less": LESS,
            "headline": visible(site.names.in_text(view.says[0] if view.says else entitled)),
            "preview": site.url + picture if site.url and view.says else "",
            "permalink": site.url + path.removesuffix("index.html"),
            "root": "../" * path.count("/"),
            "title": site.names.in_text(view.title),
            "described": described(site, view),
            "here": view.here,
            "html": html,
            "content": Markup(html.blocks(view.blocks, heads=view.heads)),
            "follow": "",
            "script": "",
            **view.values,
        },
    )
