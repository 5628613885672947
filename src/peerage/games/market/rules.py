"""The settings of markets, and what their families share. Pure.

A family plays one board at a time: `play(rules, board, seating)`, where `seating` are the labels of the
players in the order of the board's roles. The moves of a round are asked at once, so nobody sees another's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from random import Random
from typing import Any, Literal, NamedTuple, TypeAlias

from pydantic import Field, model_validator

from peerage.game import SCORE, Cell, Format, GameRules, MaxTokens, Quote, Reply, Steps, texts

MarketName: TypeAlias = Literal["first-price", "second-price", "negotiation", "prisoners-dilemma", "voting"]
USUAL: Mapping[str, tuple[int, int]] = {
    "first-price": (4, 5),
    "second-price": (4, 5),
    "negotiation": (2, 3),
    "prisoners-dilemma": (4, 10),
    "voting": (3, 2),
}
"""The usual seats and rounds of each market."""
BOARDS = {"negotiation": 5}
"""Boards of a match, each drawn by itself, where there is more than one."""

AUCTIONS = ("first-price", "second-price")
REPEATED = ("negotiation", "prisoners-dilemma")
"""Markets in which players remember the rounds before, in their own conversation with one role alone."""
ROLES = {
    True: (
        "The same game is played at the same time with the players in each other's places, so that everybody "
        "is in every place once and none has the luck of a better one."
    ),
    "fresh": (
        "Other games of this kind are played at the same time, with numbers of their own and the players in "
        "each other's places, so that everybody is in every place once. What you learn in one says nothing "
        "of another."
    ),
    False: "Nobody changes places in this match.",
}
WINNING = {
    False: "The gains of {games} are added up, and players are ranked by the sum.",
    True: (
        "Players are ranked by how little they missed in {games}: the most that each could have gained with "
        "other bids of its own against those of the others, less what it gained."
    ),
}
"""Return whether the market is an auction. By gains alone, overbidding to spoil lots would beat truth."""


class MarketRules(GameRules):
    """Settings of a market."""

    market: MarketName = Field("first-price", description="What is played.")
    seats: int = Field(
        4, ge=2, le=10, description="Players in a match; by default 2 in negotiation, 3 in voting, else 4."
    )
    rounds: int = Field(
        5,
        ge=1,
        le=20,
        description="Lots of an auction, ballots of a vote, else rounds; by default 5, 2, and 3 in "
        "negotiation, 10 in the prisoner's dilemma.",
    )
    rotate: bool | Literal["fresh"] = Field(
        True,
        description="Play each board once with every player in every role; `fresh`: everybody in every role, "
        "each time on a board of its own, which is the default where an agent or a person plays, who may "
        "remember a board; false: only once.",
    )
    max_tokens: MaxTokens = 2_000

    @model_validator(mode="before")
    @classmethod
    def _usual(cls, given: Any) -> Any:
        """Lay what is usual in the market under what is stated."""
        if not isinstance(given, dict) or (market := given.get("market", "first-price")) not in USUAL:
            return given
        seats, rounds = USUAL[market]
        return {"seats": seats, "rounds": rounds, **given}

    @property
    def boards(self) -> int:
        """Return how many boards a match has, each drawn by itself."""
        return BOARDS.get(self.market, 1)

    def common_fills(self) -> dict[str, str]:
        """Return the text that every player reads: how places change, and who wins."""
        games = "the match" if self.boards == 1 else f"all {self.boards} such games of the match"
        winning = WINNING[self.market in AUCTIONS].format(games=games)
        return {"roles": ROLES[self.rotate], "winning": f"{winning} {SCORE}"}


class BoardPart(NamedTuple):
    """Gains of each player in a part of a board, in an auction less the most it could have gained. It counts
    while no provider of its `members` failed."""

    members: Sequence[str]
    gains: Mapping[str, Fraction | int]


class BoardPlayed(NamedTuple):
    """Outcome of a board in one seating, whose provider failed, and a table of it for people: labels in
    `columns` and in first cells of `rows` stand for players."""

    parts: Sequence[BoardPart]
    lost: set[str]
    columns: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]


class MarketFamily(NamedTuple):
    """One kind of market.

    `draw(rng, seats, rounds)` makes a board, `seatings(labels, rotate)` are those it is played in. A move is
    asked with the text of the name `prompt` and `expects`; `calls(players, rounds)` are the most moves of one
    player on one board, over all seatings, and `heard(players, rounds)` the characters of moves that one
    request holds.
    """

    draw: Callable[[Random, int, int], dict[str, Any]]
    play: Callable[[MarketRules, Mapping[str, Any], Sequence[str]], Steps[BoardPlayed]]
    seatings: Callable[[Sequence[str], bool], list[list[str]]]
    prompt: str
    expects: Format
    calls: Callable[[int, int], int]
    heard: Callable[[int, int], int]


def everybody_everywhere(labels: Sequence[str], rotate: bool) -> list[list[str]]:
    """Everybody once in every role, or all as they are."""
    return [[*labels[at:], *labels[:at]] for at in range(len(labels) if rotate else 1)]


def as_they_are(labels: Sequence[str], rotate: bool) -> list[list[str]]:
    """All as they are: every role is the same."""
    return [list(labels)]


class Move(NamedTuple):
    """Request to one player: what fills the prompt, the format, and what a perfect player knows."""

    fill: Mapping[str, str | Quote]
    expects: Format
    perfect: Any


def moves(
    rules: MarketRules, number: int, prompt: str, asked: Mapping[str, Move], lost: set[str]
) -> Steps[dict[str, Any]]:
    """The moves of round `number` by label, all asked at once; None where a reply cannot be used. Those whose
    provider failed are added to `lost`."""
    common, own = rules.common_fills(), texts(__package__, rules.texts)[prompt]
    replies: list[Reply] = yield [
        own.ask(
            label,
            f"{number}/{label}",
            move.expects,
            {**common, **move.fill},
            rules.max_tokens,
            oracle=move.perfect,
        )
        for label, move in asked.items()
    ]
    by_label = dict(zip(asked, replies, strict=True))
    lost.update([label for label, reply in by_label.items() if reply.status == "void"])
    return {label: reply.value if reply.ok else None for label, reply in by_label.items()}
