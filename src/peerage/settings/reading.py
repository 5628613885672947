"""Reading `arena.yaml` and the files it names; every mistake is reported with its place and its fix."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from peerage.game.media import OPENER
from peerage.game.spec import GameSpec
from peerage.games import GAMES, installed
from peerage.settings.game_file import load_file
from peerage.settings.game_texts import texts_of_owner
from peerage.settings.lineup import ARENAS
from peerage.settings.media import MediaFolder, MediaSettings
from peerage.settings.mistakes import explain
from peerage.settings.own_tasks import (
    PROGRAMS,
    SCHEMA,
    TEMPLATES,
    programs_of_files,
    renamed,
    schema_of_file,
    templates_of,
    texts_of_files,
    with_tasks,
)
from peerage.settings.players.programs import of_one_family
from peerage.settings.shape import READING, ArenaSettings
from peerage.settings.source import SettingsError, SettingsSource, bytes_of, parsed, text_of
from peerage.settings.work_tasks import WORKSHOP, work_tasks

FILE_NAME = "arena.yaml"
_log = logging.getLogger("peerage")


class ArenaError(Exception):
    """The arena cannot do what was asked; the message says why and how to fix it."""


def load(folder: str | os.PathLike[str], *, reading: bool = False) -> ArenaSettings:
    """The settings of the arena in `folder`. Raises SettingsError.

    With `reading` its game need not be installed: what is on record can be read without it, not gone on with.
    """
    path = Path(folder) / FILE_NAME
    return loads(text_of(path), where=str(path), folder=folder, reading=reading)


def loads(
    text: str,
    where: str = FILE_NAME,
    folder: str | os.PathLike[str] | None = None,
    *,
    reading: bool = False,
) -> ArenaSettings:
    """Settings from the text of an `arena.yaml`; see `load`. Raises SettingsError.

    A `game` that ends in `.py` is a file that holds one, relative to `folder`; it is run, with `reading` only
    where this user has run it before. `where` names the
    text in errors. A rule that may name a file (`GameSpec.files`) is read relative to `folder` (the
    current one by default) and becomes the list that stands there.
    """
    data, source = parsed(text, where)
    texts_of_files(data, Path(folder or "."), source)
    stated = data.get("tasks")
    try:
        data = with_tasks(data)
    except ValueError as error:
        key, _, problem = str(error).partition(": ")
        raise SettingsError(f"{source.place((key,))}: {problem}") from None
    source = replace(source, renamed=renamed(stated, data))

    def by_name(named: Any, key: str) -> Any:
        if not isinstance(named, str) or not named.endswith(".py"):
            return named
        try:
            return load_file(Path(folder or ".") / named, reading=reading).name
        except ImportError as error:
            if not reading:
                raise SettingsError(f"{source.place((key,))}: {error}") from None
            _log.warning("%s", error)
            return Path(named).stem.replace("_", "-")

    if "game" in data:
        data["game"] = by_name(data["game"], "game")
    several = data.get("games")
    if isinstance(several, dict):
        data["games"] = {by_name(name, "games"): stated for name, stated in several.items()}
    elif isinstance(several, list):
        data["games"] = [by_name(name, "games") for name in several]
    ruled = [
        (spec, path, rules)
        for name, path, rules in _ruled(data)
        if (spec := _game(name, where, reading)) is not None
    ]
    wrong: list[str] = []
    shelf = media_folder(data, folder)
    for spec, path, rules in ruled:
        if TEMPLATES in spec.rules.model_fields:
            rules[TEMPLATES] = templates_of(data.get("players"))
            schema_of_file(rules, Path(folder or "."), source.place((*path, SCHEMA)))
        _listed(spec, rules, Path(folder or "."), source, path, shelf)
        if spec.name == WORKSHOP and rules.get("tasks"):
            at = source.place((*path, "tasks"))
            rules["tasks"] = [] if reading else work_tasks(rules["tasks"], Path(folder or "."), at)
        wrong += texts_of_owner(spec, rules, Path(folder or "."), source, path)
        if PROGRAMS in spec.rules.model_fields:
            programs_of_files(rules, Path(folder or "."), source.place((*path, "tasks")))
    settings = _validated(data, source, ruled, wrong, READING if reading else None, shelf)
    everyone, playing = of_one_family(settings.everyone, Path(folder or ".")), len(settings.players)
    players = tuple(everyone)
    return settings.model_copy(update={"players": players[:playing], "judges": players[playing:]})


def _validated(
    data: Mapping[str, Any],
    source: SettingsSource,
    ruled: Sequence[tuple[GameSpec[Any], tuple[str, ...], dict[str, Any]]],
    known: Sequence[str],
    context: Any,
    shelf: MediaFolder,
) -> ArenaSettings:
    """Return the settings that `data` states. Raises SettingsError with all that is wrong with them, and with
    the rules of games; `known` is found already."""
    folder, of_games = Path(shelf.folder or "."), list[str]()
    for spec, path, rules in ruled:
        opened = shelf.opened
        try:
            with shelf.opener(folder) as opener:
                checked = spec.rules.model_validate(rules, context={OPENER: opener})
            if shelf.opened > opened:  # of lists that stand right here
                rules |= checked.model_dump(mode="json", include={*spec.files})
        except ValidationError as error:
            of_games += explain(error, spec.rules, path, source)
        for key in rules.keys() & ARENAS.keys() & spec.rules.model_fields.keys():
            of_games.append(f"{source.place((*path, key))}: set it for the whole arena, {ARENAS[key]}")
    wrong, settings = [*known], None
    try:
        settings = ArenaSettings.model_validate(data, context=context)
    except ValidationError as error:
        alone = [key for spec, path, _ in ruled if path == ("rules",) for key in spec.rules.model_fields]
        wrong += explain(error, ArenaSettings, (), source, alone)
    if wrong or of_games or settings is None:
        raise SettingsError("\n".join([*wrong, *of_games]))
    return settings.beside(shelf) if shelf.opened else settings


def media_folder(data: Mapping[str, Any], folder: str | os.PathLike[str] | None) -> MediaFolder:
    """Return an arena's pictures and sounds, within the bounds that `data` states; what is wrong with these
    validation reports."""
    bounds = MediaSettings()
    with suppress(ValidationError):
        bounds = MediaSettings.model_validate(data.get("media", {}))
    return MediaFolder(None if folder is None else Path(folder), bounds)


def _ruled(data: Mapping[str, Any]) -> Iterator[tuple[object, tuple[str, ...], dict[str, Any]]]:
    """Each game with where its rules stand and what they say; one with the defaults alone says nothing."""
    games = data.get("games")
    if not games:
        stated = data.get("rules", {})
        if isinstance(stated, dict):
            yield data.get("game", ArenaSettings.model_fields["game"].default), ("rules",), stated
    for name, line in games.items() if isinstance(games, dict) else ():
        if isinstance(line, dict) and isinstance(line.get("rules", {}), dict):
            yield name, ("games", str(name), "rules"), line.get("rules", {})


def _game(name: object, where: str, reading: bool) -> GameSpec[Any] | None:
    """The game of that name; None when there is none, which validation reports."""
    if not isinstance(name, str) or reading:
        return installed(name) if isinstance(name, str) else None
    try:
        return GAMES.get(name)
    except ImportError as error:
        raise SettingsError(f"{where}, game: {error}") from None


def _listed(
    spec: GameSpec[Any],
    rules: dict[str, Any],
    folder: Path,
    source: SettingsSource,
    at: tuple[str, ...],
    shelf: MediaFolder,
) -> None:
    """Put the lists in place of the files that `rules`, found `at` there, name. Raises SettingsError."""
    for key, read in spec.files.items():
        named = rules.get(key)
        if not isinstance(named, str):
            continue
        path = folder / named
        if not os.path.lexists(path):
            raise SettingsError(
                f"{source.place((*at, key))}: {path} does not exist; the path is relative to the arena's "
                "folder"
            )
        try:
            with shelf.opener(path.parent) as opener:
                rules[key] = read(bytes_of(path), path.name, {**rules, OPENER: opener})
        except ValueError as error:
            raise SettingsError(f"{path}, {error}") from None
