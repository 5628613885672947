"""The games: found by folder here, by entry point in installed packages, and in files that arenas name."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, NamedTuple

from peerage import __version__
from peerage.games.game import GameSpec
from peerage.games.trust import trust, trusted

_OWN = {one.name.replace("_", "-"): one.name for one in iter_modules(__path__) if one.ispkg}
"""Each game's folder by its name: a command that needs one game does not import the others."""

FILE = "sha256:"
"""How the digest of a game's file begins where a fixture names what plays it."""


class GameFile(NamedTuple):
    """A game that a file holds, and what plays it: the file's name and its digest."""

    spec: GameSpec[Any]
    release: str


_FILES: dict[str, GameFile] = {}


class Games(Mapping[str, GameSpec[Any]]):
    """Our own games, then those that installed packages offer under the entry point `peerage.games`.

    Those that nobody starts by name, and those of files (`load_file`), are found but not listed. A package's
    game is imported when it is asked for, never before; ImportError names the package when that fails or
    gives something else than a `GameSpec` of that name. Our own names cannot be taken.
    """

    def __getitem__(self, name: str) -> GameSpec[Any]:
        if name in _OWN:
            return _own(name)
        return _FILES[name].spec if name in _FILES else _load(_offered()[name])

    def __iter__(self) -> Iterator[str]:
        yield from (name for name in _OWN if _own(name).listed)
        yield from (name for name in _offered() if name not in _OWN)

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        return name in _OWN or name in _offered() or name in _FILES


GAMES: Mapping[str, GameSpec[Any]] = Games()
"""Every game by name, in the order they are listed."""


def release_of(game: str) -> str:
    """What plays a game here: this release as pip names it, and the package, or the file with its digest, of
    a game not our own."""
    ours = f"peerage=={__version__}"
    if game in _FILES:
        return f"{ours} {_FILES[game].release}"
    entry = None if game in _OWN else _offered().get(game)
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


def plays(spec: GameSpec[Any], game: str, version: int, release: str) -> bool:
    """Whether `spec` is what a fixture was made for, by what that says of its game: the same version, and of
    a game in a file the same file."""
    file = release.partition(" ")[2] if FILE in release else ""
    here = _FILES[game].release if game in _FILES else ""
    return (game, version, file) == (spec.name, spec.version, here)


def load_file(path: Path, *, reading: bool = False) -> GameSpec[Any]:
    """The game that a Python file holds as `GAME`; from now on it is found by its name in this process.

    Loading a file runs it; with `reading` only one that this user has run before. Raises ImportError, which
    names the file, the line and the cure.
    """
    try:
        body = path.read_bytes()
    except OSError as error:
        raise ImportError(f"the game's file {path} cannot be read: {error.strerror}") from None
    digest = sha256(body).hexdigest()
    release = f"{path.name}@{FILE}{digest}"
    for held in _FILES.values():
        if held.release == release:
            return held.spec
    if not reading:
        trust(digest)
    elif not trusted(digest):
        raise ImportError(
            f"the game's file {path} is a program that you have not run yet, and reading an arena runs none: "
            f"look at the file, then `peerage games check {path}` runs it"
        )
    module = ModuleType(f"peerage_game_{digest[:16]}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # where annotations of its structs are looked up
    try:
        exec(compile(body, str(path), "exec"), module.__dict__)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == str(path)]
        line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
        where = f"{path}, line {line}" if line else str(path)
        raise ImportError(f"{where}: {type(error).__name__}: {error}") from error
    game = getattr(module, "GAME", None)
    if not isinstance(game, GameSpec):
        raise ImportError(f"{path} holds no GAME = GameSpec(…); `peerage games new NAME` writes an example")
    if game.name in _OWN or game.name in _offered():
        raise ImportError(f"{path}: there is another game {game.name!r}; give this one another name")
    _FILES[game.name] = GameFile(game, release)
    return game


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
