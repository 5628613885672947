"""The charts of a table, and the data that they show: price and speed against quality, ratings over time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from math import isnan
from typing import Any

import msgspec

from peerage.reading.speed import FEW, NEWEST
from peerage.render.blocks import Column, Figure, numbers, texts
from peerage.render.charts.labels import CROWD
from peerage.values.figures import DASH, axis_dollars, counted, dollars, seconds, whole
from peerage.views.arena.tables import ArenaTables
from peerage.views.leaderboard.board import Leaderboard, Row
from peerage.views.leaderboard.tracks import METHODS, Track
from peerage.views.leaderboard.verdict import Verdict
from peerage.views.offers import frontier as offers

COLOURED = 6
STOPS = 20
"""Ratings are followed over so many moments at most."""
ALONE = ", outside results left out"
LEFT_OUT = 6
"""Players without enough answers that are named."""


def charts(
    arena: ArenaTables, track: Track, found: Leaderboard, *, everything: bool = True
) -> Iterator[Figure]:
    """The charts of a table; of one that is not over `everything` those of cost and speed."""
    ranked = [row for row in found.rows if row.rank is not None]
    plane = priced(ranked)
    if any(offer["cost"] for offer in plane):
        price, times, per = f"cost a match, {arena.settings.rating.cost_unit.name}", 1, "a match"
        unit: Callable[[float], str] = "{:.3g}".format
        of = "what a match of their own play costs, without judging"
        if found.in_dollars:
            price, unit, times, per = "$ for 100 matches of its own play", dollars, 100, "for 100 matches"
            of = "what 100 matches of their own play cost, without judging"
        yield _plane(
            track=track,
            title="Cost against quality",
            about=_joined(plane, found.verdict, "for less money", "cheapest", of),
            name=f"frontier-{track}" if everything else "",
            offers=[{**one, "cost": one["cost"] * times} for one in plane],
            price=price,
            unit=lambda cost: f"{unit(cost)} {per}" if cost else "free",
            columns=numbers(lambda cost: unit(cost) if cost else "free", cost=price[:1].upper() + price[1:]),
            tick=axis_dollars if found.in_dollars else "{:g}".format,
        )
    if (track == arena.track or not everything) and found.source != "outside":
        timed = paced(arena, ranked)
        if len({one["cost"] for one in timed}) > 1:
            few = [row.player for row in ranked if row.player not in {one["player"] for one in timed}]
            yield _plane(
                track=track,
                title="Speed against quality",
                about=_joined(
                    timed, found.verdict, "in less time", "fastest", "the median time of their answers"
                )
                + f" Answers of a player's newest {NEWEST} matches count.{_left_out(few)}",
                name=f"speed-{track}" if everything else "",
                offers=timed,
                price="seconds to an answer, median",
                unit=seconds,
                columns=(*numbers(seconds, cost="Median answer"), *numbers(whole, answers="Answers")),
                zero="0",
            )
    if not everything:
        return
    if arena.number > 1 and ranked and (points := course(arena, track)):
        there = {point["player"] for point in points}
        names = [row.player for row in ranked if row.player in there][:COLOURED]
        yield Figure(
            kind="course",
            title="Ratings over the matches",
            about=f"{METHODS[track].curve} after so many matches{ALONE * bool(arena.imported)}.",
            rows=points,
            columns=followed(track),
            name=f"course-{track}",
            options={"names": names, "what": METHODS[track].curve, "whole": track == arena.track},
        )


def _plane(
    track: Track,
    title: str,
    about: str,
    name: str,
    offers: Sequence[Mapping[str, Any]],
    price: str,
    unit: Callable[[float], str],
    columns: Iterable[Column],
    *,
    zero: str = "free",
    tick: Callable[[float], str] = "{:g}".format,
) -> Figure:
    """Return what players give for what they take, `price` in name and `unit`; see `planes.frontier`."""
    wide = len(offers) > CROWD
    about += " Bars are 95% intervals." * (track != "trueskill")
    about += " Grey: below that line." * any(not one["best"] for one in offers)
    about += " Points without a name have it in their tooltip and in the table." * wide
    axis = METHODS[track].axis
    rating = METHODS[track].write
    best = [one for one in reversed(offers) if one["best"]]
    of = [*columns]
    return Figure(
        kind="frontier",
        title=title,
        about=about.strip(),
        rows=offers,
        columns=[
            *texts(player="Player"),
            *of,
            *numbers(rating, rating=axis[:1].upper() + axis[1:]),
            Column("interval", "95%", number=True, value=lambda row: _interval(row, rating)),
            *texts(lambda best: "yes" if best else "no", best="On the line"),
        ],
        name=name,
        options={"rating": axis, "price": price, "unit": unit, "zero": zero, "tick": tick},
        key=[(one["player"], of[0].text(one)) for one in best] if len(best) > 1 else (),
    )


def _interval(row: Mapping[str, Any], write: Callable[[float | None], str]) -> str:
    return DASH if row["low"] is None else f"{write(row['low'])} – {write(row['high'])}"


def followed(track: Track) -> list[Column]:
    """The columns of ratings over the matches."""
    rating = METHODS[track].write
    return [
        *texts(player="Player"),
        *numbers(whole, match="Match"),
        *numbers(rating, rating=METHODS[track].curve),
        Column("interval", "95%", number=True, value=lambda row: _interval(row, rating)),
    ]


def _left_out(few: Sequence[str]) -> str:
    """Return who has too few answers to be timed, where there are any others."""
    if not few:
        return ""
    who = ", ".join(few[:LEFT_OUT]) + f" and {counted(len(few) - LEFT_OUT, 'other')}" * (len(few) > LEFT_OUT)
    return f" Left out, with fewer than {FEW} answers: {who}."


def _joined(plane: Sequence[Mapping[str, Any]], verdict: Verdict, less: str, least: str, of: str) -> str:
    """Return what the line of a plane joins, and `of` what their list says; or who is alone where it would
    be. The verdict has the last word on who is best."""
    best = [one["player"] for one in plane if one["best"]]
    if not best:
        return ""
    if len(best) > 1:
        joins = f"The line joins the players above whom nobody is rated {less}, listed below with {of}."
    elif best[0] == verdict.pick and not verdict.may_be_as_good:
        joins = f"{best[0]} is the pick and the {least}."
    else:
        joins = f"Nobody is rated above {best[0]}, the {least}."
    return joins + " Differences between those who may be as good may be chance." * bool(
        verdict.may_be_as_good
    )


def priced(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The cost-quality plane, cheapest first, intervals of the rating alone; see `charts.frontier`."""
    at = {row.player: row for row in rows}
    return [
        {
            "player": offer.player,
            "cost": offer.cost_per_match,
            "rating": round(offer.rating, 2),
            "low": at[offer.player].lower if at[offer.player].track != "trueskill" else None,
            "high": at[offer.player].upper if at[offer.player].track != "trueskill" else None,
            "best": offer.best,
        }
        for offer in offers(rows)
    ]


