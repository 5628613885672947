"""When two challenges are the same."""

import pytest

from peerage.challenges.wording import identity, likeness, mark

SUM = "What is the sum of all even numbers between 1 and 1,000, inclusive?"


def same(one: str, other: str, answer: int, its: int) -> bool:
    return bool(set(likeness(one, answer)) & set(likeness(other, its)))


@pytest.mark.parametrize(
    "text",
    [
        SUM.upper() + "!!",
        "Please find the sum of even numbers from 1 to 1000.",
        "**Compute:** sum of all even numbers, 1 through 1000",
        "Between 1 and 1000, what is the even numbers' sum?",
        "> Sum of all even numbers\n> between 1 and 1000\n\n====\n",
        "\uff33um of all even numbers between \uff11 and 1000",
        "S\u03c5m of \u0430ll \u0435v\u0435n numb\u0435rs b\u0435tw\u0435\u0435n 1 \u0430nd 1000",
        "S\u00fam of all \u00e9ven numbers between 1 and 1000",
        "Sum of all even numbers between \u0661 and \u0661\u0660\u0660\u0660",
    ],
)
def test_filler_order_and_marks_make_no_new_challenge(text: str) -> None:
    assert same(SUM, text, 250500, 7), "whatever its answer is said to be"
    assert identity(SUM) != identity(text) or text.startswith("WHAT")


def test_the_same_puzzle_told_otherwise_is_known_by_its_numbers_and_answer() -> None:
    told = "A shop sells eggs singly. On day 1 … until day 1000 only customers who come in pairs count. Eggs?"
    assert same(SUM, told, 250500, 250500)
    assert not same(SUM, told, 250500, 250501)
    assert not same("Half of 10?", "5 is which part of 10?", 5, 5), "small answers are shared by chance"


@pytest.mark.parametrize(
    "text",
    [
        "What is the sum of all odd numbers between 1 and 1,000, inclusive?",
        "What is the sum of all even numbers between 1 and 1,001, inclusive?",
        "What is the product of all even numbers between 1 and 1,000, inclusive?",
        "What is the sum of all even numbers between 1000 and 1, inclusive?",
    ],
)
def test_another_word_or_number_makes_another_challenge(text: str) -> None:
    assert not same(SUM, text, 250500, 250000)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3 - 2", "3 + 2"),
        ("2 ^ 3", "2 * 3"),
        ("x + y", "x - y"),
        ("3!", "3"),
        ("10\u00b2", "102"),
        ("\u0663", "\u0664"),
        ("what is the", "find all"),
    ],
)
def test_signs_count_and_nothing_but_filler_is_no_likeness(one: str, other: str) -> None:
    assert not same(one, other, 1, 1)
    assert same("3 − 2", "3 - 2", 1, 1)
    assert same("10\u00b2", "10 ^ 2", 1, 1)


def test_marks_tell_nothing_without_their_salt() -> None:
    text = likeness(SUM, 250500)[1]
    assert mark(text, "a") != mark(text, "b")
    assert len(mark(text, "a")) == 6


def test_long_texts_of_blanks_and_signs_are_read_in_one_pass() -> None:
    """A text that a backtracking pattern reads again from each of its characters; it would take minutes."""
    for filler in (" ", "=", "> "):
        text = f"Add 1 to {filler * 200_000} 2"
        assert likeness(text, 3) == likeness(text + filler * 200_000, 3)
