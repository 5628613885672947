"""Games of OpenSpiel: a seat sees its own view, chance is drawn, and a match follows from its replies."""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from typing import Any

import pytest
from pydantic import ValidationError
from tests.offline import call, check, fixture, house, in_turns, play, scripted
from typer.testing import CliRunner

from peerage.cli.main import app
from peerage.game.protocol import Ask, Reply
from peerage.game.spec import GameSpec
from peerage.games import GAMES, adapted, adapter, open_spiel, release_of
from peerage.settings import SettingsError, extra_installed, loads
from peerage.testing import CHECKS
from peerage.testing.conformance import memory_wins_nothing, skill_share, skill_wins
from peerage.views.catalogue import GameRow, games

PLAYERS = [f"Zyxwv-{at}" for at in range(10)]
HOUSE = {name: f"house:{0.9 - 0.08 * at:.2f}" for at, name in enumerate(PLAYERS)}
SMALL: dict[str, dict[str, Any]] = {
    "kuhn-poker": {"deals": 2, "seats": 3},
    "tic-tac-toe": {},
    "goofspiel": {"deals": 1, "seats": 3},
    "bargaining": {"deals": 1},
}
"""Games with hidden cards, without, with moves all at once and with offers, in which a match is short."""
LISTED = open_spiel.LIBRARY.listed()
ALL = sorted(LISTED)


every_check = pytest.mark.parametrize(
    "one", [one for one in CHECKS if one is not memory_wins_nothing], ids=lambda one: one.__name__
)
"""All but the memory: who remembers which moves won plays better, as in any game of skill."""


def spec(name: str) -> GameSpec[Any]:
    return GAMES[f"openspiel-{name}"]


def text(ask: Ask) -> str:
    return "\n".join(said for _, said in call(ask).messages)


