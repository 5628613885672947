"""One file per game: a plain generator that yields requests and returns an outcome."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from peerage.games.bug_hunt import BUG_HUNT
from peerage.games.challenge_exchange import CHALLENGE_EXCHANGE
from peerage.games.code_golf import CODE_GOLF
from peerage.games.color_obfuscation import COLOR_OBFUSCATION
from peerage.games.duel import DUEL
from peerage.games.game import GameSpec
from peerage.games.last_arena import LAST_ARENA

_HOUSE: Mapping[str, GameSpec[Any]] = {
    game.name: game for game in (DUEL, COLOR_OBFUSCATION, CODE_GOLF, BUG_HUNT, CHALLENGE_EXCHANGE, LAST_ARENA)
}


class Games(Mapping[str, GameSpec[Any]]):
    """Our own games, then those that installed packages offer under the entry point `peerage.games`.

    A package's game is imported when it is asked for, never before; ImportError names the package when that
    fails or gives something else than a `GameSpec` of that name. Our own names cannot be taken.
    """

    def __getitem__(self, name: str) -> GameSpec[Any]:
        return _HOUSE[name] if name in _HOUSE else _load(_offered()[name])

    def __iter__(self) -> Iterator[str]:
        yield from _HOUSE
        yield from (name for name in _offered() if name not in _HOUSE)

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        return name in _HOUSE or name in _offered()


GAMES: Mapping[str, GameSpec[Any]] = Games()
"""Every game by name, in the order they are listed."""


@lru_cache(maxsize=1)
def _offered() -> Mapping[str, EntryPoint]:
    return {entry.name: entry for entry in sorted(entry_points(group="peerage.games"))}


def _load(entry: EntryPoint) -> GameSpec[Any]:
    where = f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value
    try:
        game = entry.load()
    except Exception as error:
        raise ImportError(
            f"the game {entry.name!r} of the package {where} cannot be loaded ({error}); mend or remove it"
        ) from error
    if not isinstance(game, GameSpec) or game.name != entry.name:
        raise ImportError(
            f"the package {where} offers {entry.value!r} as the game {entry.name!r}, which is not a GameSpec "
            f"of that name"
        )
    return game
