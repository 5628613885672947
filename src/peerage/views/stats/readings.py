"""One history read in more than one way: who stands where under each reading that a game's rules allow.

A game states the readings of a match as `Outcome.detail["readings"]`: reading → label → score. Matches that
count under the arena's own rules and those that its rules void (but not another's) are in the same list, so
the tables are comparable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct

from peerage.ratings.sequential.elo import DuelResult, EloSettings, fold, start
from peerage.ratings.table import ranks
from peerage.reading.observations import Read
from peerage.render.blocks import Rows, numbers, texts
from peerage.values.figures import whole
from peerage.views.stats.players import PLAYER


class ReadingStats(Struct, frozen=True):
    """One player under one reading: decided matches, and sequential raw Elo by the arena's constants.

    `rank` is 1 for the best, shared by equal ratings.
    """

    reading: str
    rank: int
    player: str
    matches: int
    wins: int
    draws: int
    losses: int
    rating: float


def readings(stated: Iterable[Read], elo: EloSettings) -> tuple[ReadingStats, ...]:
    """Return a table for each reading of matches of two, best first; equals by name."""
    results: dict[str, list[DuelResult]] = {}
    players: dict[str, int] = {}
    for match in stated:
        a, b = (players.setdefault(player, len(players)) for player in (match.first, match.second))
        for reading, score in match.scores.items():
            results.setdefault(reading, []).append(DuelResult(a, b, score, None, None))
    return tuple([row for reading in results for row in _rows(reading, results[reading], players, elo)])


def _rows(
    reading: str, results: Sequence[DuelResult], players: Mapping[str, int], elo: EloSettings
) -> Iterator[ReadingStats]:
    rating = fold(len(players), results, elo, start(len(players), elo)).raw
    tally = [[0, 0, 0] for _ in players]
    for result in results:
        for player, score in ((result.a, result.score), (result.b, 1 - result.score)):
            tally[player][0 if score > 0.5 else 1 if score == 0.5 else 2] += 1
    rank = ranks(np.array(rating))
    for name, at in sorted(players.items(), key=lambda item: (-rating[item[1]], item[0])):
        wins, draws, losses = tally[at]
        matches = wins + draws + losses
        yield ReadingStats(
            reading=reading,
            rank=rank[at],
            player=name,
            matches=matches,
            wins=wins,
            draws=draws,
            losses=losses,
            rating=rating[at],
        )


def table(rows: Sequence[ReadingStats]) -> Rows:
    """Return the tables under each reading, one after another."""
    columns = [
        *texts(reading="Reading"),
        *numbers(whole, rank=""),
        PLAYER,
        *numbers(whole, rating="Raw Elo", matches="Matches", wins="W", draws="D", losses="L"),
    ]
    title = "Readings: where a game's rules leave room, the table under each of them"
    return Rows(rows, columns, title=title, name="readings")
