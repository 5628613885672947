"""Sealed-bid auctions: the highest bid wins a lot and pays itself, or the second highest. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Annotated, Any

from msgspec import Meta, Struct

from peerage.game import Cell, Json, Steps, texts
from peerage.games.market.rules import (
    BoardPart,
    BoardPlayed,
    MarketFamily,
    MarketRules,
    Move,
    everybody_everywhere,
    moves,
)

MOST_WORTH, MOST_BID = 100, 200


class Bids(Struct, frozen=True):
    """Your sealed bids."""

    bids: Annotated[
        list[Annotated[int, Meta(ge=0, le=MOST_BID)]],
        Meta(description="your bid for each lot, in coins, in order"),
    ]


def draw(rng: Random, seats: int, rounds: int) -> dict[str, Any]:
    """Return what each lot is worth in each role."""
    return {"worths": [[rng.randint(1, MOST_WORTH) for _ in range(rounds)] for _ in range(seats)]}


def play(rules: MarketRules, board: Mapping[str, Any], seating: Sequence[str]) -> Steps[BoardPlayed]:
    """All lots at once."""
    worths: dict[str, list[int]] = dict(zip(seating, board["worths"], strict=False))
    lots, lost = range(len(board["worths"][0])), set[str]()
    expects = Json(Bids, bids=Meta(min_length=len(lots), max_length=len(lots)))
    asked = {
        label: Move(
            {
                "others": "one other player" if len(seating) == 2 else f"{len(seating) - 1} other players",
                "lots": "one lot" if len(lots) == 1 else f"{len(lots)} lots",
                "worths": ", ".join(map(str, own)),
                "price": texts(__package__, rules.texts)["prices"][rules.market],
            },
            expects,
            Bids([ideal(worth, len(seating), rules.market) for worth in own]),
        )
        for label, own in worths.items()
    }
    answers = yield from moves(rules, 1, "bid", asked, lost)
    bids: dict[str, list[int]] = {
        label: move.bids if move is not None else [0 for _ in lots] for label, move in answers.items()
    }
    gains, most, rows = dict.fromkeys(seating, 0), dict.fromkeys(seating, 0), list[tuple[Cell, ...]]()
    for lot in lots:
        winner, paid = sold({label: own[lot] for label, own in bids.items()}, rules.market)
        if winner is not None:
            gains[winner] += worths[winner][lot] - paid
        for label in seating:
            others = max([own[lot] for other, own in bids.items() if other != label])
            price = others + (rules.market == "first-price")
            most[label] += max(0, worths[label][lot] - price)
        cells = [
            f"{bids[label][lot]} (worth {worths[label][lot]})" + f", won for {paid}" * (label == winner)
            for label in seating
        ]
        rows.append((lot + 1, *cells))
    rows += [("gain", *gains.values()), ("at most", *most.values())]
    missed = {label: gain - most[label] for label, gain in gains.items()}
    return BoardPlayed([BoardPart((), missed)], lost, ("Lot", *seating), rows)


def ideal(worth: int, bidders: int, market: str) -> int:
    """The equilibrium bid among equals: the worth, or a part in `bidders` less where one pays it."""
    return worth if market == "second-price" else worth * (bidders - 1) // bidders


def sold(bids: Mapping[str, int], market: str) -> tuple[str | None, int]:
    """Return who wins a lot, and for how much; nobody where the highest bids are equal."""
    first, second = sorted(bids.values(), reverse=True)[:2]
    if first == second:
        return None, 0
    return max(bids, key=lambda label: bids[label]), first if market == "first-price" else second


AUCTION = MarketFamily(
    draw,
    play,
    everybody_everywhere,
    "bid",
    Json(Bids),
    lambda players, rounds: players,
    lambda players, rounds: 10 * rounds,
)
