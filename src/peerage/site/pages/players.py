"""A page for each player, and the table of who beat whom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal

from peerage.engine.record.registration import only_judging
from peerage.game.blocks import Heading, Sentence
from peerage.reading.scope import ScopeError
from peerage.render.blocks import Choices, Figure, Link, Links, ViewBlock
from peerage.site.addresses import player_page, slug
from peerage.site.reading import Site
from peerage.site.rendering import PageView
from peerage.values.figures import listed, sentence, share_between
from peerage.values.texts import visible
from peerage.views.arena.charts import course, followed
from peerage.views.arena.tally import Field, Mine
from peerage.views.decision.compare import compare, compared
from peerage.views.leaderboard.notes import OF_MANY
from peerage.views.leaderboard.strengths import listed as listed_strengths
from peerage.views.leaderboard.tracks import METHODS
from peerage.views.player import Part, ratings, recent, records, roles, settings, standing
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
        return PageView(name, "index.html", _blocks(site, name))
    judge = next((one for one in _judging(site) if player_page(one) == path), None)
    return None if judge is None else _judge(site, judge)


def _judge(site: Site, name: str) -> PageView:
    blocks = [
        Heading(name, 1),
        Sentence(" · ".join(["Only judges", *_about(name, site.cards.get(name, {}))]), "quiet"),
        *roles(name, site.stats, site.judges, plays=False),
        Sentence("It has no rating, since it never plays.", "quiet"),
        Links([Link("All judges", ("view", "judges.html"))]),
    ]
    return PageView(name, "judges.html", blocks)


def _about(name: str, card: Mapping[str, Any]) -> Iterator[str]:
    """Yield model and family of a player, where its name does not say them."""
    model, family = card.get("model") or name, card.get("family")
    if model != name:
        yield model
    if family and family not in (name, model):
        yield f"family {family}"


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
        blocks.insert(0, Choices(("view", COMPARE), fields, "Compare"))
    others = [(at, pair) for at, pair in pairs(site).items() if pair != (a, b)]
    if others:
        links = [Link(f"{one} or {other}", ("view", at)) for at, (one, other) in others]
        blocks += [Heading("Other pairs"), Links(links)]
    return PageView(title, "index.html", [Heading(title, 1), *blocks])


def _blocks(site: Site, name: str) -> Iterator[ViewBlock]:
    board, mine = site.board(), site.tally.players.get(name, Mine())
    order = {other.player: place for place, other in enumerate(board.rows)}
    row = board.rows[order[name]]
    yield Heading(name, 1)
    if about := [*_about(name, {"model": row.model, "family": row.family})]:
        yield Sentence(" · ".join(about), "quiet")
    if versions := _versions(site, name):
        yield Sentence("Other versions of this player, each rated by its own matches:", "quiet")
        yield Links([Link(one, ("player", one)) for one in versions])
    models = site.models.get(name, [])
    marks = [(one.match, one.in_words) for one in models if one.before]
    if marks:
        named = [visible(f"F{one.in_words[1:]}.") for one in models[1:]]
        yield Sentence(" ".join([*named, "The rating counts all its matches."]))
    elif models and models[0].model not in row.model:  # its settings do not say it already
        yield Sentence(visible(f"F{models[0].in_words[1:]}."), "quiet")
    yield standing(board, row)
    if strengths := [row for row in site.profiles if row.player == name and row.rank]:
        yield Heading("Strength in each game")
        yield listed_strengths("game", strengths)
    yield from _charts(site, name, marks)
    yield Heading("Ratings")
    yield ratings([one for track in site.tracks for one in site.table(track) if one.player == name])
    if row.above:
        yield Sentence(f"Proven to be better than {listed(row.above)}.", "quiet")
    against = sorted(mine.against.items(), key=lambda pair: order.get(pair[0], len(order)))
    if against:
        yield Heading("Against each opponent")
        yield records("opponent", [Part(other, one) for other, one in against])
    of_many = next((note for note in board.notes if note == OF_MANY), "")
    kinds: tuple[tuple[Literal["game", "topic"], Mapping[str, Field]], ...]
    kinds = ("game", mine.games), ("topic", mine.topics)
    for kind, fields in kinds:
        if len(fields) > 1 or (kind == "topic" and any(fields)):
            accuracies = _accuracies(site, name) if kind == "topic" else {}
            most = sorted(fields.items(), key=lambda pair: (-pair[1].record.matches, pair[0]))
            parts = [Part(of, one.record, one.cost_per_match, accuracies.get(of)) for of, one in most]
            yield Heading(f"By {kind}")
            yield records(kind, parts, of_many=of_many, in_dollars=board.in_dollars)
    yield from roles(name, site.stats, plays=True)
    if mine.recent:
        yield Heading("Recent matches")
        yield recent(mine.recent[::-1])
    if card := _card(site, name):
        yield Heading("Settings on record")
        yield settings(card)


def _charts(site: Site, name: str, marks: Sequence[tuple[int, str]]) -> Iterator[Figure]:
    points = course(site, site.track, (name,))
    if len(points) > 1:
        yield Figure(
            kind="course",
            title="Rating over the matches",
            about=f"{METHODS[site.track].curve} after so many matches, with its 95% band."
            + " Dashed: its provider names another model." * bool(marks),
            rows=points,
            columns=followed(site.track),
            name=f"course-{site.track}",
            options={"names": [name], "what": METHODS[site.track].curve, "marks": marks},
        )


def _accuracies(site: Site, name: str) -> dict[str, str]:
    """A player's accuracy by category, in words."""
    found = {
        category: part.accuracies.get(name) for category, part in site.board().credits.by_category.items()
    }
    return {
        category: share_between(one.accuracy, one.lower, one.upper)
        for category, one in found.items()
        if one is not None
    }


def _card(site: Site, name: str) -> Mapping[str, Any]:
    """What is on record about a player: its model and settings, without what it left at its default."""
    card = site.cards.get(name, {})
    hidden = {"name", "identity", "price_known"}
    if card.get("price_source") == card.get("pricing_source"):
        hidden.add("price_source")
    return {
        key: value for key, value in card.items() if value not in (None, "", {}, []) and key not in hidden
    }


def _versions(site: Site, name: str) -> list[str]:
    """The other versions of a player, the first one first."""
    cards = site.cards
    line = cards.get(name, {}).get("versions_of", name)
    rated = {row.player for row in site.table()}
    same = [one for one, card in cards.items() if card.get("versions_of", one) == line]
    return [one for one in same if one != name and one in rated]
