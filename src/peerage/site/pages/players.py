"""Pages of players: one each, who beat whom, and two compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from peerage.engine.record.registration import only_judging
from peerage.game.blocks import Heading, Sentence
from peerage.reading.scope import ScopeError
from peerage.render.blocks import ChoiceForm, Link, Links, ViewBlock
from peerage.site.addresses import player_page, slug
from peerage.site.reading import Site
from peerage.site.rendering import PageView
from peerage.values.figures import sentence
from peerage.views.arena.player import judge, player
from peerage.views.decision.compare import compare, compared
from peerage.views.players import head_to_head

COMPARE = "compare"
"""Where a server compares two players: `compare?a=NAME&b=NAME`."""
PAIRED = 6
"""The first players, each pair of whom has a page of its own on any site."""


def paths(site: Site) -> Iterator[str]:
    yield from (player_page(row.player) for row in site.table())
    yield from map(player_page, _judging(site))
    yield from pairs(site)


def _judging(site: Site) -> list[str]:
    """The names of those who only judge."""
    return sorted(only_judging(site.cards, site.settings))


def pairs(site: Site) -> dict[str, tuple[str, str]]:
    """Pairs of the first players, the better one first, by the page that compares them."""
    first = [row.player for row in site.table() if row.rank is not None][:PAIRED]
    return {f"{COMPARE}/{slug(a)}/{slug(b)}.html": (a, b) for a, b in combinations(first, 2)}


def view(site: Site, path: str) -> PageView | None:
    if path.startswith(f"{COMPARE}/"):
        pair = pairs(site).get(path)
        return compare_page(site, dict(zip("ab", pair, strict=True))) if pair else None
    if not path.startswith("players/"):
        return None
    name = next((row.player for row in site.table() if player_page(row.player) == path), None)
    if name is not None:
        return PageView(name, "index.html", player(site, name))
    name = next((name for name in _judging(site) if player_page(name) == path), None)
    return None if name is None else PageView(name, "judges.html", judge(site, name))


def head_to_head_page(site: Site) -> PageView:
    names = [row.player for row in site.table() if row.rank is not None]
    return PageView("Head-to-head", "index.html", _head_to_head(site, names))


def _head_to_head(site: Site, names: Sequence[str]) -> Iterator[ViewBlock]:
    yield Heading("Head-to-head", 1)
    if not names:
        yield Sentence("No match was decided yet.")
        return
    yield Sentence(
        "Each row's share of the points against each column. In a match of more than two, the better score "
        "wins. With few matches a share says little: the ratings take that into account."
    )
    if site.menu and len(names) > 1:
        yield Links([Link("Compare two players", ("view", COMPARE))])
    yield head_to_head(names, site.met)
    if found := pairs(site):
        yield Heading("Compared")
        yield Links([Link(f"{one} or {other}?", ("view", at)) for at, (one, other) in found.items()])


def compare_page(site: Site, query: Mapping[str, str]) -> PageView:
    """Two players, named `a` and `b` in a query, next to each other; the first two where none are named."""
    names = [row.player for row in site.table() if row.rank is not None]
    a, b = (query.get(key, "") for key in ("a", "b"))
    if len(names) > 1 and not (a or b):
        a, b = names[:2]
    title, blocks = "Compare", list[ViewBlock]()
    try:
        if names:
            blocks = [*compared(site.board(), compare(site.board(), site.decided, a, b, site.speeds))]
            title = f"{a} or {b}?"
        else:
            blocks = [Sentence("No match has been decided yet, so there is nobody to compare.")]
    except ScopeError as error:
        blocks = [Sentence(sentence(str(error)), "bad")]
    if site.menu and names:
        fields = [("a", "One", names, a), ("b", "The other", names, b)]
        blocks.insert(0, ChoiceForm(("view", COMPARE), fields, "Compare"))
    others = [(at, pair) for at, pair in pairs(site).items() if pair != (a, b)]
    if others:
        links = [Link(f"{one} or {other}", ("view", at)) for at, (one, other) in others]
        blocks += [Heading("Other pairs"), Links(links)]
    return PageView(title, "index.html", [Heading(title, 1), *blocks])
