"""What a match cost each player, and what it moved."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple, TypeAlias

from msgspec.structs import replace

from peerage.game.blocks import Target
from peerage.game.match import Totals
from peerage.game.protocol import SANDBOX
from peerage.render.blocks import Column, Rows, numbers
from peerage.values.figures import counted, dollars, whole
from peerage.views.leaderboard.tracks import METHODS
from peerage.views.match.exchanges import SeatView

_NAMES: Mapping[Any, str] = {track: method.name for track, method in METHODS.items()}


class PlayerPart(NamedTuple):
    """A player's part in a match: its seats, what it was asked and cost in all, its cost of play, its ratings
    by track."""

    player: str
    seats: Sequence[SeatView]
    total: Totals | None
    play: float | None
    moved: Mapping[str, tuple[float, float]]

    @property
    def cost(self) -> float | None:
        """Return what it cost in all, in dollars; None where that is unknown."""
        return None if self.total is None or self.total.unknown_costs else self.total.cost_nano / 1e9


Moves: TypeAlias = Mapping[str, Mapping[str, tuple[float, float]]]
"""By track and player a rating before and after."""


def numbers_of(
    seats: Sequence[SeatView],
    costs: Mapping[str, float | None],
    totals: Mapping[str, Totals],
    ratings: Moves,
    unit: str,
) -> Rows:
    """Return what a match cost each player, and what it moved; `costs` of play are by label, in `unit`."""
    by_player: dict[str, list[SeatView]] = {}
    for seat in seats:
        by_player.setdefault(seat.player, []).append(seat)
    rows = []
    for player in dict.fromkeys((*by_player, *totals)):
        own = by_player.get(player, [])
        play = [costs[seat.label] for seat in own if seat.label in costs]
        known = [cost for cost in play if cost is not None]
        moved = {track: of[player] for track, of in ratings.items() if player in of}
        in_play = sum(known) if known and len(known) == len(play) else None
        rows.append(PlayerPart(player, own, totals.get(player), in_play, moved))
    notes = [*_sums(totals, ratings, {row.player for row in rows})]
    return Rows(rows, _columns(tuple(ratings), unit), notes=notes, name="costs", sorts=False)


def _page_of(row: Any) -> Target | None:
    """Return the page of a row's player; the sandbox has none."""
    return ("player", row.player) if row.player != SANDBOX else None


@lru_cache
def _columns(tracks: tuple[str, ...], unit: str) -> tuple[Column, ...]:
    """Every match of an arena has the same few."""

    def after(track: str) -> Column:
        digits = 1 if track == "trueskill" else 0

        def write(moved: tuple[float, float]) -> str:
            return f"{moved[1]:,.{digits}f} {moved[1] - moved[0]:+.1f}"

        title = _NAMES.get(track, track)
        spare = 1 if track != tracks[0] else 0
        return Column(track, title, write, number=True, spare=spare, value=lambda row: row.moved.get(track))

    own, paired = unit != "dollars", "trueskill" not in tracks  # tables are not paired by sequential Elo
    return (
        Column("player", "Player", link=_page_of),
        Column("seats", "As", _labels, spare=1, page=False),
        *[Column("raw", "Paired at", whole, number=True, spare=3, page=False, value=_raw)] * paired,
        *[
            replace(column, value=partial(_summed, column.key))
            for column in numbers(
                whole, calls="Calls ~2", input_tokens="Tokens in ~2", output_tokens="out ~2"
            )
        ],
        Column("cost", "Cost", dollars, number=True),
        Column(
            "play",
            f"Cost of play{f', in {unit}' if own else ''}",
            "{:.6g}".format if own else dollars,
            number=True,
            spare=2,
            page=own,
        ),
        *map(after, tracks),
    )


def _labels(seats: Sequence[SeatView]) -> str:
    return ", ".join([seat.label for seat in seats])


def _raw(row: PlayerPart) -> float | None:
    return row.seats[0].raw if row.seats else None


def _summed(field: str, row: PlayerPart) -> int | None:
    return getattr(row.total, field, None)


def _sums(totals: Mapping[str, Totals], ratings: Moves, players: Collection[str]) -> Iterator[str]:
    """Yield what all of it cost, and whom a result moved beside those who met."""
    if not totals:
        return
    spent = sum(total.cost_nano for total in totals.values()) / 1e9
    unknown = sum(total.unknown_costs for total in totals.values())
    sums = [f"{dollars(spent)} in all"] if spent else [] if unknown else ["free"]
    sums += [f"{counted(unknown, 'call')} of unknown cost"] * bool(unknown)
    yield f"{counted(sum(total.calls for total in totals.values()), 'call')}, {', and '.join(sums)}"
    for track, moved in ratings.items():
        if others := len(moved.keys() - players):
            yield f"{_NAMES.get(track, track)} spread to {counted(others, 'neighbour')}"
