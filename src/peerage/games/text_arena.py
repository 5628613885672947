"""Games of TextArena: its environments become deals, in which players choose among the moves that it takes.

The library draws from the one random generator that Python has for all. Here each deal has a state of its
own, put there while the library runs and taken away again, so that matches which take turns do not disturb
one another.
"""

from __future__ import annotations

import pickle
import random
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from functools import cache, partial
from hashlib import sha256
from itertools import product
from typing import Any, NamedTuple

from peerage.game import Chosen, HouseCall
from peerage.games.adapter import AdaptedGame, Library, entries

WIDE, ROLLOUTS, TRIES, DEEP = 12, 4, 8, 150
"""Search of a perfect house player: from so many moves at most, so many games played on from each and from
all together, so many tries deep."""
_GROUP = re.compile(r"\{([^}]*)\}")
_UNSEEN = {"PROMPT", "PLAYER_ACTION", "GAME_ADMIN"}
"""Messages of an environment that players are not shown: they have our rules, and moves by name."""


class ArenaPosition(NamedTuple):
    """Position that a house player searches: a deal from its seed, moves made, who moves, legal moves."""

    entry: AdaptedGame
    seats: int
    seed: str
    made: tuple[str, ...]
    player: int
    legal: tuple[str, ...]


class ArenaWorld:
    """A deal of an environment of TextArena between `seats` players; all chance follows from `seed`."""

    def __init__(self, entry: AdaptedGame, seats: int, seed: str) -> None:
        self._entry, self._seats, self._seed = entry, seats, seed
        number = int(sha256(seed.encode()).hexdigest()[:8], 16)
        self._chance = random.Random(number).getstate()
        self._made: list[str] = []
        self._seen: list[list[tuple[str, str]]] = [[] for _ in range(seats)]
        self._over = False
        self._legal: tuple[str, ...] | None = None
        with self._fenced():
            self._env = _made(entry.load)
            self._env.reset(num_players=seats, seed=number)
        self._gather()

    def movers(self) -> Sequence[int]:
        return () if self._over else (self._env.state.current_player_id,)

    def moves(self, player: int) -> Sequence[str]:
        if self._legal is None:
            copied = copies(self._env)
            with self._fenced():
                names = _names(self._entry.actions)
                self._legal = tuple([name for name in names if _takes(copied(), name)])
        return self._legal

    def played_on(self, name: str, rng: random.Random) -> None:
        """Make a move, then any moves for a while; those that are not legal are not taken."""
        self._env.state.error_allowance = 10**9
        names = _names(self._entry.actions)
        with self._fenced():
            for _ in range(DEEP):
                self._over, _told = self._env.step(f"[{name}]")
                if self._over:
                    return
                name = rng.choice(names)

    def view(self, player: int) -> str:
        shown = [text for sort, text in self._seen[player] if sort != "GAME_BOARD"]
        board = [text for sort, text in self._seen[player] if sort == "GAME_BOARD"][-1:]
        return "\n".join([*shown, "", *board]).strip() or "Nothing yet."

    def act(self, moves: Mapping[int, str]) -> None:
        self.move(next(iter(moves.values())))

    def move(self, name: str) -> None:
        """Let the player to move do so."""
        with self._fenced():
            self._over, _ = self._env.step(f"[{name}]")
        self._made.append(name)
        self._legal = None
        self._gather()

    def points(self) -> Sequence[float] | None:
        rewards = self._env.state.rewards
        return [float(rewards.get(player, 0)) for player in range(self._seats)] if rewards else None

    def end(self) -> str:
        first, *others = [[text for sort, text in seen if sort != "GAME_BOARD"] for seen in self._seen]
        all_saw = [text for text in first if all(text in seen for seen in others)]
        boards = [
            f"Player {at} saw last:\n{board}" for at in range(self._seats) if (board := self._board(at))
        ]
        return "\n\n".join([*(["All saw:", "\n".join(all_saw)] if all_saw else []), *boards])

    def oracle(self, player: int) -> ArenaPosition:
        made, legal = tuple(self._made), tuple(self.moves(player))
        return ArenaPosition(self._entry, self._seats, self._seed, made, player, legal)

    def apart(self) -> Callable[[int], ArenaWorld]:
        """Makes the same deal to be played on elsewhere, with other chances, from a seed, from here on."""
        copied = copies(self._env)

        def made(seed: int) -> ArenaWorld:
            other = ArenaWorld.__new__(ArenaWorld)
            other.__dict__.update(self.__dict__)
            other._env, other._made = copied(), list(self._made)
            other._seen = [list(seen) for seen in self._seen]
            other._chance = random.Random(seed).getstate()
            return other

        return made

    def _board(self, player: int) -> str:
        return next((text for sort, text in self._seen[player][::-1] if sort == "GAME_BOARD"), "")

    def _gather(self) -> None:
        """Take over what the environment has shown each player since the last time."""
        for player, seen in self._env.state.observations.items():
            for _, text, sort in seen:
                if sort.name not in _UNSEEN and 0 <= player < self._seats:
                    self._seen[player].append((sort.name, str(text).strip()))
            seen.clear()

    @contextmanager
    def _fenced(self) -> Iterator[None]:
        outside = random.getstate()
        random.setstate(self._chance)
        try:
            yield
        finally:
            self._chance = random.getstate()
            random.setstate(outside)


