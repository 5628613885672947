"""The leaderboard, whole or of one topic or game, of each track; and the results that others recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from peerage.engine.record.registration import stated
from peerage.game.blocks import Bar, Heading, Sentence, Target
from peerage.games import installed
from peerage.ledger import Summary
from peerage.ratings.table import ranks
from peerage.reading.results.outside import Outside
from peerage.reading.results.outside import in_words as results_in_words
from peerage.render.blocks import (
    Beside,
    Column,
    Conclusion,
    Figure,
    Link,
    Links,
    OtherViews,
    Rows,
    Section,
    ViewBlock,
)
from peerage.settings import rules_of
from peerage.settings.players.weights import weights
from peerage.standings.fold import NOBODY
from peerage.values.figures import counted, dollars, listed, whole
from peerage.views.arena.charts import charts, stops
from peerage.views.arena.tables import ArenaTables
from peerage.views.decision.decision import below
from peerage.views.leaderboard.board import Leaderboard
from peerage.views.leaderboard.columns import STAYED, Moved, table
from peerage.views.leaderboard.row import Row
from peerage.views.leaderboard.strengths import strengths
from peerage.views.leaderboard.tracks import METHODS, Track
from peerage.views.leaderboard.verdict import WEAKENS, Verdict
from peerage.views.match import finder
from peerage.views.plan.outlook import Outlook
from peerage.views.stats import outside as imported

SOURCES = {"all": "", "played": "Played here", "outside": "Outside results"}
"""Sources of results that there are tables of, and their names."""
NAMED = 3
"""Games that a sentence names at most."""
LOOKED_AT = 300
"""Newest matches among which one that split its judges is looked for."""


class Filter(NamedTuple):
    """The scope of a leaderboard: a track, over one game, topic, side or source of results, or everything."""

    track: Track
    game: str = ""
    topic: str = ""
    side: str = ""
    source: str = "all"

    @property
    def part(self) -> tuple[str, str]:
        """Return what of everything it is over, and its name; two empty texts for everything."""
        of = ("source", SOURCES[self.source])
        parts = (("game", self.game), ("topic", self.topic), ("side", self.side), of)
        return next((part for part in parts if part[1]), ("", ""))


def filters(arena: ArenaTables) -> Iterator[Filter]:
    """Every leaderboard there is: each track over everything; the first track by game, by topic, by side and
    by source, where each game shows its own first."""
    yield from (Filter(track) for track in arena.tracks)
    everything = arena.board()
    if len(everything.games) > 1:
        yield from (Filter(arena.first_track(game), game) for game in everything.games)
    if len(everything.topics) > 1:
        yield from (Filter(arena.track, topic=topic) for topic in everything.topics if topic)
    yield from (Filter(arena.first_track(side=side), side=side) for side in everything.sides)
    if arena.imported and arena.played.count:
        yield from (Filter(arena.first_track(source=of), source=of) for of in ("played", "outside"))


def leaderboard(
    arena: ArenaTables, wanted: Filter, at: Callable[[Filter], Target], more: Sequence[Link] = ()
) -> Iterator[ViewBlock]:
    """Yield the verdict, a table, its charts, and links `at` its sisters; `more` are links for everything."""
    found = arena.board(*wanted)
    name = wanted.part[1]
    everything, first = not name, wanted.track == arena.track
    home = everything and first
    verdict = arena.verdict if home else found.verdict
    if name:
        yield Heading(name, 1)
    alike = everything and found.verdict.outside == arena.board().verdict.outside
    yield from concluded(verdict, found.verdict, arena.outlook if alike else None)
    if verdict.by_task:
        yield below(verdict)
        yield Heading("Ratings")
    if not (arena.number or arena.imported):
        yield Sentence("This page fills as matches end; `peerage run` plays them.")
    drawn = [*map(captioned, charts(arena, wanted.track, found, everything=everything))]
    if found.rows:
        moved = Moved(moves(arena, wanted.track), last_time(arena)) if everything else STAYED
        ranking = [
            _others(arena, wanted, found, at),
            _compared(table(found, moved=moved, weights=weights_of(arena)), found),
            Sentence(_counted(found, wanted, arena), "quiet"),
        ]
        beside = [chart for chart in drawn[:1] if chart.kind == "frontier"]
        drawn = drawn[len(beside) :]
        yield Section("ranking", [Beside([group for group in (ranking, beside) if group])])
    if home:
        yield from strengths("game", arena.profiles) if arena.profiles else ()
        yield from strengths("topic", arena.by_topic) if arena.by_topic else ()
        if arena.decided and not verdict.by_task:
            yield from _telling(arena, found)
    yield from drawn
    if found.files and first:
        yield Heading("Where the outside results come from")
        yield Sentence(
            "Others recorded them. They were not played here, and nobody can replay them.", "quiet"
        )
        yield replace(imported.table(imported.listed(found.files)), title="")
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


def captioned(chart: Figure) -> Figure:
    """Return a chart with the first sentence of its caption in sight, the others behind a mark."""
    first, dot, more = chart.about.partition(". ")
    return replace(chart, about=first + dot.rstrip(), notes=[*chart.notes, more] if more else chart.notes)


def concluded(verdict: Verdict, alone: Verdict, ahead: Outlook | None) -> Iterator[ViewBlock]:
    """Yield the answer, the best value, how sure that is, and what speaks against it; the reasons as notes.
    `alone` is the same verdict without what is said of the owner's tasks."""
    first, *others = verdict.lines
    caveats = [*[line for line in others if line.startswith(WEAKENS)], *verdict.lines[len(alone.lines) :]]
    why = [line for line in others if line not in (verdict.worth, *caveats)]
    yield Conclusion([first, *filter(None, [verdict.worth])], [*why, *(ahead.lines if ahead else ())])
    if ahead and verdict.chance is not None and verdict.players > 1:
        yield Bar(_certainty(verdict, ahead), verdict.chance)
    if caveats:
        yield Sentence(" ".join(caveats), "quiet")


