import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerage.judging.scores.standing import normalised

RATINGS = st.lists(st.none() | st.integers(0, 10).map(float), max_size=20)


def test_by_hand() -> None:
    assert normalised([8, 9, 10]) == (4, 5, 6)


def test_missing_ratings_stay_missing_and_do_not_count() -> None:
    assert normalised([1, None, 3]) == (4, None, 6)
    assert normalised([None, None]) == (None, None)
    assert normalised([]) == ()


@pytest.mark.parametrize("always", [0, 7, 0.1])
def test_a_constant_judge_gives_five(always: float) -> None:
    assert normalised([always, None, always, always]) == (5, None, 5, 5)


def test_what_leaves_the_scale_is_not_clamped() -> None:
    assert max(normalised([0, 0, 0, 10])) == 12.5  # type: ignore[type-var]


def test_ratings_that_cannot_be_meant_are_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        normalised([1, float("nan")])


@given(RATINGS)
def test_the_mean_is_five_and_the_order_kept(ratings: list[float | None]) -> None:
    found = normalised(ratings)
    assert [value is None for value in found] == [value is None for value in ratings]
    pairs = [(a, b) for a, b in zip(ratings, found, strict=True) if a is not None and b is not None]
    if pairs:
        assert sum(b for _, b in pairs) / len(pairs) == pytest.approx(5)
        ordered = sorted(pairs)
        assert [b for _, b in ordered] == sorted(b for _, b in ordered)


@given(RATINGS, st.floats(-5, 5))
def test_strictness_is_taken_away(ratings: list[float | None], strictness: float) -> None:
    moved = [None if rating is None else rating + strictness for rating in ratings]
    assert normalised(moved) == pytest.approx(normalised(ratings), nan_ok=True)


@given(st.lists(st.integers(0, 10), min_size=3, max_size=8), st.data())
def test_players_who_skip_their_own_work_are_told_apart_less_but_in_order(
    quality: list[int], data: st.DataObject
) -> None:
    n = len(quality)
    strict = [data.draw(st.integers(-5, 5)) for _ in quality]
    matrix = [
        normalised([None if author == judge else quality[author] + strict[judge] for author in range(n)])
        for judge in range(n)
    ]
    scores = []
    for author in range(n):
        received = [row[author] for judge, row in enumerate(matrix) if judge != author]
        scores.append(sum(value for value in received if value is not None) / (n - 1))
    if any(len({quality[a] for a in range(n) if a != judge}) == 1 for judge in range(n)):
        return  # a judge that saw but one quality is constant, which is another rule
    shrunk = 1 - 1 / (n - 1) ** 2
    for a in range(n):
        for b in range(n):
            assert scores[a] - scores[b] == pytest.approx(shrunk * (quality[a] - quality[b]), abs=1e-9)
