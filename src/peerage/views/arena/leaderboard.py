"""The leaderboard, whole or of one topic or game, of each track; and the results that others recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from peerage.engine.record.registration import stated
from peerage.game.blocks import Heading, Sentence, Target
from peerage.games import installed
from peerage.ledger.topics.outside import TOPIC
from peerage.ratings.table import ranks
from peerage.reading.scope import Scope
from peerage.render.blocks import Conclusion, Fold, Link, Links, Notes, ViewBlock
from peerage.settings import rules_of
from peerage.settings.players.weights import weights
from peerage.values.figures import counted, dollars, listed, whole
from peerage.views.arena.charts import charts, stops
from peerage.views.arena.tables import ArenaTables
from peerage.views.decision.decision import below
from peerage.views.leaderboard.board import Leaderboard, board
from peerage.views.leaderboard.columns import STAYED, Moved, table
from peerage.views.leaderboard.strengths import strengths
from peerage.views.leaderboard.tracks import METHODS, Track
from peerage.views.stats import outside as imported

OUTSIDE = "leaderboard/outside.html"


class Filter(NamedTuple):
    """What a leaderboard is of: a track, over one game, topic or side, or everything."""

    track: Track
    game: str = ""
    topic: str = ""
    side: str = ""

    @property
    def part(self) -> tuple[str, str]:
        """Return what of everything it is over, and its name; two empty texts for everything."""
        parts = (("game", self.game), ("topic", self.topic), ("side", self.side))
        return next((part for part in parts if part[1]), ("", ""))


def filters(arena: ArenaTables) -> Iterator[Filter]:
    """Every leaderboard there is: each track over everything; the first track by game, by topic and by side,
    where each game shows its own first."""
    yield from (Filter(track) for track in arena.tracks)
    everything = arena.board()
    if len(everything.games) > 1:
        yield from (Filter(arena.first_track(game), game) for game in everything.games)
    if len(everything.topics) > 1:
        yield from (Filter(arena.track, topic=topic) for topic in everything.topics if topic)
    yield from (Filter(arena.first_track(side=side), side=side) for side in everything.sides)


def leaderboard(
    arena: ArenaTables, wanted: Filter, at: Callable[[Filter], Target], more: Sequence[Link] = ()
) -> Iterator[ViewBlock]:
    """Yield the verdict, a table, its charts, and links `at` its sisters; `more` are links for everything."""
    found = arena.board(*wanted)
    name = wanted.part[1]
    everything, first = not name, wanted.track == arena.track
    verdict = arena.verdict if everything and first else found.verdict
    if name:
        yield Heading(name, 1)
    yield Conclusion(verdict.lines)
    if verdict.by_task:
        yield below(verdict)
        yield Heading("Ratings")
    if not arena.number:
        if has_outside(arena):
            yield Links([Link("The table of outside results", ("view", OUTSIDE))])
        else:
            yield Sentence("This page fills as matches end; `peerage run` plays them.")
    if found.rows:
        yield Sentence(_counted(found, wanted, arena), "quiet")
    others = [(other, at(other)) for other in filters(arena)]
    if name:
        yield Links([Link("All matches", ("view", "index.html"))])
    else:
        outside = [Link("Outside results", ("view", OUTSIDE))] if has_outside(arena) and arena.number else []
        tracks = [Link(METHODS[one.track].name, at, one == wanted) for one, at in others if not one.part[1]]
        yield Links([*tracks, *outside])
    parts = [(one, at) for one, at in others if one.part[1]]
    if parts:
        kinds = " or ".join(dict.fromkeys([one.part[0] for one, _ in parts]))
        yield Links(
            [
                Link(
                    one.part[1],
                    at,
                    one == wanted,
                    whole(found.topics.get(one.topic) or found.games.get(one.game)) if not one.side else "",
                )
                for one, at in parts
            ],
            f"By {kinds}{f': {name}' if name else ''}",
        )
    moved = Moved(moves(arena, wanted.track), last_time(arena)) if everything else STAYED
    if found.rows:
        yield table(found, moved=moved, weights=weights_of(arena))
    if everything:
        data = f"data/leaderboard-{wanted.track}"
        yield Links(
            [
                Link("Head-to-head", ("view", "head-to-head.html")),
                Link("CSV", ("file", f"{data}.csv")),
                Link("JSON", ("file", f"{data}.json")),
                *(more if first else ()),
                Link("How every number is made", ("view", "method.html")),
            ]
        )
        if arena.outlook:
            yield Fold("What it takes to be sure", [Notes(arena.outlook.lines)])
        if first:
            yield from strengths("game", arena.profiles) if arena.profiles else ()
            yield from strengths("topic", arena.by_topic) if arena.by_topic else ()
    yield from charts(arena, wanted.track, found, everything=everything)


def _counted(found: Leaderboard, wanted: Filter, arena: ArenaTables) -> str:
    """Return how many matches a table counts, among how many players, and what they cost."""
    name, rows = wanted.part[1], found.rows
    of_part = (found.topics | found.games).get(name) if name and not wanted.side else None
    decided = sum(found.games.values()) if of_part is None else of_part
    unknown, spent = any(row.cost_usd is None for row in rows), sum(row.cost_usd or 0.0 for row in rows)
    billed = f"; {dollars(spent)} billed" if spent else ", at an unknown cost" if unknown else ""
    if spent and unknown:
        billed += ", and calls of unknown cost"
    of = found.game or listed(list(found.games)) or arena.settings.game
    match = counted(decided, "decided match")
    return f"{match} of {of} among {counted(len(rows), 'player')}{billed}."


def judged(arena: ArenaTables) -> bool:
    """Return whether judges decide in one of the games that were played here: roles of their own, or
    contestants whose scores can be counted without some of them."""
    specs = [(installed(game), game) for game in arena.tally.games if game in arena.settings.lineup]
    return any(
        spec.judging.recounted
        or any(bench.role == "judge" for bench in spec.officials(rules_of(arena.settings, game)))
        for spec, game in specs
        if spec
    )


def has_outside(arena: ArenaTables) -> bool:
    """Return whether results that others recorded were imported."""
    return TOPIC in arena.moment.topics()


def outside(arena: ArenaTables) -> Leaderboard:
    """The table of the imported results alone."""
    return board(arena, "strength", Scope(source="outside"))


def outside_results(arena: ArenaTables) -> Iterator[ViewBlock]:
    """Yield the table of the imported results, and where they come from."""
    found = outside(arena)
    about = (
        "Results that others recorded and this arena imported. They were not played here, nobody can replay "
        "them from this ledger, and no other table counts them."
    )
    yield Heading("Outside results", 1)
    yield Conclusion(found.verdict.lines)
    yield Sentence(about)
    own = Link("The arena's own leaderboard", ("view", "index.html"))
    yield Links([own, Link("CSV", ("file", "data/outside.csv"))])
    yield replace(table(found), columns=[replace(one, link=None) for one in table(found).columns])
    yield Heading("Where they come from")
    yield imported.table(imported.listed(arena.moment))


def weights_of(arena: ArenaTables) -> dict[str, str]:
    """Whose weights are open and whose proprietary, as settings say, or for who left the ledger."""
    cards = {**arena.cards, **{one.name: stated(one) for one in arena.settings.players}}
    return {name: weights(card) for name, card in cards.items()}


def before(number: int) -> int:
    """The match after which "last time" was: a round one, at least a tenth of all matches ago."""
    return max([stop for stop in stops(number) if stop <= number * 9 // 10], default=0)


def last_time(arena: ArenaTables) -> str:
    """Since when ranks moved, in words; empty in a young arena."""
    return f"since match {before(arena.number):,}" if before(arena.number) else ""


def moves(arena: ArenaTables, track: Track) -> Mapping[str, int]:
    """Return how many ranks each player rose since match `before`, below zero: fell; newcomers have none."""
    then = arena.earlier(track, before(arena.number))
    had = dict(zip(then.players, ranks(then.rating), strict=True))
    return {
        row.player: had[row.player] - row.rank
        for row in arena.table(track)
        if row.rank is not None and row.player in had
    }
