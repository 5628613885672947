from importlib.metadata import EntryPoint

import pytest

import peerage.games
from peerage.games import GAMES
from peerage.games.duel import GAME as DUEL


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> dict[str, EntryPoint]:
    """What installed packages offer, in place of what this machine happens to have."""
    found: dict[str, EntryPoint] = {}
    monkeypatch.setattr(peerage.games, "_offered", lambda: found)
    return found


def entry(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, "peerage.games")


def test_own_games_come_first_and_cannot_be_replaced(offered: dict[str, EntryPoint]) -> None:
    offered["duel"] = entry("duel", "nowhere:GAME")
    offered["other"] = entry("other", "nowhere:GAME")
    own = [name for name in GAMES if name != "other"]
    assert own == sorted(own)
    assert list(GAMES) == [*own, "other"]
    assert len(GAMES) == len(own) + 1
    assert GAMES["duel"] is DUEL
    assert "other" in GAMES
    assert "chess" not in GAMES
    with pytest.raises(KeyError):
        GAMES["chess"]


def test_a_package_that_does_not_load_is_named(offered: dict[str, EntryPoint]) -> None:
    offered["other"] = entry("other", "nowhere:GAME")
    with pytest.raises(ImportError, match=r"'other' of the package nowhere:GAME cannot be loaded"):
        GAMES["other"]
    offered["other"] = entry("other", "peerage.games.duel:GAME")
    with pytest.raises(ImportError, match="not a GameSpec of that name"):
        GAMES["other"]
    offered["other"] = entry("other", "math:pi")
    with pytest.raises(ImportError, match="not a GameSpec of that name"):
        GAMES["other"]


def test_our_own_games_bear_the_names_they_are_asked_for_by() -> None:
    assert [GAMES[name].name for name in GAMES] == list(GAMES)
