"""Games in files: a file is run when it is loaded, and commands that only read an arena run no new one.

An arena may be somebody else's. To play, check or try a game is to run its file; from then on this user's
commands run that very file (by its digest) to read and show its arenas too.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

from peerage.game.spec import GameSpec
from peerage.games import FILE, held_in_file, register, release_of
from peerage.values.inputs import InputRefused, read_bytes
from peerage.values.system_errors import reason

_PATHS: dict[str, Path] = {}


def files_of(games: Iterable[str]) -> dict[str, str]:
    """The files from which some of these games were loaded, each with what says that it is the same file
    elsewhere (`release_of`)."""
    return {str(_PATHS[game].resolve()): release_of(game) for game in games if game in _PATHS}


def load_file(path: Path, *, reading: bool = False) -> GameSpec[Any]:
    """The game that a Python file holds as `GAME`; from now on it is found by its name in this process.

    Loading a file runs it; with `reading` only one that this user has run before. Raises ImportError, which
    names the file, the line and the cure.
    """
    try:
        body = read_bytes(path)
    except InputRefused as error:
        raise ImportError(f"the game's file {error}") from None
    except OSError as error:
        raise ImportError(f"the game's file {path} cannot be read: {reason(error)}") from None
    digest = sha256(body).hexdigest()
    release = f"{path.name}@{FILE}{digest}"
    held = held_in_file(release)
    if held is not None:
        _PATHS[held.name] = path
        return held
    if not reading:
        _trust(digest)
    elif not _trusted(digest):
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
    try:
        register(game, release)
    except ImportError as error:
        raise ImportError(f"{path}: {error}") from None
    _PATHS[game.name] = path
    return game


def _trust(digest: str) -> None:
    """Remember that the user ran the file of this SHA-256 (hex). Where nothing can be kept, nothing is."""
    with suppress(OSError):
        mark = _mark(digest)
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()


def _trusted(digest: str) -> bool:
    """Return whether the user has run the file of this SHA-256 (hex) before."""
    try:
        return _mark(digest).exists()
    except OSError:
        return False


def _mark(digest: str) -> Path:
    from platformdirs import user_state_path

    return user_state_path("peerage") / "games" / digest
