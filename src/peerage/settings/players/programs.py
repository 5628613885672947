"""One program entered under several names is one family, whatever families are stated for it."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Hashable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from peerage.settings.players.model_names import without_credentials
from peerage.settings.players.player import PlayerSettings
from peerage.values.figures import listed

_log = logging.getLogger(__name__)
_END = 2**20
"""Bytes at each end of a file by which, with its size, it is known: weights hold many gigabytes."""


def of_one_family(players: Sequence[PlayerSettings], folder: Path) -> Iterator[PlayerSettings]:
    """The players, each in the family of the first that is the same program: the same command or copies of
    its files (over ACP with the same model), the same address, the same model of the same server. House
    players and people are themselves.

    Relative paths are those of `folder`, the arena's. A stated family that gives way is a warning.
    """
    first: dict[Hashable, PlayerSettings] = {}
    overruled: dict[str, list[str]] = {}
    for player in players:
        program = first.setdefault(program_of(player, folder), player)
        if program.family == player.family:
            yield player
            continue
        overruled.setdefault(program.name, [program.name]).append(player.name)
        yield player.model_copy(update={"family": program.family})
    for names in overruled.values():
        family = next(player.family for player in players if player.name == names[0])
        _log.warning("%s are one program, so all are of the family %s", listed(names), family)


def program_of(player: PlayerSettings, folder: Path) -> Hashable:
    """Return a key of the program that answers under a player's name: equal for two that are the same."""
    if player.provider == "house" or player.is_person:
        return player.name
    if player.acp or player.provider == "command":
        program, *words = player.acp or player.words
        here = folder / program
        path = here if os.path.isfile(here) else Path(shutil.which(program) or program)
        files = [_file(folder / word, word) for word in words if not (player.acp and word.startswith("-"))]
        behind = (player.model, _address(player.base_url)) if player.provider != "command" else "command"
        return behind, _file(path, program), *files
    _, _, rest = player.model.partition(":")
    if player.provider in ("http", "https"):
        return "http", _address(player.model)
    if player.provider == "gguf":
        return "gguf", _file(folder / rest, rest)
    return player.model, _address(player.base_url)


def _file(path: Path, word: str) -> str:
    """A digest of a file's size and ends; of what is no file that can be read the word itself."""
    try:
        if not path.is_file():
            return word
        with path.open("rb") as opened:
            size = path.stat().st_size
            start = opened.read(_END)
            opened.seek(max(size - _END, 0))
            return sha256(b"%d:" % size + start + opened.read(_END)).hexdigest()
    except (OSError, ValueError):
        return word


def _address(address: str) -> str:
    """An address in one spelling: without scheme, credentials, query and a slash at its end."""
    parts = urlsplit(without_credentials(address))
    host = (parts.hostname or "").replace("localhost", "127.0.0.1")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return f"{host}:{port}{parts.path.rstrip('/')}" if host else address
