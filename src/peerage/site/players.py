"""A page for each player, and the table of who beat whom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from peerage.blocks import Column, Figure, Heading, Link, Links, Sentence, ViewBlock, numbers, texts
from peerage.engine.model_watch import Change
from peerage.engine.registration import only_judging
from peerage.figures import share_between, whole
from peerage.protocol import visible
from peerage.reading.played import ScopeError
from peerage.site.addresses import player_page, slug
from peerage.site.board_charts import course, drawn, followed, in_tenths, of_mu
from peerage.site.leaderboards import address, filters
from peerage.site.reading import Site
from peerage.site.rendering import View
from peerage.site.tally import Field, Mine, Record
from peerage.tables.compare import compare
from peerage.tables.notes import OF_MANY
from peerage.tables.overall import WHOLE
from peerage.tables.row import Row
from peerage.tables.speed import FEW, NEWEST
from peerage.tables.tracks import NAMES
from peerage.views.players import head_to_head

COMPARE = "compare"
"""Where a server compares two players: `compare?a=NAME&b=NAME`."""
STRENGTH = (
    *texts(game="Game"),
    *numbers("{:.1f}%".format, share="Share of wins"),
    Column("interval", "95%", number=True, value=lambda row: f"{row['low']:.1f} – {row['high']:.1f}"),
    *numbers(whole, rank="Rank", matches="Matches"),
)
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


def view(site: Site, path: str) -> View | None:
    if path.startswith(f"{COMPARE}/"):
        pair = pairs(site).get(path)
        return compare_page(site, dict(zip("ab", pair, strict=True))) if pair else None
    if not path.startswith("players/"):
        return None
    name = next((row.player for row in site.table() if player_page(row.player) == path), None)
    if name is not None:
        return _player(site, name)
    judge = next((one for one in _judging(site) if player_page(one) == path), None)
    return None if judge is None else _judge(site, judge)


def _judge(site: Site, name: str) -> View:
    values = {
        "name": name,
        "card": site.cards.get(name, {}),
        "stats": next((one for one in site.stats.players if one.player == name), None),
        "judge": next((one for one in site.stats.judges if one.player == name), None),
        "held": next((one for one in site.judges.judges if one.judge == name), None),
    }
    return View("judge.html", name, values, "judges.html")


def head_to_head_page(site: Site) -> View:
    names = [row.player for row in site.table() if row.rank is not None]
    return View(
        "view.html", "Head-to-head", {"blocks": [*_head_to_head(site, names)], "heads": True}, "index.html"
    )


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


def compare_page(site: Site, query: Mapping[str, str]) -> View:
    """Two players, named `a` and `b` in a query, next to each other; the first two where none are named."""
    names = [row.player for row in site.table() if row.rank is not None]
    a, b = (query.get(key, "") for key in ("a", "b"))
    found, why = None, ""
    if len(names) > 1 and not (a or b):
        a, b = names[:2]
    try:
        found = compare(site.board(), site.decided, a, b, site.speeds) if names else None
    except ScopeError as error:
        why = str(error)
    values: dict[str, Any] = {
        "names": names,
        "a": a,
        "b": b,
        "found": found,
        "why": why,
        "tenths": in_tenths(site.track),
    }
    values |= {"few": FEW, "newest": NEWEST}
    title = f"{a} or {b}" if found else "Compare"
    return View("compare.html", title, {**values, "pairs": pairs(site)}, "index.html")


def same(named: Change, row: Row) -> bool:
    """Whether the model that a provider named is what the player is said to be anyway, as a house player."""
    return named.model in row.model.partition(":")


def _player(site: Site, name: str) -> View:
    rows = {
        track: next((row for row in site.table(track) if row.player == name), None) for track in site.tracks
    }
    row = rows[site.track]
    assert row is not None
    order = {other.player: place for place, other in enumerate(site.table())}
    mine = site.tally.players.get(name, Mine())
    against = sorted(mine.against.items(), key=lambda pair: order.get(pair[0], len(order)))
    points = course(site, site.track, (name,))
    models = site.models.get(name, [])
    marks = [(one.match, one.in_words) for one in models if one.before]
    if not marks:  # what its settings say already is not worth a line
        models = [one for one in models if one.model not in row.model]
    charts = []
    strengths = [one for one in site.profiles if one.player == name and one.rank]
    if strengths:
        shown = [
            {
                "game": one.game or WHOLE["game"],
                "share": round(one.share, 1),
                "low": round(one.lower, 1),
                "high": round(one.upper, 1),
                "rank": one.rank,
                "matches": one.matches,
            }
            for one in strengths
        ]
        about = "The share of wins, in percent, that it can expect against the others, with its 95% interval."
        charts.append(Figure("strength", "Strength in each game", about, shown, STRENGTH))
    if len(points) > 1:
        charts.append(
            Figure(
                kind="course",
                title="Rating over the matches",
                about=f"{drawn(site.track)} after so many matches, with its 95% band."
                + " Dashed: its provider names another model." * bool(marks),
                rows=points,
                columns=followed(site.track),
                name=f"course-{site.track}",
                options={"names": [name], "what": drawn(site.track), "marks": marks},
            )
        )
    return View(
        "player.html",
        name,
        {
            "name": name,
            "row": row,
            "rated": [
                (NAMES[track], of_mu(track), in_tenths(track), found)
                for track, found in rows.items()
                if found is not None
            ],
            "of_mu": of_mu(site.track),
            "of_many": next((note for note in site.board().notes if note == OF_MANY), ""),
            "tenths": in_tenths(site.track),
            "in_dollars": site.board().in_dollars,
            "against": against,
            "boards": {one.part: address(site, one) for one in filters(site) if one.part[1]},
            "topics": most_played(mine.topics),
            "games": most_played(mine.games),
            "accuracies": _accuracies(site, name),
            "stats": next((one for one in site.stats.players if one.player == name), None),
            "judge": next((one for one in site.stats.judges if one.player == name), None),
            "author": next((one for one in site.stats.authors if one.player == name), None),
            "card": _card(site, name),
            "versions": _versions(site, name),
            "models": [
                visible(f"F{one.in_words[1:]}") for one in models if len(models) > 1 or not same(one, row)
            ],
            "recent": mine.recent[::-1],
            "charts": charts,
        },
        "index.html",
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


def most_played(fields: Mapping[str, Field]) -> list[tuple[str, Record, float | None]]:
    """One player's record by topic or game, the most played first, with the mean cost of its play there."""
    most = sorted(fields.items(), key=lambda pair: (-pair[1].record.matches, pair[0]))
    return [(what, field.record, field.cost_per_match) for what, field in most]


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
