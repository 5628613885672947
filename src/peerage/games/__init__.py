"""One folder per game: a plain generator that yields requests and returns an outcome."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pkgutil import iter_modules
from typing import Any

from peerage import __version__
from peerage.games.game import GameSpec

_OWN = {one.name.replace("_", "-"): one.name for one in iter_modules(__path__) if one.ispkg}
"""Each game's folder by its name: a command that needs one game does not import the others."""

_UNLISTED = {"rejudgement": "rejudgement"}
"""Games that nobody starts by name: a command of their own makes their fixtures."""


class Games(Mapping[str, GameSpec[Any]]):
    """Our own games, then those that installed packages offer under the entry point `peerage.games`.

    Those that nobody starts by name are found by theirs, but not listed.
    A package's game is imported when it is asked for, never before; ImportError names the package when that
    fails or gives something else than a `GameSpec` of that name. Our own names cannot be taken.
    """

    def __getitem__(self, name: str) -> GameSpec[Any]:
        own = name in _OWN or name in _UNLISTED
        return _house(name) if own else _load(_offered()[name])

    def __iter__(self) -> Iterator[str]:
        yield from _OWN
        yield from (name for name in _offered() if name not in _OWN and name not in _UNLISTED)

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        return name in _OWN or name in _UNLISTED or name in _offered()


GAMES: Mapping[str, GameSpec[Any]] = Games()
"""Every game by name, in the order they are listed."""


def release_of(game: str) -> str:
    """What plays a game here, as pip names it: this release, and the package of a game not our own."""
    ours = f"peerage=={__version__}"
    entry = None if game in _OWN or game in _UNLISTED else _offered().get(game)
    return f"{ours} {entry.dist.name}=={entry.dist.version}" if entry and entry.dist else ours


def installed(name: str) -> GameSpec[Any] | None:
    """The game of that name; None when it is not installed here, or cannot be loaded."""
    try:
        return GAMES.get(name)
    except ImportError:
        return None


def tracks_of(name: str) -> tuple[str, ...]:
    """The ratings that a game feeds, its own first; one that is not installed here is taken for a duel."""
    spec = installed(name)
    return ("bt", "raw", "cost") if spec is None else spec.tracks


@cache
def _house(name: str) -> GameSpec[Any]:
    game: GameSpec[Any] = import_module(f"peerage.games.{(_OWN | _UNLISTED)[name]}").GAME
    return game


@cache
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
