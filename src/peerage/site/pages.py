"""From a path to the bytes of a page: what the server answers and the export writes.

    page(site, "matches/21.html")    the transcripts of matches 21 to 40

Addresses in pages are relative, so that they hold on any host, under any prefix, and in a plain folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from importlib.resources import files
from typing import NamedTuple

from peerage.site import leaderboards, matches
from peerage.site.reading import Site
from peerage.site.rendering import View, render

HTML = "text/html; charset=utf-8"
TYPES = {
    "html": HTML,
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
}

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'"
)
"""The Content-Security-Policy of every page: no script but ours, nothing inline, nothing from elsewhere."""


class Page(NamedTuple):
    """What stands at a path. `etag` is a digest of the body."""

    body: bytes
    content_type: str
    etag: str


def page(site: Site, path: str) -> Page | None:
    """What stands at `path` (no leading slash; empty is the first page); None when nothing does."""
    path = path or "index.html"
    kind = TYPES.get(path.rpartition(".")[2])
    body = None if kind is None else _asset(path) if path.startswith("assets/") else _made(site, path)
    return None if body is None or kind is None else Page(body, kind, sha256(body).hexdigest()[:32])


def paths(site: Site) -> Iterator[str]:
    """Every path at which something stands."""
    yield "index.html"
    yield from leaderboards.paths(site)
    yield from matches.paths(site)
    yield from (f"assets/{name}" for name in ASSETS)


MENU = (
    ("index.html", "Leaderboard"),
    ("matches.html", "Matches"),
)

ASSETS = ("site.css", "site.js")


def _asset(path: str) -> bytes | None:
    name = path.removeprefix("assets/")
    return files("peerage.site").joinpath("assets", name).read_bytes() if name in ASSETS else None


def _made(site: Site, path: str) -> bytes | None:
    for view in (leaderboards.view, matches.view):
        found = view(site, path)
        if found is not None:
            return document(site, path, found)
    return None


def document(site: Site, path: str, view: View) -> bytes:
    """A view inside the frame that all pages share: head, menu, foot."""
    return render(
        view.template,
        {
            "site": site,
            "policy": POLICY,
            "menu": (*MENU, *site.menu),
            "root": "../" * path.count("/"),
            "title": view.title,
            "here": view.here,
            **view.values,
        },
    )