def copies(env: Any) -> Callable[[], Any]:
    """Makes copies of an environment: unpickled, several times faster than a deep copy, where possible."""
    env.state.logs.clear()  # which nobody reads, and which grow
    try:
        held = pickle.dumps(env)
    except (pickle.PicklingError, AttributeError, TypeError):
        held_env = deepcopy(env)
        return lambda: deepcopy(held_env)
    return lambda: pickle.loads(held)


def _takes(env: Any, name: str) -> bool:
    """Return whether an environment, which is spoilt by it, takes a move."""
    refused = list[object]()
    env.state.set_invalid_move = lambda *arguments, **more: refused.append(arguments)
    try:
        env.step(f"[{name}]")
    except Exception:
        return False  # whatever a stranger's code makes of an impossible move
    return not refused


@cache
def _names(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """All moves that a list's patterns stand for: `{a|b}` is one or the other, `{0-8}` a number."""
    names: dict[str, None] = {}
    for pattern in patterns:
        texts = _GROUP.split(pattern)
        choices = [_choices(part) if at % 2 else (part,) for at, part in enumerate(texts)]
        names |= dict.fromkeys(["".join(parts) for parts in product(*choices)])
    return tuple(names)


def _choices(group: str) -> tuple[str, ...]:
    first, dash, last = group.partition("-")
    if dash and first.isdigit() and last.isdigit():
        return tuple(map(str, range(int(first), int(last) + 1)))
    return tuple(group.split("|"))


@cache
def _library() -> Any:
    outside = random.getstate()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import textarena
    finally:
        random.setstate(outside)
    return textarena


def _made(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _library().make(f"{name}-v0-raw")


def house(call: HouseCall, skill: float, rng: random.Random) -> Any:
    """The move after which random play ends best, with a chance of the skill; else any legal one. The search
    sees hidden cards, which no other player does."""
    position: ArenaPosition = call.oracle
    if len(position.legal) == 1 or rng.random() >= skill:
        return Chosen(rng.choice(position.legal))
    world = ArenaWorld(position.entry, position.seats, position.seed)
    for name in position.made:
        world.move(name)
    among = rng.sample(position.legal, min(WIDE, len(position.legal)))
    apart, rollouts = world.apart(), min(ROLLOUTS, max(1, TRIES // len(among)))

    def worth(name: str) -> float:
        tries = [apart(rng.randrange(2**31)) for _ in range(rollouts)]
        for playout in tries:
            playout.played_on(name, rng)
        return sum([points[position.player] for playout in tries if (points := playout.points())])

    return Chosen(max(among, key=worth))


LIBRARY = Library(
    name="textarena",
    modules=("textarena", "nltk"),
    package="textarena",
    license="MIT",
    listed=partial(entries, "text_arena"),
    world=ArenaWorld,
    house=house,
    demo=40,
)
