"""A game of pictures: two are drawn for each match from those in a file beside it, and shown to all."""

import json
from pathlib import Path
from random import Random
from typing import Annotated

from msgspec import Meta, Struct

from peerage.formats import Json
from peerage.game.bounds import Asks
from peerage.game.match import Outcome, by_rank
from peerage.game.protocol import Ask, Prompt
from peerage.game.spec import GameSpec

PLAY = Prompt("You look at pictures.", "{first} What is on it?\n{second} And on this?\n{format}")
URLS = json.loads(Path(__file__).with_name("pictures.json").read_text("utf-8"))


class Seen(Struct):
    """The picture as it was read."""

    shade: Annotated[int, Meta(ge=0, le=255, description="how bright they are")]


FORMAT = Json(Seen)


def draw(rules, secret, number):
    rng = Random(f"see/{secret}/{number}")
    return {"pictures": [rng.choice(URLS) for _ in range(2)], "shade": rng.randint(0, 255)}


def play(table):
    first, second = table.drawn["pictures"]
    fill = {"first": first, "second": second, "format": FORMAT.instruction()}
    replies = yield [
        Ask(
            seat.label,
            f"look/{seat.label}",
            "contestant",
            PLAY.messages(fill),
            FORMAT,
            max_tokens=50,
            oracle=table.drawn["shade"],
        )
        for seat in table.seats
    ]
    off = [abs(reply.value.shade - table.drawn["shade"]) if reply.ok else 256 for reply in replies]
    return Outcome(scores=by_rank({seat.label: -miss for seat, miss in zip(table.seats, off, strict=True)}))


def house(call, skill, rng):
    return Seen(max(0, min(255, round(call.oracle + rng.gauss(0, 100 * (1 - skill))))))


GAME = GameSpec(
    name="see",
    about="Who sees best wins.",
    play=play,
    draw=draw,
    asks=lambda rules, fixture: (Asks("contestant", PLAY, FORMAT, calls=1, max_tokens=50),),
    house=house,
)
