"""A sealed-bid auction for one lot, which is worth something else to everybody."""

from typing import Annotated

from msgspec import Meta, Struct

from peerage.game import Ask, Asks, GameSpec, Json, Outcome, Prompt, by_rank


class Bid(Struct):
    """A sealed bid."""

    amount: Annotated[int, Meta(ge=0, le=100, description="what you offer, in coins")]


FORMAT = Json(Bid)
BID = Prompt(
    system="You bid in a sealed auction against one other player.",
    user="The lot is worth {value} coins to you, and something else to the other, up to 100. The higher bid "
    "wins the lot and pays itself; equal bids win nothing. Who gains more wins: what the lot is worth to you "
    "less what you pay, or nothing.\n{format}",
)


def play(table):
    values = {seat.label: table.rng(seat.label).randint(1, 100) for seat in table.seats}
    replies = yield [
        Ask(
            label,
            f"bid/{label}",
            "contestant",
            BID.messages({"value": str(value), "format": FORMAT.instruction()}),
            FORMAT,
            max_tokens=300,
            oracle=value,
        )
        for label, value in values.items()
    ]
    given = zip(values, replies, strict=True)
    bids = {label: reply.value.amount for label, reply in given if reply.ok}
    best = max(bids.values(), default=0)
    winners = [label for label, bid in bids.items() if bid == best]
    gains = {label: values[label] - best if winners == [label] else 0 for label in values}
    return Outcome(scores=by_rank(gains), detail={"worth": values, "bid": bids, "gain": gains})


def asks(rules, fixture):
    yield Asks("contestant", BID, FORMAT, calls=1, max_tokens=300)


def house(call, skill, rng):
    """A master offers some half of the value; the less skill, the more a bid is a guess."""
    return Bid(call.oracle // 2 if rng.random() < skill else rng.randint(0, 100))


GAME = GameSpec(
    name="example",
    about="Sealed bids for one lot, worth something else to both; who gains more wins.",
    play=play,
    asks=asks,
    house=house,
)
