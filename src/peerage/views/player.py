"""One player: its ratings, whom it met and with which result, and what it was asked, judged and drafted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from msgspec.structs import replace

from peerage.game.blocks import Heading, Target
from peerage.ledger import Summary
from peerage.reading.match import in_words
from peerage.reading.results.tally import Record
from peerage.reading.speed import Speed
from peerage.render.blocks import Column, Facts, LoneFigure, Rows, Small, ViewBlock, as_facts, numbers
from peerage.values.figures import dollars, interval, percent, score, seconds, tenths, whole
from peerage.views.judges import one_by_one
from peerage.views.judges.report import JudgesReport
from peerage.views.leaderboard import columns as leaderboard
from peerage.views.leaderboard.board import Leaderboard
from peerage.views.leaderboard.columns import prices
from peerage.views.leaderboard.notes import OF_MANY
from peerage.views.leaderboard.row import Row
from peerage.views.leaderboard.tracks import METHODS
from peerage.views.stats.report import Stats, parts

_ELSEWHERE = ("rank", "above", "tier", "matches", "wins", "draws", "losses", "void", "cost_usd")
"""The columns of a leaderboard that a player's page says in other ways, or not."""
TALLIED = ("matches", "wins", "draws", "losses", "cost_usd", "possibly_usd")
"""The fields that a leaderboard has of a player too."""


class OpponentPart(NamedTuple):
    """A player's decided matches against one opponent, of one game or on one topic."""

    name: str
    record: Record
    cost_per_match: float | None = None
    accuracy: str | None = None


def standing(board: Leaderboard, row: Row, speed: Speed | None = None) -> Facts:
    """Return where a player is on a leaderboard, and how long its answers take."""
    block = leaderboard.table(board)
    plain = replace(block, columns=[replace(column, hint="") for column in block.columns])
    found = as_facts(plain, row, *_ELSEWHERE)
    more = [
        LoneFigure(
            "First – shared – other place" if OF_MANY in board.notes else "Won – drawn – lost",
            dashed((row.wins, row.draws, row.losses)),
        )
    ]
    more += [LoneFigure("Answer", seconds(speed.seconds), "median")] if speed else []
    billed = [LoneFigure("Billed", dollars(row.cost_usd))] if row.cost_usd else []
    return Facts([*found.facts, *more, *billed])


def ratings(rows: Sequence[Row]) -> Rows:
    """Return a player's lines on several tracks."""

    def middle(row: Row) -> str:
        return METHODS[row.track].write(row.middle)

    def between(row: Row) -> str | None:
        return interval(row.lower, row.upper, METHODS[row.track].write)

    def about(row: Row) -> Iterator[Small]:
        if ends := between(row):
            yield Small(ends, narrow=True)
        if row.track == "trueskill":
            yield Small(f"of μ; μ - 3σ: {tenths(row.rating)}")

    columns = [
        Column("track", "Track", lambda track: METHODS[track].name),
        *numbers(str, rank="Rank"),
        Column("rating", "Rating", number=True, value=middle, small=about),
        Column("interval", "95%", number=True, spare=1, value=between),
    ]
    return Rows(rows, columns, name="ratings")


def records(
    kind: Literal["opponent", "game", "topic"],
    rows: Sequence[OpponentPart],
    *,
    of_many: str = "",
    in_dollars: bool = True,
    of: str = "",
    results: str = "Matches",
) -> Rows:
    """Return a player's record against each opponent, by game or by topic; `of_many` says what it won where
    more than two meet, `of` whose record it is, which is compared with opponents; `results` heads their
    number."""

    def to(row: OpponentPart) -> Target:
        return "player" if kind == "opponent" else kind, row.name

    points = () if of_many else numbers(percent, rate="Points")
    columns = [
        Column("name", kind.capitalize(), lambda name: name or "none stated", link=to),
        *[
            replace(column, value=attrgetter(f"record.{column.key}"))
            for column in (*numbers(whole, matches=f"{results} ~1"), *points)
        ],
        *([Column("accuracy", "Accuracy", number=True)] if any(row.accuracy for row in rows) else ()),
        *(prices(in_dollars=in_dollars) if kind != "opponent" else ()),
        Column("record", "Won, drawn, lost", dashed, value=_results, draw="record"),
    ]
    if of:
        compare = Column("compare", "Compare", value=lambda _: "compare")
        columns.append(replace(compare, link=lambda row: ("pair", f"{of}\n{row.name}")))
    return Rows(rows, columns, notes=[of_many] if of_many else (), name=f"by {kind}")


def _results(row: OpponentPart) -> tuple[int, int, int]:
    return row.record.wins, row.record.draws, row.record.losses


def dashed(record: tuple[int, int, int]) -> str:
    """Return matches won, drawn and lost as `4–0–1`."""
    return "–".join(map(whole, record))


def roles(name: str, found: Stats, held: JudgesReport | None = None, *, plays: bool) -> Iterator[ViewBlock]:
    """Yield what a player was asked, and how it judges and drafts; `held` is the report on judges."""
    tables = {part.name: part for part in parts(found)}
    titles = {"players": "What it was asked", "judges": "As a judge", "authors": "As an author"}
    for part, title in titles.items():
        row = next((row for row in tables[part].rows if row.player == name), None)
        if row is not None:
            yield Heading(title)
            yield as_facts(tables[part], row, *(TALLIED if plays else ()))
    for judge in held.judges if held else ():
        if held and judge.judge == name:
            yield as_facts(one_by_one.table(held.judges), judge, "agreement", "flip_share", "first_share")


def met(match: Summary, most: int = 100) -> str:
    """Return who met, at most `most`, with scores, or of more than two with places, the first first."""
    many = len(match.players) > 2
    placed = placed_in(match.players, match.scores)
    told = [
        f"{place}. {who}" if place and many else f"{who} {score(got)}" if place else who
        for place, who, got in placed[:most]
    ]
    told += [f"{len(placed) - most} more"] * (len(placed) > most)
    return f"{' · '.join(told)}{'' if match.scores else f': {in_words(match.status)}'}"


def placed_in(players: Sequence[str], scores: Sequence[float]) -> list[tuple[int, str, float]]:
    """Return who met, the first first, with place and score of each. Without scores all have place 0."""
    if not scores:
        return [(0, player, 0.0) for player in players]
    best_first = sorted(scores, reverse=True)
    return sorted(
        [(1 + best_first.index(got), player, got) for player, got in zip(players, scores, strict=True)]
    )


def settings(values: Mapping[str, Any], title: str = "") -> Rows:
    """Return settings by name."""
    columns = [
        Column("name", "Setting", value=lambda pair: pair[0]),
        Column("value", "Value", value=lambda pair: stated(pair[1])),
    ]
    return Rows([*values.items()], columns, title=title, name="settings", sorts=False)


def stated(value: object) -> str:
    """Return a setting as people say it."""
    match value:
        case None:
            return "not set"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:,.10g}"
        case dict():
            return "; ".join([f"{key} {stated(one)}" for key, one in value.items()]) or "none"
        case list() | tuple():
            return ", ".join(map(stated, value)) or "none"
    return str(value)
