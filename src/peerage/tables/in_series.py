"""Duels of matches in series: which hang together, and which played the same task in the same two seats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from peerage.ledger.series import InSeries
from peerage.ledger.store import Summary
from peerage.ratings.duplicate import TableSeats
from peerage.ratings.history import Duels
from peerage.ratings.kernels import Ints


class Hanging(NamedTuple):
    """Of each duel the `cluster`: the first match of the series that it belongs to, or its own match.
    `tables` are those duels whose task was played at other tables too; none where seats rotate at one."""

    cluster: Ints
    tables: Sequence[TableSeats]


def hanging(
    history: Duels,
    sources: Ints | None,
    decided: Sequence[Summary],
    known: Mapping[int, InSeries],
    shared: bool,
) -> Hanging:
    """What hangs together in `history`, whose duels are of the matches `decided`: one each, or as `sources`
    says. `shared` says that a series is several tables with one task."""
    of = range(len(decided)) if sources is None else sources.tolist()
    numbers = [decided[at].number for at in of]
    cluster = [known[number].series if number in known else number for number in numbers]
    return Hanging(
        np.array(cluster, np.int64), list(_tables(history, numbers, decided, known)) if shared else ()
    )


def _tables(
    history: Duels, numbers: Sequence[int], decided: Sequence[Summary], known: Mapping[int, InSeries]
) -> Iterator[TableSeats]:
    names = list(dict.fromkeys(player for one in decided for player in one.players))
    labels = {
        number: {seat.player: seat.label for seat in one.seats}
        for number, one in known.items()
        if len({seat.player for seat in one.seats}) == len(one.seats)  # else it is in no one seat
    }
    contests: dict[tuple[int, str, str], int] = {}
    columns = history.first.tolist(), history.second.tolist(), history.score.tolist()
    for number, first, second, score in zip(numbers, *columns, strict=True):
        series, seats = (known[number].series, labels[number]) if number in labels else (0, {})
        if len(seats) < 2 or not {names[first], names[second]} <= seats.keys():
            continue
        seat, other = seats[names[first]], seats[names[second]]
        if other < seat:
            first, second, score, seat, other = second, first, 1 - score, other, seat
        contest = contests.setdefault((series, seat, other), len(contests))
        yield TableSeats(first, second, score, contest, series)
