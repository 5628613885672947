"""Games of OpenSpiel: its states become deals, and a search of its own moves house players."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from random import Random
from typing import Any, NamedTuple

from peerage.game import Chosen, HouseCall
from peerage.games.adapter import AdaptedGame, Library, entries

SEARCH, ROLLOUTS = 30, 12
"""Reach of a perfect house player: simulations of a search, and games played out for each move where all move
at once."""
_NO_CARD = "-10000"
"""Spelling of a card that is not there."""


class SpielPosition(NamedTuple):
    """Position that a house player searches: a game, all that was done in it, chance included, the player to
    move, its moves by name."""

    load: str
    done: tuple[tuple[int, ...], ...]
    player: int
    moves: Mapping[str, int]

    def state(self) -> Any:
        """The state that this is of."""
        state = _game(self.load).new_initial_state()
        for actions in self.done:
            _act(state, actions)
        return state


class SpielWorld:
    """A deal of a game of OpenSpiel between `seats` players; all chance follows from `seed`."""

    def __init__(self, entry: AdaptedGame, seats: int, seed: str) -> None:
        self._entry = entry
        self._load = entry.load.format(seats=seats)
        self._state = _game(self._load).new_initial_state()
        self._chance = Random(seed)
        self._done: list[tuple[int, ...]] = []
        self._seats = seats

    def movers(self) -> Sequence[int]:
        while not self._state.is_terminal() and self._state.is_chance_node():
            self._did((_drawn(self._state, self._chance),))
        if self._state.is_terminal():
            return ()
        return range(self._seats) if self._state.is_simultaneous_node() else (self._state.current_player(),)

    def moves(self, player: int) -> Sequence[str]:
        return tuple(_moves(self._state, player))

    def view(self, player: int) -> str:
        state = self._state
        sees = state.information_state_string if self._entry.view == "state" else state.observation_string
        return str(sees(player))

    def act(self, moves: Mapping[int, str]) -> None:
        self._did(tuple([_moves(self._state, player)[name] for player, name in moves.items()]))

    def points(self) -> Sequence[float] | None:
        return list(self._state.returns()) if self._state.is_terminal() else None

    def end(self) -> str:
        return str(self._state).replace(_NO_CARD, "none")

    def oracle(self, player: int) -> SpielPosition:
        return SpielPosition(self._load, tuple(self._done), player, _moves(self._state, player))

    def _did(self, actions: tuple[int, ...]) -> None:
        self._done.append(actions)
        _act(self._state, actions)


@cache
def _game(load: str) -> Any:
    import pyspiel

    return pyspiel.load_game(load)


def _act(state: Any, actions: Sequence[int]) -> None:
    """Do what chance, or the players to move, chose."""
    if state.is_simultaneous_node():
        state.apply_actions(list(actions))
    else:
        state.apply_action(actions[0])


def _drawn(state: Any, rng: Random) -> int:
    """Return what chance does."""
    actions, weights = zip(*state.chance_outcomes(), strict=True)
    return int(rng.choices(actions, weights)[0])


def _moves(state: Any, player: int) -> dict[str, int]:
    """The legal moves by name, without what a reply may have around it."""
    legal = state.legal_actions(player)
    return {state.action_to_string(player, action).strip(" \n*.,;"): action for action in legal}


def house(call: HouseCall, skill: float, rng: Random) -> Any:
    """The move that a search finds, with a chance of the skill; else any legal one. The search sees hidden
    cards, which no other player does."""
    position: SpielPosition = call.oracle
    if rng.random() >= skill:
        return Chosen(rng.choice(list(position.moves)))
    best = searched(position, rng.randrange(2**31))
    return Chosen(next(name for name, action in position.moves.items() if action == best))


def searched(position: SpielPosition, seed: int) -> int:
    """A good move: by Monte Carlo tree search, or by playing out where all move at once."""
    import pyspiel

    if len(position.moves) == 1:
        return next(iter(position.moves.values()))
    state, moves = position.state(), position.moves.values()
    if not state.is_simultaneous_node():
        evaluator, most = pyspiel.RandomRolloutEvaluator(1, seed), SEARCH + 2 * len(moves)
        bot = pyspiel.MCTSBot(_game(position.load), evaluator, 2.0, most, 100, False, seed, False)
        return int(bot.step(state))
    rng = Random(seed)
    worth = {
        action: sum([_played_out(state.clone(), position.player, action, rng) for _ in range(ROLLOUTS)])
        for action in moves
    }
    return max(worth, key=lambda action: worth[action])


def _played_out(state: Any, player: int, action: int, rng: Random) -> float:
    """Return what a move of one player comes to when everybody else, and later everybody, moves at random."""
    first: int | None = action
    while not state.is_terminal():
        if state.is_chance_node():
            _act(state, (_drawn(state, rng),))
            continue
        movers = range(state.num_players()) if state.is_simultaneous_node() else [state.current_player()]
        actions = [rng.choice(state.legal_actions(mover)) for mover in movers]
        if first is not None:
            actions[player if len(actions) > 1 else 0], first = first, None
        _act(state, actions)
    return float(state.returns()[player])


LIBRARY = Library(
    name="openspiel",
    modules=("pyspiel",),
    package="open_spiel",
    license="Apache-2.0",
    listed=partial(entries, "open_spiel"),
    world=SpielWorld,
    house=house,
)
