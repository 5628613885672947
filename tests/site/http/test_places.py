"""Places that addresses share: never one too many, and none keeps all others out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerage.site.http.connections import ConnectionPlaces, HeldResponse


def nothing() -> None:
    pass


def test_an_address_alone_may_have_all_and_no_more() -> None:
    places = ConnectionPlaces(5)
    taken = [places.take("a", nothing) for _ in range(7)]
    assert [place is not None for place in taken] == [True] * 5 + [False] * 2
    places.leave(taken[0])  # type: ignore[arg-type]
    assert places.take("a", nothing)
    assert len(places) == 5


def test_who_holds_most_gives_to_who_holds_fewer() -> None:
    places, gave = ConnectionPlaces(4), []
    for number in range(4):
        assert places.take("hog", lambda number=number: gave.append(number))
    first = places.take("guest", nothing)
    assert first
    assert gave == [3]
    assert places.take("guest", nothing)
    assert gave == [3, 2]
    # Two and two: shared.
    assert places.take("guest", nothing) is None
    assert places.take("hog", nothing) is None
    assert places.take("third", nothing)
    assert len(places) == 4


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=60), st.integers(1, 6))
def test_there_are_never_more_than_there_are(steps: list[tuple[str, bool]], count: int) -> None:
    places, held = ConnectionPlaces(count), []
    for address, comes in steps:
        if comes:
            place = places.take(address, nothing)
            assert place is not None or len(places) == count
            held += [place] if place is not None else []
        elif held:
            places.leave(held.pop(0))
        assert len(places) <= count
    for place in held:
        places.leave(place)
    assert len(places) == 0


async def test_a_place_is_left_when_the_answer_breaks_off() -> None:
    places = ConnectionPlaces(1)

    async def breaks(*_: object) -> None:
        assert len(places) == 1
        raise ConnectionError

    async def full(*_: object) -> None:
        raise AssertionError

    for _ in range(2):
        with pytest.raises(ConnectionError):
            await HeldResponse(places, breaks, full)({"type": "http"}, None, None)  # type: ignore[arg-type]
    assert len(places) == 0
