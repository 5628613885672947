"""The best at each thing: everybody's strength in each game or on each topic, in one table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from peerage.game.blocks import Heading, Target
from peerage.render.blocks import Column, Fold, Rows, ViewBlock
from peerage.values.figures import tenths, whole
from peerage.views.leaderboard.overall import COUNTED, FEW, WHOLE, Grid, Profile, grid


def strengths(by: Literal["game", "topic"], rows: Sequence[Profile]) -> Iterator[ViewBlock]:
    """Yield the table with its heading; folded where nobody has enough matches to say anything."""
    found = grid(rows)
    yield Heading(f"Who is best at what: {by} by {by}")
    if found.margin is None:
        title = f"Shares of wins so far: nobody has {FEW} matches of one {by}, too few to say"
        yield Fold(title, [table(by, found)])
    else:
        yield table(by, found)


def table(by: Literal["game", "topic"], found: Grid, short: Callable[[str], str | None] = str) -> Rows:
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
    notes = [
        "the share of wins, in percent, that each can expect against the others",
    ]
    if any(one.few for one in found.cells.values()):
        notes.append(f"in brackets: fewer than {FEW} matches there, too few to say anything")
    if found.margin is not None:
        notes.append(
            f"shares of a {by} hold within about {whole(found.margin)} percentage points up or down, with 95%"
        )
    columns = [first, *[across(place, other) for place, other in enumerate(found.across)]]
    return Rows(found.down, columns, notes=[*notes, COUNTED[by]], name=f"strengths by {by}")
