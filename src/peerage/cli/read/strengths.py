"""Strengths by game: everybody's in one table, one player's with its intervals drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from peerage.cli.shared.options import Format
from peerage.cli.shared.output import show, show_blocks
from peerage.render.blocks import Column, numbers, texts
from peerage.values.figures import shortened, tenths, whole

if TYPE_CHECKING:
    from peerage.arena import Arena
    from peerage.reading.scope import Scope
    from peerage.views.leaderboard.overall import Profile


HEAD = 24
"""Characters of a heading at most."""


def _profiles(arena: Arena, scope: Scope, by: Literal["game", "topic"] = "game") -> list[Profile]:
    from peerage.views.leaderboard.overall import profiles

    return profiles(arena.reading.within(scope), by)


def show_by_game(arena: Arena, shape: Format, scope: Scope, by: Literal["game", "topic"] = "game") -> None:
    """Write everybody's strength in each game or on each topic to standard output: for people a line for
    each player, or for each topic where these would take more room side by side."""
    from peerage.views.leaderboard.overall import WHOLE, grid
    from peerage.views.leaderboard.strengths import table

    rows = _profiles(arena, scope, by)
    columns = [
        *texts(player="Player"),
        Column(by, by.capitalize()),
        *numbers(str, rank=""),
        *numbers(tenths, share="Share", lower="from", upper="to"),
        *numbers(whole, matches="Matches", wins="W", draws="D", losses="L"),
    ]
    if not shape.for_people:
        show([row.as_dict() for row in rows], columns, shape)
        return
    found = grid(rows, lambda name: min(len(name), HEAD))
    block = table(by, found, shortened([other or WHOLE[by] for other in found.across], HEAD).get)
    more = ["`peerage players NAME` shows one player's with intervals"] if by == "game" else []
    title = f"{arena.settings.name}: shares of wins, {by} by {by}"
    block = replace(block, title=title, notes=[*block.notes, *more])
    show_blocks([block], block, shape, split=True)


def show_profile(arena: Arena, name: str, shape: Format) -> None:
    """Write one player's strength in each game to standard output, with its intervals drawn. Raises
    ScopeError for a player without a match."""
    from peerage.reading.scope import EVERYTHING, ScopeError
    from peerage.settings import suggest
    from peerage.views.leaderboard.notes import OF_MANY
    from peerage.views.leaderboard.overall import COUNTED, WHOLE

    every = _profiles(arena, EVERYTHING)
    mine = [row for row in every if row.player == name]
    if not mine:
        there = dict.fromkeys(row.player for row in every)
        raise ScopeError(f"no match is on record of a player {name!r}{suggest(name, there)}")
    rows = [row.as_dict() for row in mine]
    drawn: list[Column] = []
    if shape.for_people:
        rows = [
            {**row, "game": row["game"] or WHOLE["game"], "drawn": _interval_plot(one)}
            for row, one in zip(rows, mine, strict=True)
            if one.rank
        ]
        drawn += texts(drawn="0%" + " " * (PLOT // 2 - 5) + "50%" + " " * (PLOT // 2 - 4) + "100% ~1")
    columns = [
        *texts(game="Game"),
        *numbers(str, rank="Rank"),
        *numbers(tenths, share="Share", lower="from", upper="to"),
        *drawn,
        *numbers(whole, matches="Matches", wins="W ~2", draws="D ~2", losses="L ~2"),
    ]
    notes = [
        "Share of wins, in percent, that it can expect against the others, with its 95% interval",
        COUNTED["game"],
        OF_MANY,
    ]
    show(rows, columns, shape, title=f"{arena.settings.name}: {name}, game by game", notes=notes)


PLOT = 41
"""Characters of an interval as it is drawn in a terminal."""


def _interval_plot(one: Profile) -> str:
    """A share and its interval on a line from 0% to 100%, a dot at the share, the middle marked."""
    low, at, high = (round(value / 100 * (PLOT - 1)) for value in (one.lower, one.share, one.upper))
    cells = ["━" if low <= cell <= high else "┆" if cell == PLOT // 2 else "·" for cell in range(PLOT)]
    cells[at] = "●"
    return "".join(cells)
