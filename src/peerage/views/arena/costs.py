"""Costs: what was billed, and what it bought."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from peerage.engine.record.probed import probe_costs
from peerage.game.blocks import Heading
from peerage.ledger.topics.uptimes import unused
from peerage.render.blocks import Facts, Figure, LoneFigure, ViewBlock, numbers, texts
from peerage.values.figures import dollars, rounded
from peerage.views.arena.tables import ArenaTables
from peerage.views.stats.costs import by_kind, by_player
from peerage.views.stats.players import billed
from peerage.views.stats.spending import hosted

SPENT = (*texts(day="Day (UTC)", game="Game"), *numbers(dollars, dollars="Dollars"))

EPOCH = date(1970, 1, 1)


def costs_and_gains(arena: ArenaTables) -> Iterator[ViewBlock]:
    """Yield what the arena was billed, day by day, and what that bought."""
    found, rows, players = arena.stats, by_day(arena), arena.table()
    spent = arena.tally.spent_nano / 1e9
    possibly = sum(row.possibly_usd or 0.0 for row in players)
    probes = sum(one.most_nano for one in probe_costs(arena.moment).values()) / 1e9
    held = sum(unused(arena.moment).values()) / 1e9
    unknown = any(row.cost_usd is None for row in players)
    facts = [
        LoneFigure("Possibly billed", dollars(possibly), "at most, in addition; a budget counts both"),
        LoneFigure("Probes before runs", dollars(probes), "small questions, in no match"),
        LoneFigure("Hosts beyond calls", dollars(held), "start and idle time of windows, in no match"),
        LoneFigure("Matches per dollar", rounded(arena.tally.decided / spent if spent else None)),
    ]
    shown = {"Possibly billed": possibly, "Probes before runs": probes, "Hosts beyond calls": held}
    yield Heading(_headline(arena, spent, unknown=unknown), 1)
    yield Facts([fact for fact in facts if shown.get(fact.title, True)])
    if spent and len({row["day"] for row in rows}) > 1:
        about = "Dollars of all matches that ended on a day (UTC)."
        yield Figure("spending", "Spend by day", about, rows, SPENT, "spending")
    yield Heading("What dollars bought")
    tables = [by_player(found.costs), by_kind(found.kinds), hosted(found.hosted), billed(found.players)]
    yield from (table for table in tables if table.rows)


def _headline(arena: ArenaTables, spent: float, *, unknown: bool) -> str:
    """Return what was spent, and what a decided match cost of it."""
    if not spent:
        return "What was spent is unknown" if unknown and arena.number else "Nothing was spent"
    each = f", {dollars(spent / arena.tally.decided)} a match" if arena.tally.decided else ""
    return f"{dollars(spent)} spent{' at least' * unknown}{each}"


def by_day(arena: ArenaTables) -> list[dict[str, Any]]:
    """Dollars by day and game, in order of days."""
    return [
        {"day": (EPOCH + timedelta(days)).isoformat(), "game": game, "dollars": nano / 1e9}
        for days, games in sorted(arena.tally.days.items())
        for game, nano in sorted(games.items())
    ]