def paced(arena: ArenaTables, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The speed-quality plane, as `priced` with seconds in place of costs, of those with enough `answers`."""
    speeds = {player: speed for player, speed in arena.speeds.items() if speed.answers >= FEW}
    timed = [
        msgspec.structs.replace(row, cost_per_match=speeds[row.player].seconds)
        for row in rows
        if row.player in speeds
    ]
    return [{**one, "answers": speeds[one["player"]].answers} for one in priced(timed)]


def in_seconds(timed: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows of `paced` that name what they hold."""
    return [{"seconds" if key == "cost" else key: one[key] for key in one} for one in timed]


def stops(number: int) -> list[int]:
    """After which of `number` matches ratings are followed: round ones, which further matches leave be."""
    if not number:
        return []
    step = next(
        size * 10**zeros for zeros in range(20) for size in (1, 2, 5) if size * 10**zeros * STOPS > number
    )
    return list(range(step, number + 1, step))


def course(arena: ArenaTables, track: Track, names: Collection[str] = ()) -> list[dict[str, Any]]:
    """The rating (TrueSkill: μ) of every rated player, or of those in `names`, after each stop, with its 95%
    interval; see `charts.trajectories`."""
    return [
        {
            "player": player,
            "match": stop,
            "rating": round(rating, 2),
            "low": None if isnan(low) else round(low, 2),
            "high": None if isnan(high) else round(high, 2),
        }
        for stop in stops(arena.number)
        for after in (arena.earlier(track, stop),)
        for player, rating, low, high in zip(
            after.players, *[each.tolist() for each in (after.middle, after.lower, after.upper)], strict=True
        )
        if not names or player in names
    ]
