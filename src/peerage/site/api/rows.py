"""What the JSON API and the event stream hand out, beside the rows of `tables`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from peerage.game.media import Media
from peerage.ledger import Summary
from peerage.views.leaderboard.row import Row
from peerage.views.players import PairRow

JSON = "application/json"


class ApiFailure(Struct, frozen=True):
    """What is wrong, in words."""

    error: str


class BallotRow(Struct, frozen=True):
    """Two answers to one challenge, without their authors; `ticket` stands for this pair in this session.
    `media` are the pictures and sounds of the challenge."""

    ticket: str
    topic: str
    challenge: dict[str, str]
    first: str
    second: str
    media: tuple[Media, ...] = ()


class Cast(Struct, frozen=True):
    """A vote on the pair of a ticket."""

    ticket: str
    verdict: Literal["first", "second", "tie", "both bad", "skip"]


class Revealed(Struct, frozen=True):
    """The answer to a vote: who wrote the first and the second answer, and the peers' scores.

    Of its newest hundred votes `compared` are those in which neither it nor the peers found a tie, `agreed`
    those of them that named the peers' winner.
    """

    match: int
    verdict: Literal["first", "second", "tie", "both bad"]
    players: tuple[str, str]
    peers: tuple[float, float]
    agreed: int
    compared: int


class ArenaRow(Struct, frozen=True):
    """An arena: `settled` matches of `issued` are on record, the last with chain value `head`, in hex.
    `games` are all that it plays, `game` the first of them. `results` counts them by kind."""

    name: str
    version: str
    game: str
    tracks: tuple[str, ...]
    players: tuple[str, ...]
    settled: int
    issued: int
    head: str
    votes: int
    games: tuple[str, ...]
    results: Mapping[str, int]


class Player(Struct, frozen=True):
    """A player: `active` while in the settings, `standing` on the game's own track, `card` as registered."""

    player: str
    active: bool
    standing: Row
    card: Mapping[str, Any]


class PlayerRecord(Struct, frozen=True):
    """A player, its standings by track, and its record against each opponent."""

    player: Player
    standings: Mapping[str, Row]
    opponents: Sequence[PairRow]


class MatchRow(Struct, frozen=True):
    """A finished match in one row.

    `players`, `scores`, `costs` (in the arena's cost unit, null unknown) and the Elo ratings after the match
    are in seat order; `status` is "done" or the reason of the void, which has no scores. `cost_usd` is what
    the whole match is known to have cost, officials included, null where no cost is known; `at_ms` when it
    was settled, Unix milliseconds.
    """

    number: int
    round: int
    game: str
    topic: str
    status: str
    players: tuple[str, ...]
    scores: tuple[float, ...]
    costs: tuple[float | None, ...]
    cost_usd: float | None
    raw: tuple[float, ...]
    cost_elo: tuple[float, ...]
    at_ms: int


class Playing(Struct, frozen=True):
    """A match under way; `waiting` counts its requests that nobody has answered yet, and is 0 while it waits
    to be settled in its turn. One that left its round to go on later waits since `since_ms`, until `until_ms`
    where that is known (Unix milliseconds). Who plays is shown when it is settled: players may be watching.
    Of a game that hides who is asked when neither count nor times are shown (null).
    """

    number: int
    round: int
    game: str
    waiting: int | None
    since_ms: int | None = None
    until_ms: int | None = None


def match_row(summary: Summary) -> MatchRow:
    """A row of the narrow table as the API gives it."""
    return MatchRow(**{name: getattr(summary, name) for name in MatchRow.__struct_fields__})
