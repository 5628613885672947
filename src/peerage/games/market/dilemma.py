"""The repeated prisoner's dilemma of everybody with everybody. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from random import Random
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from peerage.game import Cell, Json, Steps
from peerage.games.market.rules import (
    BoardPart,
    BoardPlayed,
    MarketFamily,
    MarketRules,
    Move,
    as_they_are,
    moves,
)


class Moves(Struct, frozen=True):
    """Your moves."""

    moves: Annotated[
        list[Literal["cooperate", "defect"]],
        Meta(description="your move towards each player listed, in order"),
    ]


def draw(rng: Random, seats: int, rounds: int) -> dict[str, Any]:
    """Temptation above reward above punishment above sucker; two rewards above a temptation and a sucker."""
    sucker = rng.randint(0, 5)
    punishment = sucker + rng.randint(3, 6)
    reward = punishment + rng.randint(3, 6)
    temptation = reward + rng.randint(3, reward - sucker - 1)
    return {"temptation": temptation, "reward": reward, "punishment": punishment, "sucker": sucker}


def play(rules: MarketRules, board: Mapping[str, int], seating: Sequence[str]) -> Steps[BoardPlayed]:
    """All rounds of everybody with everybody."""
    lost: set[str] = set()
    done: dict[tuple[str, str], list[str]] = {(me, other): [] for me in seating for other in seating}
    for number in range(1, rules.rounds + 1):
        left = [label for label in seating if label not in lost]
        if len(left) < 2:
            break
        expects = Json(Moves, moves=Meta(min_length=len(left) - 1, max_length=len(left) - 1))
        others = {me: [other for other in left if other != me] for me in left}
        asked = {
            me: Move(
                {
                    **{name: str(gain) for name, gain in board.items()},
                    "rounds": str(rules.rounds),
                    "number": str(number),
                    "me": me,
                    "history": "; ".join([_past(board, at, done[me, at], done[at, me]) for at in opponents])
                    + ".",
                },
                expects,
                Moves([grim(done[other, me], number == rules.rounds) for other in opponents]),
            )
            for me, opponents in others.items()
        }
        answers = yield from moves(rules, number, "dilemma", asked, lost)
        for me, opponents in others.items():
            chosen = answers[me].moves if answers[me] is not None else ["cooperate"] * len(opponents)
            for other, move in zip(opponents, chosen, strict=True):
                done[me, other].append(move)
    parts, rows = list[BoardPart](), list[tuple[Cell, ...]]()
    for pair in combinations(seating, 2):
        gains = {me: gained(board, done[me, other], done[other, me]) for me, other in (pair, pair[::-1])}
        parts.append(BoardPart(pair, gains))
        rows += [(me, other, _letters(done[me, other]), gains[me]) for me, other in (pair, pair[::-1])]
    return BoardPlayed(parts, lost, ("Player", "With", "Cooperated or defected", ">Gain"), rows)


def grim(theirs: Sequence[str], last: bool) -> Literal["cooperate", "defect"]:
    """The move of a perfect player: it cooperates until the other defects, and defects in the last round."""
    return "defect" if last or "defect" in theirs else "cooperate"


def gained(board: Mapping[str, int], own: Sequence[str], theirs: Sequence[str]) -> int:
    """Return what some rounds gain."""
    return sum([gain(board, move, other) for move, other in zip(own, theirs, strict=False)])


def gain(board: Mapping[str, int], own: str, theirs: str) -> int:
    """Return what one round gains."""
    if own == "cooperate":
        return board["reward" if theirs == "cooperate" else "sucker"]
    return board["temptation" if theirs == "cooperate" else "punishment"]


def _past(board: Mapping[str, int], other: str, own: Sequence[str], theirs: Sequence[str]) -> str:
    if not own:
        return f"{other}: nothing yet"
    gains = f"gains so far: you {gained(board, own, theirs)}, {other} {gained(board, theirs, own)}"
    return f"{other}: you {_letters(own)}, {other} {_letters(theirs)} ({gains})"


def _letters(chosen: Sequence[str]) -> str:
    return " ".join([move[0] for move in chosen])


PRISONERS_DILEMMA = MarketFamily(
    draw,
    play,
    as_they_are,
    "dilemma",
    Json(Moves),
    lambda players, rounds: rounds,
    lambda players, rounds: players * (70 + 4 * rounds),
)
