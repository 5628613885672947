"""Games of other libraries: what one player holds reaches no other's request and no other's view.

Two deals that differ only in what a player cannot know must look the same to it: what it sees, and the moves
that it may choose among.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from tests.offline import fixture, house, play

from peerage.game.blocks import Board, Private
from peerage.game.match import Outcome
from peerage.games import GAMES, open_spiel, text_arena
from peerage.games.open_spiel import SpielWorld
from peerage.games.text_arena import ArenaWorld

PLAYERS = [f"Zyxwv-{at}" for at in range(10)]
SPIEL, ARENA = open_spiel.LIBRARY.listed(), text_arena.LIBRARY.listed()
DEEP, ALTERNATIVES = 14, 3
Done = list[tuple[int, ...]]


def replayed(name: str, seats: int, done: Done) -> SpielWorld | None:
    """The deal after these choices of chance and players; None where one of them is not legal."""
    world = SpielWorld(SPIEL[name], seats, "any")
    state = world._state
    for actions in done:
        if state.is_terminal() or not all(
            one in legal for one, legal in zip(actions, choices(state), strict=False)
        ):
            return None
        world._did(actions)
    return world


def choices(state: Any) -> list[list[int]]:
    """What chance, or each player who moves, may choose."""
    if state.is_chance_node():
        return [[action for action, _ in state.chance_outcomes()]]
    if state.is_simultaneous_node():
        return [state.legal_actions(player) for player in range(state.num_players())]
    return [state.legal_actions()]


def known(state: Any, player: int) -> str:
    """All that the library says a player may know."""
    kind = state.get_game().get_type()
    seen = (
        state.information_state_string if kind.provides_information_state_string else state.observation_string
    )
    return str(seen(player))


def changed(name: str, seats: int, done: Done, rng: random.Random) -> Iterator[SpielWorld]:
    """The same deal with another choice in one place."""
    for at in range(len(done)):
        state = replayed(name, seats, done[:at])._state  # type: ignore[union-attr]
        for who, legal in enumerate(choices(state)):
            most = 300 if at == 0 and len(done) == 1 else ALTERNATIVES
            for other in rng.sample(legal, min(most, len(legal))):
                actions = (*done[at][:who], other, *done[at][who + 1 :])
                found = replayed(name, seats, [*done[:at], actions, *done[at + 1 :]])
                if other != done[at][who] and found is not None:
                    yield found


@pytest.mark.parametrize("name", [name for name, entry in SPIEL.items() if entry.hidden])
def test_a_seat_sees_nothing_that_another_holds(name: str) -> None:
    pytest.importorskip("pyspiel")
    entry, rng, compared = SPIEL[name], random.Random(name), 0
    seats = min(3, entry.players[1])
    for _ in range(3):
        done: Done = []
        while len(done) < DEEP and (now := replayed(name, seats, done)) and not now._state.is_terminal():
            if not now._state.is_chance_node():
                for other in changed(name, seats, done, rng):
                    for player in set(now.movers()) & set(other.movers()):
                        if known(now._state, player) == known(other._state, player):
                            compared += 1
                            assert now.view(player) == other.view(player)
                            assert now.moves(player) == other.moves(player)
            done.append(tuple([rng.choice(legal) for legal in choices(now._state)]))
    assert compared or entry.moves == 1, "no two deals differ in what a player cannot know"


def hands(state: Mapping[str, Any]) -> tuple[Any, Any]:
    """What the second player knows of a deal of Briscola, and what it does not."""
    return (state["players"][1]["hand"], state["trump_card"]), state["players"][0]["hand"]


def faces(state: Mapping[str, Any]) -> tuple[Any, Any]:
    """What both know of a deal of Golf, and what nobody does."""
    cards = [card for player in state["players"].values() for card in player["cards"]]
    shown = [one["card"] if one["revealed"] else None for one in cards]
    return (shown, state["discard_pile"]), [one["card"] for one in cards if not one["revealed"]]


def foreheads(state: Mapping[str, Any]) -> tuple[Any, Any]:
    """The other's card, which a player sees, and its own."""
    return state["player_cards"][0], state["player_cards"][1]


@pytest.mark.parametrize(
    ("name", "held"), [("briscola", hands), ("golf", faces), ("indian-poker", foreheads)]
)
def test_a_card_that_nobody_showed_changes_nothing_that_a_player_sees(
    name: str, held: Callable[[Mapping[str, Any]], tuple[Any, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("textarena")
    shuffle = random.shuffle

    def dealt(one: int, other: int) -> ArenaWorld:
        def shuffled(deck: list[Any]) -> None:
            shuffle(deck)
            deck[one], deck[other] = deck[other], deck[one]

        with monkeypatch.context() as patched:
            patched.setattr(random, "shuffle", shuffled)
            return ArenaWorld(ARENA[name], 2, "seed")

    base = dealt(0, 0)
    knows, hides = held(base._env.state.game_state)
    compared = 0
    for one in (*range(14), *range(-14, 0)):
        for other in (20, 25):
            world = dealt(one, other)
            same, hidden = held(world._env.state.game_state)
            if same == knows and hidden != hides:
                compared += 1
                assert world.view(1) == base.view(1)
    assert compared


@pytest.mark.parametrize(
    ("name", "moves"),
    [("high-society", ("2", "11")), ("rock-paper-scissors", ("rock", "paper")), ("two-thirds", ("3", "90"))],
)
def test_a_choice_is_unseen_until_both_have_chosen(name: str, moves: tuple[str, str]) -> None:
    pytest.importorskip("textarena")
    views = []
    for first in moves:
        world = ArenaWorld(ARENA[name], 2, "seed")
        world.act({0: first})
        (second,) = world.movers()
        assert second == 1
        views.append((world.view(second), world.moves(second)))
    assert views[0] == views[1]


@pytest.mark.parametrize("name", ["openspiel-leduc-poker", "textarena-briscola"])
def test_a_match_under_way_shows_no_board_and_marks_nothing_as_somebodys(name: str) -> None:
    """A game that marks nothing as private has no blocks in the view of one seat: only its own requests."""
    pytest.importorskip("pyspiel" if name.startswith("openspiel") else "textarena")
    game = GAMES[name]
    made = fixture(game, PLAYERS, {"deals": 1})
    played = play(game, made, house(dict.fromkeys(PLAYERS, "house:0"), made.seed))
    assert any(isinstance(block, Board) for block in game.show(made, played.outcome, {}))
    assert not any(isinstance(block, Private) for block in game.show(made, played.outcome, {}))
    assert not any(isinstance(block, Board) for block in game.show(made, Outcome(), {}))
    assert game.secrecy.hides
