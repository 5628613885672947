"""A match of a market as blocks: every board in every seating, what was said, and who gained what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from peerage.blocks import Block, Heading, Quoted, Replies, Sentence, Table, names, result, said
from peerage.games.market.rules import AUCTIONS
from peerage.games.texts import texts
from peerage.match import Fixture, Outcome

MARKETS: Mapping[str, str] = texts(__package__)["markets"]
WINS = {
    False: "Who gained most over all boards and seatings wins.",
    True: "Who missed least of what it could have gained against the others' bids wins, over all seatings.",
}


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """The boards, then the ranking."""
    players = names(fixture)
    market = fixture.settings["market"]
    yield Heading(f"The market: {market}")
    yield Sentence(MARKETS[market])
    boards: dict[str, Any] = outcome.detail.get("boards", {})
    keys = boards or dict.fromkeys(["/".join(key.split("/")[:2]) for key in replies])
    for key in keys:
        number, seating = key.split("/")
        yield Heading(f"Board {number}, seating {seating}")
        if terms := _terms(market, fixture.drawn["boards"][int(number) - 1]):
            yield Sentence(terms, "quiet")
        if key in boards:
            columns = [players.get(name, name) for name in boards[key]["columns"]]
            named = {label: f"{player} ({label})" for label, player in players.items()}
            rows = [(named.get(row[0], row[0]), *row[1:]) for row in boards[key]["rows"]]
            yield Table(tuple(columns), tuple(rows))
        for name, reply in replies.items():
            if name.startswith(f"{key}/") and reply.status != "ok":
                yield said(reply)
            elif name.startswith(f"{key}/") and (message := getattr(reply.value, "message", "")):
                yield Quoted(reply.label, message, reply.key, note=f"in round {name.split('/')[2]}")
    sums = outcome.detail.get("sums", {})
    missed = market in AUCTIONS
    why = {label: f"{abs(one):,g} missed" if missed else f"{one:,g} gained" for label, one in sums.items()}
    yield from result(fixture, outcome, WINS[missed], why)


def _terms(market: str, board: Mapping[str, Any]) -> str:
    """Return what the table of a board cannot be read without."""
    match market:
        case "prisoners-dilemma":
            return (
                "c cooperated, d defected. A round gains {reward} each where both cooperate, {punishment} "
                "each where both defect; {temptation} for the one who defects alone, {sucker} for the other."
            ).format_map(board)
        case "first-price" | "second-price":
            return "At most: what other bids could have gained against those of the others."
        case _:
            return ""
