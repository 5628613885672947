"""Who was tried how often, and of whose players only some are still listed."""

import pytest

from peerage.tables.makers import MakerRow, maker_of, makers, picked

FAMILIES = {"a1": "acme/alpha", "a2": "acme/alpha", "a3": "acme/beta", "z1": "zeta/z", "own": ""}


def test_seats_are_counted_by_maker() -> None:
    rows = makers(FAMILIES, ["a1", "z1", "own"], {"a1": 10, "a2": 20, "a3": 0, "z1": 10, "own": 0})
    assert rows == (
        MakerRow("acme", 2, 1, 30, 0.75, pytest.approx(1.5)),
        MakerRow("zeta", 1, 0, 10, 0.25, pytest.approx(1.0)),
        MakerRow("own", 1, 0, 0, 0.0, 0.0),
    )
    assert makers(FAMILIES, ["a1", "a2"], {}) == (MakerRow("acme", 2, 0, 0, None, None),)
    assert makers(FAMILIES, ["a1", "z1"], {"a1": 1, "z1": 1}) == (), "each maker has one player"
    assert maker_of("openai/gpt") == "openai"


def test_a_maker_that_keeps_the_best_of_its_tries_is_named() -> None:
    told = list(picked(FAMILIES, ["a1", "z1"], ["a1", "a2", "a3", "z1"]))
    assert told == [
        "acme entered 3 players, of which 1 is still listed; withdrawn: a2, a3. The best of several tries "
        "looks better than it is"
    ]
    assert not list(picked(FAMILIES, ["a1", "a2"], ["a1", "a2", "z1"])), "nobody is left of zeta"
