"""Games of OpenSpiel: its states become deals, and a search of its own moves house players."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from random import Random
from typing import Any, NamedTuple

from peerage.game import Chosen, HouseCall
from peerage.games.adapter import AdaptedGame, Library, entries
from peerage.games.spiel_views import BIG_BLIND, SHOWINGS, STACK, Showing, named

SEARCH, MOST, ROLLOUTS = 30, 100, 12
"""Reach of a perfect house player: simulations of a search, two more for each move, so many at most;
games played out for each move where all move at once."""
_NO_CARD = "-10000"
"""Spelling of a card that is not there."""


class SpielPosition(NamedTuple):
    """Position that a house player searches: a game, its history with chance, the player to move, moves."""

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
        self._load = loaded(entry, seats)
        self._state = _game(self._load).new_initial_state()
        self._chance = Random(seed)
        self._done: list[tuple[int, ...]] = []
        self._played: list[tuple[int, str]] = []
        self._legal: dict[int, dict[str, int]] = {}
        self._seats = seats

    def movers(self) -> Sequence[int]:
        while not self._state.is_terminal() and self._state.is_chance_node():
            self._did((_drawn(self._state, self._chance),))
        if self._state.is_terminal():
            return ()
        return range(self._seats) if self._state.is_simultaneous_node() else (self._state.current_player(),)

    def moves(self, player: int) -> Mapping[str, int]:
        if player not in self._legal:
            self._legal[player] = _moves(self._state, player)
        return self._legal[player]

    def view(self, player: int) -> str:
        state = self._state
        if showing := _showing(state):
            return self._entry.shows.format_map(showing.view(state, player, self._played))
        sees = state.information_state_string if self._entry.view == "state" else state.observation_string
        return str(sees(player))

    def act(self, moves: Mapping[int, str]) -> None:
        self._did(tuple([self.moves(player)[name] for player, name in moves.items()]))

    def points(self) -> Sequence[float] | None:
        return list(self._state.returns()) if self._state.is_terminal() else None

    def end(self) -> str:
        if showing := _showing(self._state):
            return self._entry.ends.format_map(showing.end(self._state))
        return str(self._state).replace(_NO_CARD, "none")

    def oracle(self, player: int) -> SpielPosition:
        return SpielPosition(self._load, tuple(self._done), player, self.moves(player))

    def _did(self, actions: tuple[int, ...]) -> None:
        if _showing(self._state) and not self._state.is_chance_node():
            mover = self._state.current_player()
            name = next(name for name, action in self.moves(mover).items() if action == actions[0])
            self._played.append((mover, name))
        self._done.append(actions)
        self._legal = {}
        _act(self._state, actions)


def loaded(entry: AdaptedGame, seats: int) -> str:
    """Return what the library is asked for, for a deal between so many players."""
    blinds = " ".join(map(str, (*range(1, BIG_BLIND + 1), *[0] * (seats - 2))))
    stacks = " ".join([str(STACK)] * seats)
    return entry.load.format(seats=seats, blinds=blinds, stacks=stacks)


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
    """The legal moves by name."""
    showing = _showing(state)
    return showing.moves(state, player) if showing else named(state, player)


def _showing(state: Any) -> Showing | None:
    """The texts of our own for the game of a state, if it has any."""
    return SHOWINGS.get(state.get_game().get_type().short_name)


def house(call: HouseCall, skill: float, rng: Random) -> Any:
    """The move of a search, which sees hidden cards, with a chance of the skill; else any legal one."""
    position: SpielPosition = call.oracle
    if rng.random() >= skill:
        return call.expects.sample(rng)
    best = searched(position, rng.randrange(2**31))
    return Chosen(next(name for name, action in position.moves.items() if action == best))


def searched(position: SpielPosition, seed: int) -> int:
    """A good move: by Monte Carlo tree search, or by playing out where all move at once."""
    import pyspiel

    if len(position.moves) == 1:
        return next(iter(position.moves.values()))
    state, moves = position.state(), position.moves.values()
    if (showing := _showing(state)) and (valued := showing.worth):
        rng, player = Random(seed), position.player
        tried = showing.tried(state, player) if showing.tried else moves
        return max(tried, key=lambda action: valued(state.child(action), player, rng))
    if not state.is_simultaneous_node():
        evaluator, most = pyspiel.RandomRolloutEvaluator(1, seed), min(SEARCH + 2 * len(moves), MOST)
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
