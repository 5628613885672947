"""Moves of games: one of those that are legal, read as people and models write them, and never another."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from peerage.formats import FormatError, LegalMove, move_format, recorded, stored

BETS = ("fold", "call", *(f"raise to {chips}" for chips in range(4, 201)))
CHESS = ("bxc3", "Bxc3", "Nf3+", "O-O", "O-O-O", "exd5", "e8=Q", "Qh5#", "a3")
CHECKERS = ("8/5 6/5", "13/7*/1*", "Bar/24* 13/7", "8/4(2)", "Pass")


def test_a_negative_number_is_no_move() -> None:
    for names in (("raise to 9", "fold"), ("1", "2")):
        expects = move_format("move", names)
        assert expects.parse(names[0]).choice == names[0]
        with pytest.raises(FormatError):
            expects.parse(f'{{"move": "{names[0].replace(names[0][-1], "-" + names[0][-1])}"}}')


def bets() -> Any:
    return move_format("move", BETS)


def test_amounts_are_one_move_with_a_number() -> None:
    expects = bets()
    assert expects.options == ("fold", "call")
    assert expects.instruction().endswith(
        '"move": "fold" | "call" | "raise to N"} ("raise to N": N is a whole number from 4 to 200)'
    )
    assert expects.schema()["properties"]["move"]["type"] == "string"
    assert "enum" not in expects.schema()["properties"]["move"]
    few = move_format("move", ("fold", "raise to 9", "raise to 12"))
    assert few == LegalMove("move", ("fold", "raise to 9", "raise to 12"))
    gaps = move_format("move", [f"take {count}" for count in range(1, 40) if count != 7])
    assert not gaps.amounts  # type: ignore[attr-defined]
    assert recorded(stored(expects)) == expects


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ('{"reason": "strong", "move": "raise to 40"}', "raise to 40"),
        ('{"move": "Raise to: $40"}', "raise to 40"),
        ('{"move": "raise to 040"}', "raise to 40"),
        ("Move: **raise to 200**", "raise to 200"),
        ("fold", "fold"),
        ('{"move": "raise to 40 chips"}', "raise to 40"),
    ],
)
def test_a_bet_is_read(text: str, choice: str) -> None:
    assert bets().parse(text).choice == choice


@pytest.mark.parametrize(
    "move",
    [
        "raise to 3",
        "raise to 201",
        "raise to -40",
        "raise to 40.5",
        "raise to 1e2",
        "raise to N",
        "raise 40",
        "raise to",
        "raise to 40 or 50",
        "raise to 4" + "0" * 400,
        "raise to ٤٠",
        "all-in",
        "check",
        "",
        "40",
    ],
)
def test_what_is_no_legal_bet_is_none(move: str) -> None:
    with pytest.raises(FormatError, match=r"raise to N \(N: a whole number from 4 to 200\)"):
        bets().parse(bets().write(move))


@pytest.mark.parametrize(
    ("written", "move"),
    [
        ("Nf3", "Nf3+"),
        ("0-0", "O-O"),
        ("0-0-0", "O-O-O"),
        ("ed5", "exd5"),
        ("e8Q", "e8=Q"),
        ("Qh5", "Qh5#"),
        ("bxc3", "bxc3"),
        ("bc3", "bxc3"),
        ("Bc3", "Bxc3"),
        ("*a3*", "a3"),
        ("nf3", None),
        ("B3", None),
        ("e8=R", None),
        ("c3", None),
        ("A3", None),
        ("Nf3 or a3", None),
    ],
)
def test_a_move_of_chess_may_lack_its_marks_and_never_its_case(written: str, move: str | None) -> None:
    expects: Any = move_format("move", CHESS, cased=True)
    assert expects.option(written) == move


def test_a_capture_by_a_pawn_is_not_one_by_a_bishop() -> None:
    expects: Any = move_format("move", ("bxc3", "a3"), cased=True)
    assert expects.option("Bxc3") is None


@pytest.mark.parametrize(
    ("written", "move"),
    [
        ("6/5 8/5", "8/5 6/5"),
        ("13/7/1", "13/7*/1*"),
        ("13/7 bar/24", "Bar/24* 13/7"),
        ("pass", "Pass"),
        ("8/5", None),
        ("8/6 5/5", None),
        ("8/4", None),
        ("5/8 5/6", None),
    ],
)
def test_moves_of_checkers_may_come_in_any_order(written: str, move: str | None) -> None:
    expects: Any = move_format("move", CHECKERS)
    assert expects.option(written) == move


@pytest.mark.parametrize("names", [BETS, CHESS, CHECKERS])
def test_what_is_written_is_read_back(names: tuple[str, ...]) -> None:
    expects = move_format("move", names, cased=names is CHESS)
    for seed in range(40):
        chosen = expects.sample(Random(seed))
        assert expects.parse(expects.write(chosen)) == chosen
        assert chosen.choice in names
