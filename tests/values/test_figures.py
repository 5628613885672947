"""Values as people read them."""

from __future__ import annotations

import pytest

from peerage.values.figures import (
    chance,
    counted,
    dollars,
    elapsed,
    estimated,
    likely,
    per_hundred,
    places_of,
    rounded,
    sentence,
    shortened,
    spans,
)


@pytest.mark.parametrize(
    ("values", "places", "shown"),
    [
        ([3.2118, 1.0184], 2, ["$3.21", "$1.02"]),
        ([0.73, 0.0051, None, 0.0], 4, ["$0.7300", "$0.0051", "–", "$0.0000"]),
        ([12.5, 0.04], 3, ["$12.500", "$0.040"]),
        ([1.0, 0.0000123], 4, ["$1.0000", "<$0.0001"]),
        ([0.00012], 5, ["$0.00012"]),
        ([], 2, []),
    ],
)
def test_a_column_of_dollars_has_as_many_decimals_in_every_row(
    values: list[float | None], places: int, shown: list[str]
) -> None:
    assert places_of(values) == places
    assert [dollars(value, places) for value in values] == shown
    hundredths = [None if value is None else value / 100 for value in values]
    assert [per_hundred(value, places) for value in hundredths] == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(30_285.4, "30,300"), (399.4, "399"), (99.96, "100"), (23.66, "23.7"), (1.0, "1.00"), (None, "–")],
)
def test_what_is_not_known_more_closely_has_three_digits(value: float | None, shown: str) -> None:
    assert rounded(value) == shown


@pytest.mark.parametrize(
    ("value", "shown", "price"),
    [
        (1234.56, "$1,235", "$1,234.56"),
        (11.8, "$11.80", "$11.80"),
        (0.6987, "$0.70", "$0.70"),
        (0.0223, "$0.022", "$0.022"),
        (0.00002, "$0.000020", "$0.000020"),
        (0.0, "$0.00", "$0.00"),
    ],
)
def test_an_estimate_has_no_more_digits_than_are_known(value: float, shown: str, price: str) -> None:
    assert estimated(value) == shown
    assert per_hundred(value / 100) == price


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