def _certainty(verdict: Verdict, ahead: Outlook) -> str:
    """Return how sure the pick is, and what it takes to be surer, after a percentage."""
    if verdict.proven_best:
        return "sure: this is proven"
    if ahead.clear.matches == 0:
        return "sure: the pick is clear"
    if ahead.left == 0:
        return "sure; all answers are compared: more tasks say more"
    make = "makes" if (ahead.clear.matches or ahead.clear.at_least) == 1 else "make"
    return f"sure; {ahead.clear.brief} {make} the pick clear"


def _others(
    arena: ArenaTables, wanted: Filter, found: Leaderboard, at: Callable[[Filter], Target]
) -> OtherViews:
    """Return the other tables: of other ratings, of games, topics and sides, of outside results."""
    kind, name = wanted.part
    every = "All results" if arena.imported else "All matches"
    whole_table = Link(every, ("view", "index.html"), not name)
    groups: dict[str, list[Link]] = {"Matches": [whole_table], "Rating": []}
    for other in filters(arena):
        of, part = other.part
        if part:
            counts = {"topic": found.topics, "game": found.games}.get(of, {})
            count = whole(counts[part]) if part in counts else ""
            groups.setdefault("Matches" if of == "source" else of.capitalize(), []).append(
                Link(part, at(other), other == wanted, count)
            )
        else:
            groups["Rating"].append(Link(METHODS[other.track].name, at(other), other == wanted))
    matches = f"{kind}: {name}" if kind not in ("", "source") else (name or every).lower()
    return OtherViews(f"{METHODS[wanted.track].name}, {matches}", [*groups.items()])


def _compared(block: Rows, found: Leaderboard) -> Rows:
    """Return a table with a link from each row to its comparison with the pick, of the pick with the next."""
    ranked = [row.player for row in found.rows if row.rank is not None]
    pick, level = found.verdict.pick, bool(found.verdict.level)
    if pick is None or len(ranked) < 2:
        return block
    rival = next(name for name in ranked if name != pick)

    def to(row: Row) -> Target:
        return "pair", f"{pick}\n{rival if row.player == pick else row.player}"

    def against(row: Row) -> str | None:
        if row.rank is None:
            return None
        return "compare" if level else "vs next" if row.player == pick else "vs pick"

    compare = Column("compare", "Compare", value=against, link=to, spare=1)
    return replace(block, columns=[*block.columns, compare])


def _telling(arena: ArenaTables, found: Leaderboard) -> Iterator[ViewBlock]:
    """Yield the greatest upset, a match on which judges were split, and the newest one."""
    rows, chances = arena.decided, found.chances

    def chance(row: Summary) -> float:
        return finder.expected(row, row.players[row.scores.index(max(row.scores))], chances)

    upsets = [row for row in rows if "upset" in finder.notable(row, chances)]
    upset = min(upsets, key=lambda row: (chance(row), -row.number), default=None)
    told: dict[int, str] = {upset.number: "greatest upset"} if upset else {}
    if judged(arena):
        recent = rows[-LOOKED_AT:]
        split = finder.find(arena, recent, chances, finder.MatchFilter(only="split"), most=1).lines
        told |= {line.number: "split judges" for line in split if line.number not in told}
    told.setdefault(rows[-1].number, "newest")
    by_number = {row.number: row for row in rows if row.number in told}
    lines = [
        replace(finder.line_of(arena.match(number), by_number[number], ()), notable=(why,))
        for number, why in told.items()
    ]
    block = finder.table(lines)
    kept = [column for column in block.columns if column.key in ("result", "panel")]
    shown = replace(block, columns=kept, name="telling matches")
    yield Section("matches", [Heading("Telling matches"), shown])


def _counted(found: Leaderboard, wanted: Filter, arena: ArenaTables) -> str:
    """Return how many results a table counts, among how many players, and what they cost."""
    name, rows = wanted.part[1], found.rows
    of_part = (found.topics | found.games).get(name) if wanted.topic or wanted.game else None
    decided = sum(found.games.values()) if of_part is None else of_part
    unknown = any(row.cost_usd is None and row.status != "outside" for row in rows)
    spent = sum(row.cost_usd or 0.0 for row in rows)
    billed = f"; {dollars(spent)} billed" if spent else ", at an unknown cost" if unknown else ""
    if spent and unknown:
        billed += ", and calls of unknown cost"
    games = [found.game] if found.game else [*found.games] or [arena.settings.game]
    of = listed(games) if len(games) <= NAMED else counted(len(games), "game")
    decided = found.verdict.matches if (outside := found.verdict.outside) else decided
    matches = results_in_words({**outside, "decided match": decided})
    matches += "" if outside and not decided else f" of {of}"
    return f"{matches} among {counted(len(rows), 'player')}{billed}."


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
    number, outside = before(arena.number), arena.outside()
    if not number:
        return {}
    if outside and METHODS[track].outside:
        then = METHODS[track].rate(Outside(outside.files, arena.played.until(number)), arena.rating, NOBODY)
    else:
        then = arena.earlier(track, number)
    had = dict(zip(then.players, ranks(then.rating), strict=True))
    return {
        row.player: had[row.player] - row.rank
        for row in arena.table(track)
        if row.rank is not None and row.player in had
    }
