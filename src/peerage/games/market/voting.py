"""Voting: a committee decides among options that are worth something else to each member. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import Annotated, Any

from msgspec import Meta, Struct

from peerage.game import Cell, Json, Steps
from peerage.games.market.rules import (
    BoardPart,
    BoardPlayed,
    MarketFamily,
    MarketRules,
    Move,
    everybody_everywhere,
    moves,
)

DECISIONS, OPTIONS, MOST = 10, 3, 100


class BallotCast(Struct, frozen=True):
    """Your votes."""

    votes: Annotated[
        list[Annotated[int, Meta(ge=1, le=OPTIONS)]],
        Meta(
            description="the option you vote for in each decision, in order",
            min_length=DECISIONS,
            max_length=DECISIONS,
        ),
    ]


BALLOTS = {
    False: "There is one ballot, which decides.",
    True: (
        "There are {rounds} ballots: only the last one decides, and after each of the others all see how "
        "many voted for what."
    ),
}
POLL = " In ballot {number} the options had these votes, by decision: {counts}."
FORMAT = Json(BallotCast)


def draw(rng: Random, seats: int, rounds: int) -> dict[str, Any]:
    """Return what each option of each decision is worth in each role."""
    return {
        "worths": [
            [[rng.randint(0, MOST) for _ in range(OPTIONS)] for _ in range(DECISIONS)] for _ in range(seats)
        ]
    }


def play(rules: MarketRules, board: Mapping[str, Any], seating: Sequence[str]) -> Steps[BoardPlayed]:
    """All ballots of one committee."""
    worths: dict[str, list[list[int]]] = dict(zip(seating, board["worths"], strict=False))
    ballots, lost = list[dict[str, list[int]]](), set[str]()
    for number in range(1, rules.rounds + 1):
        asked = {
            label: Move(
                {
                    "members": str(len(seating)),
                    "decisions": str(DECISIONS),
                    "options": str(OPTIONS),
                    "worths": "; ".join([f"decision {at}: {_listed(of)}" for at, of in enumerate(own, 1)]),
                    "ballots": BALLOTS[rules.rounds > 1].format(rounds=rules.rounds),
                    "number": str(number),
                    "rounds": str(rules.rounds),
                    "history": "".join([_poll(at, ballot) for at, ballot in enumerate(ballots, 1)]),
                },
                FORMAT,
                BallotCast([answer(label, worth, ballots[-1:], at) for at, worth in enumerate(own)]),
            )
            for label, own in worths.items()
            if label not in lost
        }
        answers = yield from moves(rules, number, "vote", asked, lost)
        ballots.append({label: move.votes for label, move in answers.items() if move is not None})
    gains, rows = dict.fromkeys(seating, 0), list[tuple[Cell, ...]]()
    for at in range(DECISIONS):
        option = chosen([votes[at] for votes in ballots[-1].values()])
        polled = []
        for label in seating:
            gains[label] += worths[label][at][option - 1] if option else 0
            vote = ballots[-1][label][at] if label in ballots[-1] else "none"
            polled.append(f"{vote} (worth {_listed(worths[label][at])})")
        rows.append((at + 1, *polled, option or None))
    rows.append(("gain", *gains.values(), None))
    return BoardPlayed([BoardPart((), gains)], lost, ("Decision", *seating, ">Chosen"), rows)


def chosen(votes: Sequence[int]) -> int:
    """The option with most votes, of equal ones the first; 0 without any vote."""
    return max(sorted(votes), key=votes.count, default=0)


def answer(label: str, worth: Sequence[int], before: Sequence[Mapping[str, Sequence[int]]], at: int) -> int:
    """The vote that is worth most if the others vote as before; the favourite where none matters."""
    options = sorted(range(1, OPTIONS + 1), key=lambda option: -worth[option - 1])
    others = [votes[at] for ballot in before for other, votes in ballot.items() if other != label]
    return max(options, key=lambda option: worth[chosen([*others, option]) - 1])


def _listed(values: Sequence[int]) -> str:
    return ", ".join(map(str, values))


def _poll(number: int, ballot: Mapping[str, Sequence[int]]) -> str:
    counts = [Counter([votes[at] for votes in ballot.values()]) for at in range(DECISIONS)]
    lines = [_listed([votes[option] for option in range(1, OPTIONS + 1)]) for votes in counts]
    return POLL.format(number=number, counts="; ".join(lines))


VOTING = MarketFamily(
    draw,
    play,
    everybody_everywhere,
    "vote",
    FORMAT,
    lambda players, rounds: players * rounds,
    lambda players, rounds: 200 * rounds,
)