def test_games_are_listed_without_the_library() -> None:
    found = [row for row in games(all=True) if isinstance(row, GameRow) and row.game.startswith("openspiel-")]
    assert len(found) >= 15
    assert {row.license for row in found} == {"Apache-2.0"}
    assert not [name for name in GAMES if name.startswith("openspiel-")]
    assert "openspiel-hex" in GAMES
    assert "openspiel-hexx" not in GAMES
    code = (
        "import sys; from peerage.views.catalogue import games; rows = list(games(all=True)); "
        "assert any(row.game == 'openspiel-hex' for row in rows); assert 'pyspiel' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_game_of_a_library_has_a_page() -> None:
    shown = CliRunner().invoke(app, ["games", "about", "openspiel-hex"]).output
    assert "# openspiel-hex" in shown
    assert "An unbroken chain of x from the top edge to the bottom edge wins" in shown
    assert 'pip install "peerage[openspiel]"' in shown


def test_without_the_library_a_run_says_which_extra_and_how(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "find_spec", lambda name: None)
    assert all(game.needs.extra(game.rules()) == game.name.partition("-")[0] for game, _ in adapted())
    settings = loads("game: openspiel-hex\nplayers: [house:0.1, house:0.2]\n")
    with pytest.raises(SettingsError, match=r'pip install "peerage\[openspiel\]"'):
        extra_installed(settings)


@pytest.mark.parametrize("name", ALL)
def test_each_game_plays_as_the_list_says(name: str) -> None:
    """From the fewest to the most seats a match ends within its declared moves, and is ranked."""
    pytest.importorskip("pyspiel")
    game, entry = spec(name), LISTED[name]
    for seats in dict.fromkeys(entry.players):
        rules = {"deals": 1, **({"seats": seats} if entry.players[1] > 2 else {})}
        made = fixture(game, PLAYERS, rules, number=seats)
        played = play(game, made, house(dict.fromkeys(PLAYERS, "house:0"), made.seed))
        check(game, played, PLAYERS)
        assert played.outcome.detail["decided"] == "by play"
        assert len(played.outcome.scores) == seats
    assert len(release_of(game.name).split()) == 2


@pytest.mark.parametrize("name", [name for name in ALL if len({*LISTED[name].players}) == 2])
def test_a_game_takes_as_many_seats_as_it_can_be_played_with(name: str) -> None:
    """The library ends the whole process where it is asked for others."""
    fewest, most = LISTED[name].players
    for seats in (fewest, most):
        assert spec(name).rules(seats=seats).seats == seats
    for seats in (fewest - 1, most + 1):
        with pytest.raises(ValidationError):
            spec(name).rules(seats=seats)
    assert fewest <= spec(name).rules().seats <= most


@every_check
@pytest.mark.parametrize("name", SMALL)
def test_holds_what_every_game_must_hold(name: str, one: Any) -> None:
    pytest.importorskip("pyspiel")
    one(spec(name), {} if one is skill_wins and name != "goofspiel" else SMALL[name])


LONG = ("chess", "go-9x9", "backgammon", "holdem", "holdem-six")
"""Games checked in `test_spiel_views`, in deals that are cut."""


@pytest.mark.slow
@every_check
@pytest.mark.parametrize("name", [name for name in ALL if name not in LONG])
def test_every_game_of_the_list_holds_it_too(name: str, one: Any) -> None:
    pytest.importorskip("pyspiel")
    rules = {"seats": 2} if LISTED[name].players[1] > 2 else {}
    if one is skill_wins:
        assert skill_share(spec(name), rules, 24) >= 0.6
        return
    one(spec(name), {**rules, "deals": 1})


def test_a_seat_sees_its_own_cards_alone() -> None:
    """With the same card, after the same moves, a player is told the same whatever the others hold."""
    pytest.importorskip("pyspiel")
    game = spec("kuhn-poker")
    told: dict[tuple[int, str], set[str]] = defaultdict(set)
    others: dict[tuple[int, str], set[tuple[tuple[int, ...], ...]]] = defaultdict(set)
    for number in range(1, 40):
        made = fixture(game, PLAYERS, {"deals": 1, "seats": 3}, number=number, seed="s")
        for step in play(game, made, house(HOUSE, f"s{number}")).steps:
            position = step.ask.oracle
            own = position.done[position.player]
            seen = position.player, f"{own} {position.done[3:]}"
            told[seen].add(text(step.ask))
            others[seen].add(position.done)
    assert all(len(texts) == 1 for texts in told.values())
    assert any(len(deals) > 1 for deals in others.values())


def test_chance_follows_from_what_was_drawn() -> None:
    pytest.importorskip("pyspiel")
    game = spec("leduc-poker")

    def cards(number: int, seed: str) -> list[str]:
        made = fixture(game, PLAYERS, {"deals": 6, "seats": 2}, number=number, seed=seed)
        return [one["end"] for one in play(game, made, scripted(_first)).outcome.detail["deals"]]

    assert cards(1, "a") == cards(1, "b")
    assert cards(1, "a") != cards(2, "a")


def _first(ask: Ask, player: str) -> str:
    return f'{{"reason": "", "move": "{ask.expects.options[0]}"}}'  # type: ignore[attr-defined]


def test_matches_that_take_turns_play_as_they_do_alone() -> None:
    """One step of each in turn, of two matches of each of several games."""
    pytest.importorskip("pyspiel")
    fixtures = [
        (spec(name), fixture(spec(name), PLAYERS, SMALL[name], number=number, seed=f"s{number}"))
        for name in SMALL
        for number in (1, 2)
    ]
    alone = [play(game, made, house(HOUSE, made.seed)).outcome for game, made in fixtures]
    assert in_turns(fixtures, HOUSE) == alone


@pytest.mark.parametrize("said", [Reply("ok", "castle"), Reply("refused", "No.")])
def test_no_legal_move_loses_the_match_apart_from_losing_by_play(said: Reply) -> None:
    pytest.importorskip("pyspiel")
    game = spec("tic-tac-toe")
    made = fixture(game, PLAYERS, {})
    asked: list[str] = []

    def answer(ask: Ask, player: str) -> str | Reply:
        asked.append(ask.key)
        return said if ask.to == "A" else _first(ask, player)

    played = play(game, made, scripted(answer))
    check(game, played)
    assert played.outcome.scores == {"A": 0.0, "B": 1.0}
    assert played.outcome.detail["decided"] == "by an illegal move"
    assert played.outcome.detail["forfeited"] == ["A"]
    assert asked[-1].endswith("~repair") is (said.status == "ok")
    assert sum(key.split("~")[0].endswith("/A") for key in asked) == (2 if said.status == "ok" else 1)
    blocks = [getattr(block, "text", "") for block in game.show(made, played.outcome, {})]
    assert "A named no legal move, and loses by that." in blocks


def test_a_reply_after_one_repair_counts() -> None:
    pytest.importorskip("pyspiel")
    game = spec("tic-tac-toe")
    made = fixture(game, PLAYERS, {})
    repaired = play(
        game, made, scripted(lambda ask, player: _first(ask, player) if "~" in ask.key else "castle")
    )
    assert repaired.outcome.detail["decided"] == "by play"
