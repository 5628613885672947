"""Several games in one table, and each player's strengths game by game: the track `overall` and profiles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from statistics import median
from typing import NamedTuple

import numpy as np

from peerage.ratings.overall import Shares, combined, shares_of
from peerage.ratings.strength.posterior import Strengths
from peerage.ratings.table import ranks
from peerage.reading.results.played import Field, PlayedMatches
from peerage.reading.results.tally import Record
from peerage.views.shown import Shown

FEW = 10
"""Matches below which a player's rating, or its share in a game or topic, says little."""
WHOLE: Mapping[str, str] = {"game": "mean of games", "topic": "all matches"}
"""What the line over all games, or over all topics, is called."""
COUNTED: Mapping[str, str] = {
    "game": "Mean of games: each game counts by its weight, however many of its matches were played",
    "topic": "All matches: each match counts alike, whatever its topic",
}
"""What that line is."""
TOPICS = 40
"""The most played topics that players are compared on."""


class Profile(Shown, frozen=True):
    """How strong a player is in one game or on one topic, or overall (both are empty).

    `share` is the part of wins, in percent, that it can expect against the other players, a tie counting
    half; `lower` and `upper` bound it at 95%. `weight` is the game's part of the overall share, 0 to 1.
    `rank` is 1 for the best, None for one that has no match there; `matches`, `wins`, `draws` and `losses`
    are decided. Below `FEW` matches a share says nothing yet.
    """

    player: str
    game: str
    weight: float
    rank: int | None
    share: float
    lower: float
    upper: float
    matches: int
    wins: int
    draws: int
    losses: int
    topic: str = ""

    @property
    def few(self) -> bool:
        """Return whether it has too few matches there to say."""
        return self.matches < FEW

    @property
    def name(self) -> str:
        """The game or topic; empty for all."""
        return self.game or self.topic


class GameStrengths(NamedTuple):
    """Strengths and shares of `players` in each game and overall, and each game's part of that, 0 to 1."""

    players: tuple[str, ...]
    strengths: Mapping[str, Strengths]
    each: Mapping[str, Shares]
    parts: Mapping[str, float]
    whole: Shares


def games_of(played: PlayedMatches, by: Field = "game") -> GameStrengths:
    """Every game or topic of a scope; overall by the weights of its `games`, alike where nothing is said, or
    for topics by every match alike."""
    names = tuple(played.players)
    if by == "topic":
        strengths = played.strengths_by_topic(TOPICS)
        each = {topic: shares_of(one.draws) for topic, one in strengths.items()}
        parts = dict.fromkeys(each, 1 / max(len(each), 1))
        return GameStrengths(names, strengths, each, parts, shares_of(played.strengths.draws))
    strengths, each = played.strengths_by_game, played.shares_by_game
    if not each:
        return GameStrengths(names, {}, {}, {}, Shares(np.zeros((1, len(names)))))
    stated = {game: played.scope.games.get(game, 1.0) for game in each}
    parts = {game: weight / sum(stated.values()) for game, weight in stated.items()}
    return GameStrengths(names, strengths, each, parts, combined(list(each.values()), list(parts.values())))


def in_words(found: GameStrengths, played: PlayedMatches) -> tuple[str, ...]:
    """Return how the games were weighed, and who has not played all of them."""
    percent = {game: f"{game} {100 * part:.3g}%" for game, part in found.parts.items()}
    alike = len({f"{part:.9f}" for part in found.parts.values()}) < 2
    how = "each counting alike" if alike else ", ".join(percent.values())
    there = {(one.game, player) for one in played.decided for player in one.players}
    lacking = [
        f"{player} has not played {' or '.join(missing)} yet: there it counts as 50%, which may be anything"
        for player in found.players
        if (missing := [game for game in found.parts if (game, player) not in there])
    ]
    return (
        "share of wins, in percent, that a player can expect against the others, a tie counting half: "
        f"the mean over {len(found.parts)} games ({how})",
        "in each game from strengths, so that it does not matter whom one met",
        *lacking,
    )


def profiles(played: PlayedMatches, by: Field = "game") -> list[Profile]:
    """Each player's line overall and in each game or topic, players in the order of overall share."""
    found = games_of(played, by)
    records: dict[tuple[str, str], Record] = {}
    for one in played.decided:
        for place, player in enumerate(one.players):
            best = max([*one.scores[:place], *one.scores[place + 1 :]])
            for game in ("", one.topic if by == "topic" else one.game):
                records.setdefault((game, player), Record()).add(one.scores[place], best)
    rows: dict[str, list[Profile]] = {player: [] for player in found.players}
    for game, shared in {"": found.whole, **found.each}.items():
        lower, upper = shared.bounds
        placed = ranks(shared.share)
        for at, player in enumerate(found.players):
            record = records.get((game, player), Record())
            rows[player].append(
                Profile(
                    player=player,
                    game="" if by == "topic" else game,
                    weight=found.parts.get(game, 1.0),
                    rank=placed[at] if record.matches else None,
                    share=100 * float(shared.share[at]),
                    lower=100 * float(lower[at]),
                    upper=100 * float(upper[at]),
                    matches=record.matches,
                    wins=record.wins,
                    draws=record.draws,
                    losses=record.losses,
                    topic=game if by == "topic" else "",
                )
            )
    order = sorted(rows, key=lambda player: (-rows[player][0].share, player))
    return [row for player in order for row in rows[player]]


class ProfileGrid(NamedTuple):
    """Profiles as a table of players and games or topics, overall under an empty name; what there is less of
    stands side by side. `cells` has the profiles with a match, by (`down`, `across`)."""

    games_down: bool
    down: tuple[str, ...]
    across: tuple[str, ...]
    cells: Mapping[tuple[str, str], Profile]

    @property
    def margin(self) -> float | None:
        """Return how far up or down the shares of games or topics hold with 95%, in percent: the middle one
        of those with enough matches. None where none has."""
        widths = [one.upper - one.lower for one in self.cells.values() if one.name and not one.few]
        return median(widths) / 2 if widths else None


def grid(rows: Iterable[Profile], room: Callable[[str], int] = lambda _: 1) -> ProfileGrid:
    """The table of `profiles`. `room` is what a heading takes: all alike, or `len` in a terminal."""
    found = list(rows)
    games = tuple(dict.fromkeys(row.name for row in found))
    players = tuple(dict.fromkeys(row.player for row in found))
    cells = {(row.player, row.name): row for row in found if row.rank}
    if sum(map(room, games)) <= sum(map(room, players)):
        return ProfileGrid(False, players, games, cells)
    return ProfileGrid(True, games, players, {(game, player): row for (player, game), row in cells.items()})
