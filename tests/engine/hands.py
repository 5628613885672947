"""A game of much luck: what a seat was dealt counts more than what its player makes of it."""

from random import Random
from typing import Annotated

from msgspec import Meta, Struct
from pydantic import Field

from peerage.formats import Json
from peerage.game.bounds import Asks
from peerage.game.match import Outcome, by_rank
from peerage.game.protocol import Ask, Prompt
from peerage.game.spec import GameRules, GameSpec, Seating

MOST = 1_000
PLAY = Prompt(
    "You play a hand of cards. The most points win; points are what you say, and what your hand is worth.",
    "Your hand is worth {hand} points. Say a whole number from 0 to 1000.\n{format}",
)


class Points(Struct):
    """What is said."""

    points: Annotated[int, Meta(ge=0, le=MOST, description="what you say")]


FORMAT = Json(Points)


class HandsRules(GameRules):
    seats: int = Field(2, ge=2, le=10, description="Players at a table.")
    swing: int = Field(1_000, ge=0, description="What the best hand is worth.")
    shared: bool = Field(True, description="Whether hands may be played again in another seat.")


def draw(rules, secret, number):
    rng = Random(f"hands/{secret}/{number}")
    return {"hands": [rng.randint(0, rules.swing) for _ in range(rules.seats)], "word": f"word{rng.random()}"}


def play(table):
    hands = dict(zip([seat.label for seat in table.seats], table.drawn["hands"], strict=False))
    replies = yield [
        Ask(
            label,
            f"play/{label}",
            "contestant",
            PLAY.messages({"hand": str(hand), "format": FORMAT.instruction()}),
            FORMAT,
            max_tokens=100,
            oracle=MOST,
        )
        for label, hand in hands.items()
    ]
    lost = [label for label, reply in zip(hands, replies, strict=True) if reply.status == "void"]
    points = {
        label: hand + (reply.value.points if reply.ok else 0)
        for (label, hand), reply in zip(hands.items(), replies, strict=True)
        if label not in lost
    }
    if len(points) < 2:
        return Outcome(void="no_answer", detail={"hands": hands})
    return Outcome(scores=by_rank(points), detail={"hands": hands, "points": points, "unranked": lost})


def house(call, skill, rng):
    return Points(max(0, min(MOST, round(rng.gauss(skill * MOST, 120)))))


GAME = GameSpec(
    name="hands",
    about="Most points win.",
    contestants=(2, 10),
    rules=HandsRules,
    play=play,
    draw=draw,
    asks=lambda rules, fixture: (Asks("contestant", PLAY, FORMAT, calls=1, max_tokens=100),),
    house=house,
    seating=Seating(rotates=lambda rules: rules.shared),
    survives=True,
)
