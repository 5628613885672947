"""The leaderboard, whole or of one topic, game or source, of each track: the first page and its sisters."""

from __future__ import annotations

from collections.abc import Iterator

from peerage.render.blocks import Link
from peerage.site.addresses import slug
from peerage.site.cards import rated
from peerage.site.reading import Site
from peerage.site.rendering import PageView
from peerage.views.arena.leaderboard import Filter, filters, leaderboard
from peerage.views.leaderboard.tracks import METHODS


def address(site: Site, wanted: Filter) -> str:
    """Return where a leaderboard stands."""
    kind, name = wanted.part
    if name:
        return f"leaderboard/{wanted.track}/{kind}-{slug(name)}.html"
    return "index.html" if wanted.track == site.track else f"leaderboard/{wanted.track}.html"


def paths(site: Site) -> Iterator[str]:
    yield from (address(site, wanted) for wanted in filters(site))


def view(site: Site, path: str) -> PageView | None:
    if path != "index.html" and not path.startswith("leaderboard/"):
        return None
    of = wanted(site, path)
    return None if of is None else _page(site, of)


def wanted(site: Site, path: str) -> Filter | None:
    """Return what the leaderboard at `path` is of; None where none is."""
    return next((one for one in filters(site) if address(site, one) == path), None)


def of_part(site: Site, kind: str, name: str, root: str) -> str | None:
    """The address of the leaderboard of one game or topic, where there is one."""
    return next((f"{root}{address(site, one)}" for one in filters(site) if one.part == (kind, name)), None)


def _page(site: Site, wanted: Filter) -> PageView:
    name, found = wanted.part[1], site.board(*wanted)
    track = "" if wanted.track == site.track else METHODS[wanted.track].name
    title = " · ".join(filter(None, ("Leaderboard", name, track)))
    picture = [Link("a picture to share", ("view", "index.png"))] if site.url or site.menu else []
    blocks = leaderboard(site, wanted, lambda other: ("view", address(site, other)), picture)
    return PageView(
        title, "index.html", blocks, heads=not name, says=found.verdict.lines, card=rated(found.rows)
    )
