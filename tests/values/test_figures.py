"""Values as people read them."""

from __future__ import annotations

import pytest

from peerage.values.figures import (
    aligned,
    begun,
    chance,
    counted,
    dollars,
    elapsed,
    exact_dollars,
    likely,
    rounded,
    sentence,
    shortened,
    spans,
)


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([3.2118, 0.73, 0.052], ["$3.21\u2007", "$0.73\u2007", "$0.052"]),
        ([0.73, None, 0.0], ["$0.73", "–", "free"]),
        ([124.0, 0.04], ["$120\u2008\u2007\u2007\u2007", "$0.040"]),
        ([12.5, 11.0], ["$12", "$11"]),
        ([], []),
    ],
)
def test_decimal_points_of_money_stand_one_above_the_other(
    values: list[float | None], shown: list[str]
) -> None:
    texts = [dollars(value) for value in values]
    assert [aligned(texts)[text] for text in texts] == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Which river is\nlongest?", "Which river is longest?"),
        ("Which of these rivers is the longest?", "Which of these rivers…"),
        ("Which of these rivers, exactly, is it?", "Which of these rivers,…"),
        ("Donaudampfschifffahrtsgesellschaft", "Donaudampfschifffahrtsg…"),
    ],
)
def test_a_beginning_ends_with_a_whole_word(text: str, shown: str) -> None:
    assert begun(text, 24) == shown
    assert len(shown) <= 24


@pytest.mark.parametrize(
    ("value", "shown"),
    [(30_285.4, "30,300"), (399.4, "399"), (99.96, "100"), (23.66, "23.7"), (1.0, "1.00"), (None, "–")],
)
def test_what_is_not_known_more_closely_has_three_digits(value: float | None, shown: str) -> None:
    assert rounded(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1234.56, "$1,200"),
        (399.4, "$400"),
        (36.64, "$37"),
        (9.96, "$10"),
        (9.94, "$9.94"),
        (3.66, "$3.66"),
        (1.0, "$1.00"),
        (0.6987, "$0.70"),
        (0.0996, "$0.10"),
        (0.0223, "$0.022"),
        (0.00002, "$0.000020"),
        (0.0, "free"),
        (None, "–"),
    ],
)
def test_money_has_two_figures_and_cents_below_ten_dollars(value: float | None, shown: str) -> None:
    assert dollars(value) == shown
    assert dollars(None if value is None else value / 100, 100) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (5, "$5"),
        (1250, "$1,250"),
        (0.0125, "$0.0125"),
        (3.75, "$3.75"),
        (2.4, "$2.40"),
        (0.00001, "$0.00001"),
        (0, "$0"),
    ],
)
def test_a_limit_is_shown_as_it_was_stated(value: float, shown: str) -> None:
    assert exact_dollars(value) == shown


@pytest.mark.parametrize(
    ("number", "words", "shown"),
    [
        (1, ("match",), "1 match"),
        (2_000, ("match",), "2,000 matches"),
        (0, ("reply",), "0 replies"),
        (3, ("day",), "3 days"),
        (1, ("row repeats", "rows repeat"), "1 row repeats"),
        (2, ("row repeats", "rows repeat"), "2 rows repeat"),
    ],
)
def test_a_number_of_things_has_their_plural(number: int, words: tuple[str, ...], shown: str) -> None:
    assert counted(number, *words) == shown


def test_notes_are_sentences_and_names_stay_as_they_are() -> None:
    assert sentence("a tie is half a win each") == "A tie is half a win each."
    assert sentence("μ - 3σ is shown") == "μ - 3σ is shown."
    assert sentence("done.") == "Done."
    assert sentence("house:0.2 has not played", ["house:0.2"]) == "house:0.2 has not played."


@pytest.mark.parametrize(
    ("names", "most", "shown"),
    [
        (["a/one", "b/one"], 5, ["a/one", "b/one"]),
        (["maker/one", "maker/two"], 5, ["one", "two"]),
        (["first/one", "other/one"], 7, ["fir…one", "oth…one"]),
        (["gemini-flash-lite-11", "gemini-flash-lite-12"], 12, ["gemini…te-11", "gemini…te-12"]),
        (["house:0.95"], 4, ["ho…5"]),
    ],
)
def test_names_are_shortened_where_they_do_not_tell_players_apart(
    names: list[str], most: int, shown: list[str]
) -> None:
    assert list(shortened(names, most).values()) == shown


def test_shortened_names_stay_different() -> None:
    names = [f"a-rather-long-name-{middle}-with-much-behind-it" for middle in range(40)]
    assert len({*shortened(names, 20).values()}) == len(names)


@pytest.mark.parametrize(
    ("value", "said", "shown"),
    [
        (0.834, "83%", "83%"),
        (0.9999, "over 99%", ">99%"),
        (0.0001, "under 1%", "<1%"),
        (1.0, "over 99%", ">99%"),
        (None, "–", "–"),
    ],
)
def test_no_chance_is_said_to_be_sure(value: float | None, said: str, shown: str) -> None:
    assert (likely(value), chance(value)) == (said, shown)


def test_ranks_are_written_as_spans() -> None:
    assert spans([]) == ""
    assert spans([3, 2, 4, 7, 7, 9, 10]) == "2–4, 7, 9–10"


def test_how_long_something_has_lasted_is_said_in_its_largest_unit() -> None:
    said = [elapsed(1000 * s) for s in (-1, 0, 59, 60, 3_599, 3_600, 86_399, 86_400, 200_000)]
    assert said == ["0 s", "0 s", "59 s", "1 min", "59 min", "1 h", "23 h", "1 day", "2 days"]
