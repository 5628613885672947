"""Negotiation: a buyer and a seller with private values name prices at once, round by round. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations, permutations
from random import Random
from typing import Annotated, Any

from msgspec import Meta, Struct

from peerage.game import Json, Quote, Steps
from peerage.game.bounds import QUOTE
from peerage.games.market.rules import BoardPart, BoardPlayed, MarketFamily, MarketRules, Move, moves

MOST = 1_000
MESSAGE = 200


class PriceOffer(Struct, frozen=True):
    """Your offer."""

    price: Annotated[int, Meta(ge=0, le=MOST, description="the price you name, in coins")]
    message: Annotated[str, Meta(max_length=MESSAGE, description="words to the other side, or none")]


class HouseSecret(Struct, frozen=True):
    """Knowledge of a house player: the price that a perfect one names, and its value of the good."""

    price: int
    value: int


VALUES = {"buyer": "To you it is worth {value} coins.", "seller": "It costs you {value} coins."}
PAST = " In round {number} you named {own} and the {other} {theirs}."
NO_PRICE = "no price"
FORMAT = Json(PriceOffer)


def draw(rng: Random, seats: int, rounds: int) -> dict[str, Any]:
    """Draw the most of a value, the good's worth to the buyer, and its cost to the seller."""
    most = rng.randint(MOST // 5, MOST)
    while True:
        cost, worth = rng.randint(0, most), rng.randint(0, most)
        if 10 * (worth - cost) >= most:
            return {"most": most, "values": [worth, cost]}


def play(rules: MarketRules, board: Mapping[str, Any], seating: Sequence[str]) -> Steps[BoardPlayed]:
    """One good between a buyer and a seller, the two of `seating`."""
    worth, cost = board["values"]
    sides = dict(zip(seating, ("buyer", "seller"), strict=True))
    values = dict(zip(seating, (worth, cost), strict=True))
    past: list[dict[str, PriceOffer | None]] = []
    gains: dict[str, Fraction] = dict.fromkeys(seating, Fraction(0))
    deal, lost = "no deal", set[str]()
    for number in range(1, rules.rounds + 1):
        asked = {
            label: Move(
                {
                    "side": side,
                    "rounds": str(rules.rounds),
                    "number": str(number),
                    "value": VALUES[side].format(value=values[label]),
                    "most": str(board["most"]),
                    **_heard(label, sides, past),
                },
                FORMAT,
                HouseSecret(
                    fair(side, values[label], board["most"], number - 1, rules.rounds), values[label]
                ),
            )
            for label, side in sides.items()
        }
        past.append((yield from moves(rules, number, "haggle", asked, lost)))
        bid, ask = (past[-1][label] for label in seating)
        if lost:
            break
        if bid is not None and ask is not None and bid.price >= ask.price:
            price = Fraction(bid.price + ask.price, 2)
            share = Fraction(rules.rounds - number + 1, rules.rounds)
            gains = dict(zip(seating, ((worth - price) * share, (price - cost) * share), strict=True))
            deal = f"sold for {float(price):g}"
            break
    columns = ("Player", "", ">Value", *[f">Round {at}" for at in range(1, len(past) + 1)], "", ">Gain")
    rows = [
        (
            label,
            side,
            values[label],
            *[_price(offers[label]) for offers in past],
            deal,
            round(float(gains[label]), 2),
        )
        for label, side in sides.items()
    ]
    return BoardPlayed([BoardPart(seating, gains)], lost, columns, rows)


def _heard(
    me: str, sides: Mapping[str, str], past: Sequence[Mapping[str, PriceOffer | None]]
) -> dict[str, str | Quote]:
    """Return the talk so far, as one side reads it: all prices, and the other's last message."""
    (other,) = [label for label in sides if label != me]
    last = past[-1][other] if past else None
    lines = [
        PAST.format(number=number, own=_price(offers[me]), theirs=_price(offers[other]), other=sides[other])
        for number, offers in enumerate(past, 1)
    ]
    message = last.message if last is not None else ""
    return {
        "other": sides[other],
        "history": "".join(lines),
        "message": Quote(f"message of the {sides[other]}", message) if message else "",
    }


def _price(offer: PriceOffer | None) -> str:
    return NO_PRICE if offer is None else str(offer.price)


def fair(side: str, value: int, most: int, late: int, rounds: int) -> int:
    """The price of the linear equilibrium (Chatterjee, Samuelson, 1983), which nears the value with time."""
    if side == "buyer":
        first = min(value, (8 * value + most) // 12)
    else:
        first = max(value, (8 * value + 3 * most) // 12)
    return first + (value - first) * late // rounds


def pairs(labels: Sequence[str], rotate: bool) -> list[list[str]]:
    """Every two players, with both as the buyer or only the first."""
    return [list(pair) for pair in (permutations if rotate else combinations)(labels, 2)]


NEGOTIATION = MarketFamily(
    draw,
    play,
    pairs,
    "haggle",
    FORMAT,
    lambda players, rounds: 2 * (players - 1) * rounds,
    lambda players, rounds: MESSAGE + QUOTE + 60 * rounds,
)
