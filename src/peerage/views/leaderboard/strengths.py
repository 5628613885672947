"""The best at each thing: everybody's strength in each game or on each topic, in one table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from msgspec.structs import replace

from peerage.game.blocks import Heading, Target
from peerage.render.blocks import Column, Fold, Rows, Small, ViewBlock, numbers
from peerage.values.figures import shortened, tenths, whole
from peerage.views.leaderboard.notes import OF_MANY
from peerage.views.leaderboard.overall import COUNTED, FEW, WHOLE, Profile, ProfileGrid, grid


def strengths(by: Literal["game", "topic"], rows: Sequence[Profile]) -> Iterator[ViewBlock]:
    """Yield the table with its heading; folded where nobody has enough matches to say anything."""
    found = grid(rows)
    if found.margin is None:
        title = f"Shares of wins {by} by {by} so far: nobody has {FEW} matches of one {by}, too few to say"
        yield Fold(title, [table(by, found)])
    else:
        yield Heading(f"Who is best at what: {by} by {by}")
        yield table(by, found)


def table(by: Literal["game", "topic"], found: ProfileGrid, short: Callable[[str], str | None] = str) -> Rows:
    """Return the grid as a table: a row for each player, or for each game where these would take more room
    side by side. `short` makes a heading of a name."""

    def to(name: str) -> Target | None:
        return (by, name) if found.games_down else ("player", name) if name else None

    def across(place: int, other: str) -> Column:
        def cell(name: str) -> Profile | None:
            return found.cells.get((name, other))

        def about(name: str) -> str:
            at = cell(name)
            return f"{tenths(at.lower)} to {tenths(at.upper)}, {whole(at.matches)} matches" if at else ""

        def share(name: str) -> str | None:
            at = cell(name)
            return None if at is None else f"({tenths(at.share)})" if at.few else f"{tenths(at.share)} "

        def shade(name: str) -> float | None:
            at = cell(name)
            return None if at is None or at.few else at.share / 100

        title = short(other or WHOLE[by]) or other
        return Column(str(place), title, number=True, spare=place, value=share, shade=shade, tip=about)

    first = Column(
        "name",
        by.capitalize() if found.games_down else "Player",
        value=lambda name: name or WHOLE[by],
        link=to,
    )
    notes = ["the share of wins, in percent, that each can expect against the others"]
    if any(one.few for one in found.cells.values()):
        notes.append(f"in brackets: fewer than {FEW} matches there, too few to say anything")
    if found.margin is not None:
        notes.append(
            f"shares of a {by} hold within about {whole(found.margin)} percentage points up or down, with 95%"
        )
    columns = [first, *[across(place, other) for place, other in enumerate(found.across)]]
    return Rows(found.down, columns, notes=[*notes, COUNTED[by]], name=f"strengths by {by}")


HEAD = 24
"""Characters of a heading in a terminal at most."""


def in_terminal(by: Literal["game", "topic"], rows: Sequence[Profile], title: str) -> Rows:
    """Return everybody's strengths with headings that are short: a line for each player, or for each game or
    topic where these would take more room side by side."""
    found = grid(rows, lambda name: min(len(name), HEAD))
    block = table(by, found, shortened([other or WHOLE[by] for other in found.across], HEAD).get)
    more = ["`peerage players NAME` shows one player's with intervals"] if by == "game" else []
    return replace(block, title=title, notes=[*block.notes, *more])


def listed(by: Literal["game", "topic"], rows: Sequence[Profile], title: str = "") -> Rows:
    """Return strengths one below the other, with intervals: a row for each player's game or topic."""
    columns = [
        *[Column("player", "Player")] * (len({row.player for row in rows}) > 1),
        Column(by, by.capitalize(), value=lambda row: row.name or WHOLE[by]),
        *numbers(str, rank="Rank"),
        Column(
            "share",
            "Share",
            tenths,
            number=True,
            small=lambda row: [Small(_ends(_interval(row)), narrow=True)],
        ),
        Column("interval", "95%", _ends, number=True, spare=1, value=_interval, draw="interval"),
        Column("drawn", DRAWN, value=_drawn, spare=2, page=False),
        *numbers(whole, matches="Matches", wins="W ~2", draws="D ~2", losses="L ~2"),
    ]
    notes = [
        "Share of wins, in percent, that it can expect against the others, with its 95% interval",
        COUNTED[by],
        OF_MANY,
    ]
    return Rows(rows, columns, title=title, notes=notes)


def _interval(row: Profile) -> tuple[float, float, float]:
    return row.lower, row.share, row.upper


def _ends(value: tuple[float, float, float]) -> str:
    return f"{tenths(value[0])} – {tenths(value[2])}"


PLOT = 41
"""Characters of an interval as it is drawn."""
DRAWN = "0%" + " " * (PLOT // 2 - 5) + "50%" + " " * (PLOT // 2 - 4) + "100%"


def _drawn(row: Profile) -> str:
    """Return a share and its interval on a line from 0% to 100%: a dot at the share, the middle marked."""
    low, at, high = (round(value / 100 * (PLOT - 1)) for value in (row.lower, row.share, row.upper))
    cells = ["━" if low <= cell <= high else "┆" if cell == PLOT // 2 else "·" for cell in range(PLOT)]
    cells[at] = "●"
    return "".join(cells)
