"""Texts that a seat reads of deals that are over: its own view, what was shown, and the score."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from peerage.games.adapter import entries
from peerage.games.earlier_deals import END_CHARS, MOST_CHARS, EarlierDeals, Showdown, showing

PLAYERS = ("A", "B", "C")


def view(player: int) -> str:
    return f"the cards of player {player}"


def after(showdown: Showdown, *deals: tuple[Sequence[str], Sequence[str], Sequence[float]]) -> EarlierDeals:
    """Deals that are over: who was which player, the moves, and the points."""
    earlier = EarlierDeals(showdown, PLAYERS)
    for players, moves, points in deals:
        earlier.add(view, {"players": players, "moves": moves, "points": points})
    return earlier


@pytest.mark.parametrize(
    ("game", "moves", "shown"),
    [
        ("kuhn-poker", ["A: Pass", "B: Pass", "C: Pass"], [0, 1, 2]),
        ("kuhn-poker", ["A: Pass", "B: Bet", "C: Pass", "A: Bet"], [0, 1]),
        ("kuhn-poker", ["A: Bet", "B: Pass", "C: Pass"], []),
        ("leduc-poker", ["A: Raise", "B: Fold", "C: Call", "A: Call"], [0, 2]),
        ("leduc-poker", ["A: Raise", "B: Fold", "C: Fold"], []),
        ("holdem-six", ["A: raise to 6", "B: fold", "C: call", "A: check", "C: check"], [0, 2]),
        ("liars-dice", ["A: 1-4", "B: Liar"], [0, 1, 2]),
        ("battleship", ["A: Pl0: shoot at (2, 1)"], []),
    ],
)
def test_cards_are_shown_by_those_who_are_left(game: str, moves: list[str], shown: list[int]) -> None:
    entry = entries("open_spiel")[game]
    assert showing(Showdown(entry.hidden, entry.shown, entry.fold), PLAYERS, moves) == shown


def test_a_seat_reads_its_own_view_and_what_was_shown_and_nothing_of_who_folded() -> None:
    showdown = Showdown(True, "unfolded", "Fold")
    earlier = after(showdown, (PLAYERS, ["A: Raise", "B: Fold", "C: Call"], [3, -1, -2]))
    texts = {label: earlier.shown_to(label, ("B", "C", "A")) for label in PLAYERS}
    assert {label: [at for at in range(3) if view(at) in text] for label, text in texts.items()} == {
        "A": [0, 2],
        "B": [0, 1, 2],
        "C": [0, 2],
    }
    assert "Deal 1: you were player 1 and got -1 points." in texts["B"]
    assert "-1 of player 0 (you), -2 of player 1, +3 of player 2" in texts["B"]
    assert texts["A"].count(view(0)) == 1


def test_of_a_board_that_all_see_points_are_enough() -> None:
    earlier = after(Showdown(False, "", "Fold"), (PLAYERS, ["A: a1"], [1, 0, -1]))
    assert "+1 points" in earlier.shown_to("A", PLAYERS)
    assert "the cards of" not in earlier.shown_to("A", PLAYERS)


def test_the_first_deal_says_nothing_and_the_oldest_are_left_out() -> None:
    showdown = Showdown(True, "", "Fold")
    assert EarlierDeals(showdown, PLAYERS).shown_to("A", PLAYERS) == ""
    deals = [(PLAYERS, ["A: x"], [1.0, 0.0, -1.0])] * 100
    text = after(showdown, *deals).shown_to("A", PLAYERS)
    assert "Deal 100:" in text
    assert "Deal 1:" not in text
    assert "+100 of player 0 (you)" in text, "the score is of all"
    assert len(text) < MOST_CHARS + 400


def test_a_long_view_keeps_its_beginning_and_its_end() -> None:
    earlier = EarlierDeals(Showdown(True, "", "Fold"), ("A",))
    deal = {"players": ["A"], "moves": [], "points": [0.0]}
    earlier.add(lambda player: f"cards{'.' * 5 * END_CHARS}result", deal)
    text = earlier.shown_to("A", ["A"])
    assert "cards" in text
    assert "result" in text
    assert len(text) < END_CHARS + 300
