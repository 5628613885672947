"""The leaderboard as people see it: the one declaration of its columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from peerage.game.blocks import Target
from peerage.render.blocks import Column, Rows, Small, numbers
from peerage.values.figures import chance, dollars, interval, rounded, signed, spans, whole
from peerage.views.leaderboard.board import Leaderboard
from peerage.views.leaderboard.notes import OF_MANY
from peerage.views.leaderboard.row import Row
from peerage.views.leaderboard.tracks import METHODS


class Moved(NamedTuple):
    """The ranks by which players rose (negative: fell) since the moment `since`; newcomers have none."""

    ranks: Mapping[str, int]
    since: str


STAYED = Moved({}, "")


def table(
    found: Leaderboard, title: str = "", moved: Moved = STAYED, weights: Mapping[str, str] = {}
) -> Rows:
    """Return the leaderboard's table. `weights` say whose weights are open and whose proprietary."""
    rows, track = found.rows, found.track
    many = OF_MANY in found.notes
    number = METHODS[track].write
    of_chances = any(row.best is not None for row in rows)
    priced = any(row.cost_per_match for row in rows)
    voids = found.verdict.matches or any(row.void for row in rows)
    columns = [
        Column("rank", "Rank", number=True, small=partial(_moved, moved)),
        Column("player", "Player", link=to_player, small=partial(_about, found)),
        *_ratings(found, number),
        *(accuracies() if found.checked else ()),
        *(_chances(found) if of_chances else ()),
        *numbers(whole, matches="Results" if found.verdict.outside else "Matches"),
        *_results(many=many),
        *([Column("void", "No result", whole, number=True, spare=7, page=False)] if voids else ()),
        *(prices(in_dollars=found.in_dollars) if priced else ()),
        *numbers(dollars, cost_usd="Billed ~5"),
        *(
            [
                Column(
                    "possibly_usd",
                    "Possibly",
                    dollars,
                    number=True,
                    spare=6,
                    hint="billed in addition at most, for calls that failed or stated no usage",
                )
            ]
            if any(row.possibly_usd for row in rows)
            else ()
        ),
        Column("weights", "Weights", value=lambda row: weights.get(row.player), pick="value", shown=False),
    ]
    notes = [f"Arrows: ranks gained or lost {moved.since}"] if any(moved.ranks.values()) else []
    return Rows(
        rows,
        columns,
        title=title,
        notes=notes,
        remarks=lambda row: [note for note in row.notes if note != OF_MANY],
        name="leaderboard",
        search=True,
        anchor=lambda row: row.player,
        above=lambda row: row.above,
        faint=lambda row: row.rank is None,
    )


def to_player(row: Row) -> Target:
    """Return where a row's player has its page."""
    return "player", row.player


def _moved(moved: Moved, row: Row) -> Iterator[Small]:
    if rose := moved.ranks.get(row.player, 0):
        yield Small(f"{'▲' if rose > 0 else '▼'}{abs(rose)}", "good" if rose > 0 else "bad")


def _about(found: Leaderboard, row: Row) -> Iterator[Small]:
    """Yield what stands under a player's name."""
    if row.model and row.model != row.player:
        yield Small(row.model)
    if row.rank is not None and row.bin:
        yield Small(f"{chance(row.best)} best: {choice(found.verdict.level, row)}", narrow=True)
    if row.status == "benched":
        yield Small("benched", "bad")
    elif row.withdrawn_after:
        yield Small(f"withdrawn after match {row.withdrawn_after:,}, then {whole(row.rating_then)}", "bad")
    elif row.status == "left":
        yield Small("no longer plays", "bad")
    elif row.status == "outside" and found.verdict.matches:
        yield Small("in outside results alone")


def choice(level: Collection[str], row: Row) -> str:
    """Return what a chance to be the best means for a choice: of those that are `level` nobody is picked."""
    return "level" if row.player in level else row.bin


def _bin(found: Leaderboard, row: Row) -> Iterator[Small]:
    if row.bin:
        yield Small(choice(found.verdict.level, row))


def _ratings(found: Leaderboard, number: Callable[[float | None], str]) -> Iterator[Column]:
    skill = found.track == "trueskill"

    def bounds(row: Row) -> tuple[float, float, float] | None:
        if row.rank is None or row.lower is None or row.upper is None or row.middle is None:
            return None
        return row.lower, row.middle, row.upper

    key, title = ("mu", "μ") if skill else ("rating", "Rating")
    if found.track == "overall":
        title = "Share of wins, %"

    def rated(row: Row) -> float | None:
        value: float | None = None if row.rank is None else getattr(row, key)
        return value

    yield Column(key, title, number, number=True, value=rated)
    if found.track == "points":
        yield Column("mu", "Mean", signed, number=True)
    yield Column(
        "interval",
        "95% of μ" if skill else "95%",
        lambda ends: interval(ends[0], ends[2], number) or "",
        number=True,
        value=bounds,
        draw="interval",
    )
    if skill:
        hint = "what one can be sure of: ranks follow it"
        sure = Column("rating", "μ - 3σ", number, number=True, hint=hint)
        yield replace(sure, value=lambda row: None if row.rank is None else row.rating)
        yield Column("sigma", "σ", number, number=True, spare=9, page=False)


def _chances(found: Leaderboard) -> Iterator[Column]:
    ranks = {row.player: row.rank for row in found.rows}
    hint = "the chance to be the best of all, and what follows for a choice"
    yield Column("best", "Best", chance, number=True, hint=hint, small=partial(_bin, found))
    out = (
        "out is a player whose chances to be the best, and better than the pick, are next to nothing, or "
        "that is proven to be worse"
    )
    yield Column("bin", "Choice", spare=2, hint=out, value=partial(choice, found.verdict.level), page=False)
    if found.tiered:
        hint = "nobody is proven below a player of its own or of a lower tier"
        yield Column("tier", "Tier", spare=3, hint=hint)

    def above(row: Row) -> str | None:
        return spans([rank for name in row.above if (rank := ranks[name])]) or None

    hint = "the ranks of players that this one is proven to be better than"
    yield Column("above", "Proven above", number=True, spare=3, hint=hint, value=above)


def _results(*, many: bool) -> Iterator[Column]:
    if many:
        first = "matches in which it came first, alone"
        yield Column("wins", "First", whole, number=True, spare=4, hint=first)
        hint = "matches in which it shared first place"
        yield Column("draws", "Shared", whole, number=True, spare=4, hint=hint)
    else:
        yield from numbers(whole, wins="W ~4", draws="D ~4", losses="L ~4")


def prices(*, in_dollars: bool) -> Iterator[Column]:
    """Yield the column of what a player's own play costs."""
    write: Callable[[float], str] = partial(dollars, times=100) if in_dollars else rounded
    if in_dollars:
        title = "$ per 100"
        hint = "dollars for 100 matches of its own play, without judging"
    else:
        title = "Per match"
        hint = "for its own play, without judging, in the unit of cost that the arena chose"
    yield Column("cost_per_match", title, write, number=True, spare=1, hint=hint, pick="most")


def accuracies() -> Iterator[Column]:
    """Yield the column of what checks say of answers."""
    hint = (
        "the mean credit that checks give to its answers, with the 95% interval; answers to one task are "
        "averaged first"
    )
    column = Column("accuracy", "Accuracy", number=True, hint=hint, order=lambda row: row.accuracy)
    yield replace(column, value=lambda row: row.accuracy_in_words)
