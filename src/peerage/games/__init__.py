"""The games: found by folder here, by entry point in installed packages, and in files that arenas name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, metadata, version
from pkgutil import iter_modules
from typing import Any, NamedTuple

from peerage.game import GameSpec
from peerage.version import __version__

_OWN = {module.name.replace("_", "-"): module.name for module in iter_modules(__path__) if module.ispkg}
"""Each game's folder by its name: a command that needs one game does not import the others."""

_ADAPTED = {"openspiel": "open_spiel", "textarena": "text_arena"}
"""The modules whose games are called by a first word, as openspiel-hex is: they are found, and not listed."""

FILE = "sha256:"
"""Beginning of the digest of a game's file where a fixture names what plays it."""


class GameFile(NamedTuple):
    """A game that a file holds, and what plays it: the file's name and its digest."""

    spec: GameSpec[Any]
    release: str


_FILES: dict[str, GameFile] = {}


class Games(Mapping[str, GameSpec[Any]]):
    """Our own games, then those that installed packages offer under the entry point `peerage.games`. Those
    that nobody starts by name, and those of files (`register`), are found but not listed. A package's game is
    imported when it is asked for, never before; ImportError names the package when that fails or gives
    something else than a `GameSpec` of that name. Our own names cannot be taken."""

    def __getitem__(self, name: str) -> GameSpec[Any]:
        if name in _OWN:
            return _own(name)
        if (adapter := _adapter(name)) is not None:
            spec: GameSpec[Any] = adapter.spec(name.partition("-")[2])
            return spec
        return _FILES[name].spec if name in _FILES else _load(_offered()[name])

    def __iter__(self) -> Iterator[str]:
        yield from (name for name in _OWN if _own(name).listed)
        yield from (name for name in _offered() if name not in _OWN)

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        return name in _OWN or name in _offered() or name in _FILES or _adapter(name) is not None


GAMES: Mapping[str, GameSpec[Any]] = Games()
"""Every game by name, in the order they are listed."""


def release_of(game: str) -> str:
    """Return what plays a game here: this release as pip names it, and the package, or the file with its
    digest, of a game not our own."""
    ours = f"peerage=={__version__}"
    if game in _FILES:
        return f"{ours} {_FILES[game].release}"
    if (adapter := _adapter(game)) is not None:
        try:
            return f"{ours} {adapter.package}=={version(adapter.package)}"
        except PackageNotFoundError:
            return ours
    entry = None if game in _OWN else _offered().get(game)
    return f"{ours} {entry.dist.name}=={entry.dist.version}" if entry and entry.dist else ours


def license_of(game: str) -> str:
    """The license of the package that holds a game of `GAMES`, as that states it; empty where it does not."""
    entry = None if game in _OWN else _offered().get(game)
    try:
        about = metadata("peerage" if entry is None or entry.dist is None else entry.dist.name)
    except PackageNotFoundError:
        return ""
    stated = [about[field] for field in ("License-Expression", "License") if field in about]
    return stated[0] if stated else ""


def adapted() -> Iterator[tuple[GameSpec[Any], str]]:
    """The games of other libraries, each with the library's license. They need not be installed. Children's
    games that anybody solves are not among them, and are played by name."""
    for first in _ADAPTED:
        adapter = _module(first)
        listed = [name for name, entry in adapter.listed().items() if entry.listed]
        yield from ((adapter.spec(name), adapter.license) for name in listed)


def candidates(name: str) -> list[str]:
    """The names that a misspelt one may mean: those of libraries where `name` lacks one, else all."""
    return [whole for first in _ADAPTED if (whole := f"{first}-{name}") in GAMES] or list(GAMES)


def _adapter(name: object) -> Any:
    """The module that plays a game of another library; None for any other name."""
    first, _, rest = str(name).partition("-")
    adapter = _module(first) if rest and first in _ADAPTED else None
    return adapter if adapter is not None and rest in adapter.listed() else None


def _module(first: str) -> Any:
    return import_module(f"peerage.games.{_ADAPTED[first]}").LIBRARY


def installed(name: str) -> GameSpec[Any] | None:
    """The game of that name; None when it is not installed here, or cannot be loaded."""
    try:
        return GAMES.get(name)
    except ImportError:
        return None


def hides(name: str) -> bool:
    """Return whether contestants of that game must not see what is on record of a match under way; of one
    that is not installed here nobody knows, so they must not."""
    spec = installed(name)
    return spec is None or spec.secrecy.hides


def hides_turns(name: str) -> bool:
    """Return whether contestants of that game must not see who is asked when in a match under way: it would
    tell who holds which role."""
    spec = installed(name)
    return spec is None or (spec.secrecy.hides and not spec.secrecy.alike)


def tracks_of(name: str) -> tuple[str, ...]:
    """The ratings that a game feeds, its own first; one that is not installed here is taken for a duel."""
    spec = installed(name)
    return ("strength", "bt", "raw", "cost") if spec is None else spec.tracks


def plays(spec: GameSpec[Any], game: str, version: int, release: str) -> bool:
    """Return whether `spec` is what a fixture was made for: the same version, and the same file if any."""
    file = release.partition(" ")[2] if FILE in release else ""
    here = _FILES[game].release if game in _FILES else ""
    return (game, version, file) == (spec.name, spec.version, here)


def held_in_file(release: str) -> GameSpec[Any] | None:
    """The game of a file that was loaded before, by the file's name and digest."""
    return next((held.spec for held in _FILES.values() if held.release == release), None)


def register(game: GameSpec[Any], release: str) -> None:
    """Have the game of a file found by its name from now on. Raises ImportError where the name is taken."""
    if game.name in _OWN or game.name in _offered() or _adapter(game.name) is not None:
        raise ImportError(f"there is another game {game.name!r}; give this one another name")
    _FILES[game.name] = GameFile(game, release)


@cache
def _own(name: str) -> GameSpec[Any]:
    game: GameSpec[Any] = import_module(f"peerage.games.{_OWN[name]}").GAME
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
            f"the game {entry.name!r} of the package {where} cannot be loaded ({error}); fix or remove it"
        ) from error
    if not isinstance(game, GameSpec) or game.name != entry.name:
        raise ImportError(
            f"the package {where} offers {entry.value!r} as the game {entry.name!r}, which is not a GameSpec "
            f"of that name"
        )
    return game
