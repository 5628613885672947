"""The short ways to write one's own tasks: the key `tasks`, and texts that stand in files of their own."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from peerage.settings.players.player import PlayerSettings
from peerage.settings.source import SettingsError, SettingsSource, bytes_of
from peerage.values.texts import storable

GAME, KEY, FILE = "tasks", "tasks", "file"
SCHEMA, PROGRAMS, TEMPLATES = "answer_schema", "programs", "templates"
"""Rules of that game: a schema, sources of programs by file, players' templates by name."""


def with_tasks(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings in which the rules of the game `tasks` say what the key `tasks` says.

    Raises ValueError where the two contradict each other, or another game is named next to them.
    """
    settings = dict(data)
    stated = settings.pop(KEY, None)
    if stated is None:
        return settings
    rules = {**stated} if isinstance(stated, dict) else {KEY: stated}
    if FILE in rules:
        rules[KEY] = rules.pop(FILE)
    if not rules.get(KEY):
        raise ValueError(
            "tasks: no task and no file of tasks is named; write `tasks: tasks.csv`, or `file:` in it"
        )
    games = settings.get("games")
    if games:
        names = [games] if isinstance(games, str) else games
        if isinstance(names, list):
            games = dict.fromkeys(map(str, names))
        if not isinstance(games, dict) or GAME not in games:
            raise ValueError(
                "tasks: your tasks are played by the game `tasks`, which `games` does not name; add it"
            )
        own = games[GAME]
        line = {**own} if isinstance(own, dict) else {} if own is None else {"weight": own}
        line["rules"] = {**line.get("rules", {}), **rules}
        settings["games"] = {**games, GAME: line}
        return settings
    if settings.get("game", GAME) != GAME:
        raise ValueError(
            f"tasks: found the game {settings['game']!r} next to your tasks, which `tasks` plays; remove "
            f"`game`, or write `games: [tasks, {settings['game']}]`"
        )
    if settings.get("rules"):
        raise ValueError("rules: the rules of your tasks stand under `tasks: {file: …}`; move them there")
    settings["game"], settings["rules"] = GAME, rules
    return settings


def renamed(stated: object, data: Mapping[str, Any]) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """Return where the rules stand that the key `tasks` says, as `stated`; none where it says nothing."""
    if stated is None:
        return ()
    rules = ("games", GAME, "rules") if data.get("games") else ("rules",)
    file = (KEY, FILE if FILE in stated else KEY) if isinstance(stated, dict) else (KEY,)
    return ((*rules, KEY), file), (rules, (KEY,))


Place = tuple[int | str, ...]


def texts_of_files(data: MutableMapping[str, Any], folder: Path, source: SettingsSource) -> None:
    """Put texts in place of files that `{file: …}` names, where a text may stand. Raises SettingsError."""
    for holder, key, place in _holders(data):
        value = holder.get(key)
        if isinstance(value, dict):
            if value.keys() != {FILE} or not isinstance(value[FILE], str):
                raise SettingsError(f"{source.place(place)}: expected a text, or `{{file: PATH}}`")
            holder[key] = read_named(folder / value[FILE], source.place(place), text_in)


def _holders(data: Mapping[str, Any]) -> Iterator[tuple[MutableMapping[str, Any], str, Place]]:
    """Yield where a text may stand that a file may hold: its mapping, its key, and its place for people."""
    for role in ("players", "judges"):
        listed = data.get(role)
        for at, player in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(player, dict):
                yield from ((player, key, (role, at, key)) for key in ("system_prompt", "template"))
    judging = data.get("judging")
    if isinstance(judging, dict):
        yield from ((judging, key, ("judging", key)) for key in ("rubric", "prompt"))
    tasks = data.get(KEY)
    if isinstance(tasks, dict):
        yield tasks, "template", (KEY, "template")


def read_named(path: Path, where: str, read: Callable[[bytes], Any]) -> Any:
    """Return what `read` makes of a file that settings name at `where`. Raises SettingsError."""
    if not os.path.exists(path):  # which a name that is too long is no error for
        raise SettingsError(f"{where}: {path} does not exist; the path is relative to the arena's folder")
    try:
        return read(bytes_of(path))
    except RecursionError:
        raise SettingsError(f"{where}: {path}: lists or tables stand too deep in each other") from None
    except ValueError as error:
        raise SettingsError(f"{where}: {path}: {error}") from None


def schema_of_file(rules: dict[str, Any], folder: Path, where: str) -> None:
    """Put the schema that a file holds in place of its name. Raises SettingsError."""
    if isinstance(named := rules.get(SCHEMA), str):
        rules[SCHEMA] = read_named(folder / named, where, _json)


def programs_of_files(rules: dict[str, Any], folder: Path, where: str) -> None:
    """Add the sources of the programs that checks of `rules` name. Raises SettingsError."""
    names = sorted({name.rpartition(":")[0] for name in _programs(rules)})
    rules[PROGRAMS] = {name: read_named(folder / name, where, text_in) for name in names}


_PYTHON = re.compile(r"\s*python\s*:?\s*(\S+\.py:\w+)\s*")


def _programs(rules: Mapping[str, Any]) -> Iterator[str]:
    """Yield what checks name as `python: FILE.py:FUNCTION`, as people write it or as it is read."""
    tasks = rules.get(KEY)
    checks: list[Any] = [rules.get("check")]
    for task in tasks if isinstance(tasks, list) else ():
        for key in ("check", "checks"):
            listed = task.get(key) if isinstance(task, dict) else None
            checks += listed if isinstance(listed, list) else [listed]
    for check in checks:
        if isinstance(check, dict) and isinstance(check.get("program"), str):
            yield check["program"]
        elif isinstance(check, str) and (program := _PYTHON.fullmatch(check)):
            yield program[1]


def _json(body: bytes) -> Any:
    try:
        return json.loads(text_in(body))
    except json.JSONDecodeError as error:
        raise ValueError(f"no JSON ({error})") from None


def text_in(body: bytes) -> str:
    """Return the text of a file. Raises ValueError for one in no encoding of Unicode."""
    encoding = "utf-16" if body.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return storable(body.decode(encoding).removesuffix("\n"))
    except UnicodeDecodeError as error:
        raise ValueError(
            f"byte {error.start + 1} is no {error.encoding.upper()}; save the file as UTF-8"
        ) from None


def templates_of(players: object) -> dict[str, str]:
    """Return players' templates by name, empty for those without one; empty where nobody has any. Validation
    reports entries that are no players."""
    templates: dict[str, str] = {}
    for stated in players if isinstance(players, list | tuple) else ():
        try:
            player = stated if isinstance(stated, PlayerSettings) else PlayerSettings.model_validate(stated)
        except ValidationError:
            continue
        templates[player.name] = player.template
    return templates if any(templates.values()) else {}
