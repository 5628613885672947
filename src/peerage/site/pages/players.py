"""Pages of players: one each, who beat whom, and two compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from peerage.engine.record.registration import only_judging
from peerage.game.blocks import Heading, Sentence
from peerage.reading.scope import ScopeError
from peerage.render.blocks import ChoiceForm, Link, Links, ViewBlock
from peerage.site.addresses import pair_page, player_page, slug
from peerage.site.cards import CardRow, rated
from peerage.site.reading import Site
from peerage.site.rendering import PageView
from peerage.values.figures import sentence
from peerage.views.arena.player import in_a_sentence, judge, player
from peerage.views.decision.compare import compare, compared, shared
from peerage.views.players import head_to_head

SHARES = (
    "Each row's share of the points against each column; a cell leads to both compared. In a match of more "
    "than two, the better score wins. Few matches say little, which the ratings take into account."
)
COMPARE = "compare"
"""Where a server compares two players: `compare?a=NAME&b=NAME`."""


def paths(site: Site) -> Iterator[str]:
    yield from (player_page(row.player) for row in site.table())
    yield from map(player_page, _judging(site))
    yield from site.pairs


def _judging(site: Site) -> list[str]:
    """The names of those who only judge."""
    return sorted(only_judging(site.cards, site.settings))


def compares(site: Site, path: str) -> bool:
    """Return whether two players have a page at `path`; a server has one of any two."""
    return bool(site.menu) or path in site.pairs


def _pair(site: Site, path: str) -> dict[str, str] | None:
    """Return the players whose page is at `path`."""
    if path in site.pairs:
        return dict(zip("ab", site.pairs[path], strict=True))
    names = {slug(row.player): row.player for row in site.table()} if site.menu else {}
    _, *slugs = path.removesuffix(".html").split("/")
    known = [names[part] for part in slugs if part in names]
    return dict(zip("ab", known, strict=True)) if len(slugs) == len(known) == 2 else None


def view(site: Site, path: str) -> PageView | None:
    if path.startswith(f"{COMPARE}/"):
        pair = _pair(site, path)
        return compare_page(site, pair) if pair else None
    if not path.startswith("players/"):
        return None
    name = next((row.player for row in site.table() if player_page(row.player) == path), None)
    if name is not None:
        board = site.board()
        row = next(row for row in board.rows if row.player == name)
        says = [f"{name}: {in_a_sentence(board, row)}"]
        return PageView(name, "index.html", player(site, name), says=says, card=rated(board.rows, name))
    name = next((name for name in _judging(site) if player_page(name) == path), None)
    return None if name is None else PageView(name, "judges.html", judge(site, name))


def head_to_head_page(site: Site) -> PageView:
    names = [row.player for row in site.table() if row.rank is not None]
    return PageView("Head-to-head", "index.html", _head_to_head(site, names))


def _head_to_head(site: Site, names: Sequence[str]) -> Iterator[ViewBlock]:
    yield Heading(_ahead(site, names), 1, notes=(SHARES,))
    if not names:
        yield Sentence("There is no result yet.")
        return
    if site.menu and len(names) > 1:
        yield Links([Link("Compare two players", ("view", COMPARE))])
    yield head_to_head(names, site.met)


def _ahead(site: Site, names: Sequence[str]) -> str:
    """Return who has more than half the points against most of those whom they met."""
    rates = {name: [site.met(name, other).rate for other in names if other != name] for name in names}
    known = {name: [rate for rate in row if rate is not None] for name, row in rates.items()}
    wins = {name: sum(rate > 0.5 for rate in row) for name, row in known.items()}
    first = max(names, key=wins.__getitem__, default="")
    if not wins.get(first):
        return "Who beats whom"
    met = len(known[first])
    return f"{first} is ahead of {'all' if wins[first] == met else f'{wins[first]} of the'} {met} it met"


def compare_page(site: Site, query: Mapping[str, str]) -> PageView:
    """Two players, named `a` and `b` in a query, next to each other; the first two where none are named."""
    names = [row.player for row in site.table() if row.rank is not None]
    a, b = (query.get(key, "") for key in ("a", "b"))
    if len(names) > 1 and not (a or b):
        a, b = names[:2]
    title, blocks = "Compare", list[ViewBlock]([Heading("Compare", 1)])
    says, card = list[str](), list[CardRow]()
    try:
        if names:
            a, b = (site.meant(name, names) for name in (a, b))
            board, matches = site.board(), site.decided_by.get(a, ())
            found = compare(board, matches, a, b, site.speeds)
            blocks = [*compared(board, found, shared(site, board, matches, a, b))]
            title, says = f"{a} or {b}?", list(found.lines)
            card = rated([found.one, found.other])
        else:
            blocks.append(Sentence("There is no result yet, so there is nobody to compare."))
    except ScopeError as error:
        blocks.append(Sentence(sentence(str(error)), "bad"))
    if site.menu and names:
        fields = [("a", "One", names, a), ("b", "The other", names, b)]
        blocks.append(ChoiceForm(("view", COMPARE), fields, "Compare"))
    for name, known in ((a, b), (b, a)):
        links = [Link(other, ("pair", f"{name}\n{other}")) for other in names if other not in (a, b)]
        there = [link for link in links if compares(site, pair_page(*link.to[1].split("\n")))]
        if name in names and known in names and there:
            blocks.append(Links(there, f"Compare {name} with others"))
    return PageView(title, "index.html", blocks, heads=bool(says), says=says, card=card)
