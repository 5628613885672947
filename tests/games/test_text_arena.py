"""Games of TextArena: moves are those that an environment takes, and its randomness is fenced."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest
from tests.offline import check, fixture, house, in_turns, play, scripted

from peerage.game.protocol import Reply
from peerage.game.spec import GameSpec
from peerage.games import GAMES, adapted
from peerage.games.text_arena import LIBRARY, ArenaWorld, _names
from peerage.testing import CHECKS
from peerage.testing.conformance import memory_wins_nothing, skill_wins

PLAYERS = [f"Zyxwv-{at}" for at in range(4)]
HOUSE = dict.fromkeys(PLAYERS, "house:0")
SHORT: Mapping[str, Any] = {"deals": 1}
QUICK = ["rock-paper-scissors", "wild-tic-tac-toe"]
"""A game with moves unseen until both are made, and one in which the legal moves change."""
checks = pytest.mark.parametrize(
    "one",
    [one for one in CHECKS if one not in (memory_wins_nothing, skill_wins)],
    ids=lambda one: one.__name__,
)


def spec(name: str) -> GameSpec[Any]:
    return GAMES[f"textarena-{name}"]


def needed() -> None:
    pytest.importorskip("nltk")
    pytest.importorskip("textarena")


def test_games_are_listed_without_the_library() -> None:
    code = (
        "import sys; from peerage.games import adapted; "
        "names = [game.name for game, license in adapted() if license == 'MIT']; assert len(names) == 5; "
        "assert 'textarena' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert [game.name for game, _ in adapted() if game.name.startswith("textarena-")]


def test_patterns_stand_for_moves() -> None:
    assert _names(("{X|O} {0-2}", "pass")) == ("X 0", "X 1", "X 2", "O 0", "O 1", "O 2", "pass")


@pytest.mark.parametrize("name", sorted(LIBRARY.listed()))
def test_each_game_plays_as_the_list_says(name: str) -> None:
    needed()
    game = spec(name)
    made = fixture(game, PLAYERS, SHORT)
    before = random.getstate()
    played = play(game, made, house(HOUSE, made.seed))
    assert random.getstate() == before, "the library's randomness got out"
    check(game, played, PLAYERS)
    assert played.outcome.detail["decided"] == "by play"
    assert {step.ask.expects.options for step in played.steps}  # type: ignore[attr-defined]
    assert play(game, made, house(HOUSE, made.seed)).outcome == played.outcome


@checks
@pytest.mark.parametrize("name", QUICK[1:])
def test_holds_what_every_game_must_hold(name: str, one: Any) -> None:
    needed()
    one(spec(name), SHORT)


@pytest.mark.slow
@pytest.mark.parametrize("one", [*CHECKS], ids=lambda one: one.__name__)
@pytest.mark.parametrize("name", sorted(LIBRARY.listed()))
def test_every_game_of_the_list_holds_it_too(name: str, one: Any) -> None:
    needed()
    if one is memory_wins_nothing or (one is skill_wins and name in ("rock-paper-scissors", "indian-poker")):
        pytest.skip("who remembers which moves won plays better; and some games are mostly luck")
    one(spec(name), SHORT if one is not skill_wins else {})


def test_matches_that_take_turns_play_as_they_do_alone() -> None:
    """One step of each in turn, while somebody else draws from the same generator."""
    needed()
    fixtures = [
        (spec(name), fixture(spec(name), PLAYERS, SHORT, number=at)) for name in QUICK for at in (1, 2)
    ]
    fixtures += [
        (spec("high-society"), fixture(spec("high-society"), PLAYERS, SHORT, number=at)) for at in (1, 2)
    ]
    alone = [play(game, made, house(HOUSE, made.seed)).outcome for game, made in fixtures]
    assert in_turns(fixtures, HOUSE, between=random.random) == alone


def test_a_choice_is_unseen_until_both_have_chosen() -> None:
    """What the first player throws changes nothing that the second is shown before it throws."""
    needed()
    entry = LIBRARY.listed()["rock-paper-scissors"]
    views = []
    for first in ("rock", "paper"):
        world = ArenaWorld(entry, 2, "seed")
        world.act({0: first})
        (second,) = world.movers()
        assert second == 1
        views.append(world.view(second))
        world.act({second: "scissors"})
        assert first in world.view(0)
    assert views[0] == views[1]


def test_no_legal_move_loses_the_match_apart_from_losing_by_play() -> None:
    needed()
    game = spec("wild-tic-tac-toe")
    made = fixture(game, PLAYERS, SHORT)
    bad = Reply("ok", "castle")
    played = play(game, made, scripted(lambda ask, player: bad if ask.to == "B" else ask.expects.options[0]))  # type: ignore[attr-defined]
    assert played.outcome.scores == {"A": 1.0, "B": 0.0}
    assert played.outcome.detail["decided"] == "by an illegal move"
    assert played.outcome.detail["forfeited"] == ["B"]
    assert played.steps[-1].ask.key.endswith("/B~repair")
