"""Texts of a game's prompts that the arena's owner has in place of the game's own: `rules: {texts: …}`.

rules:
  texts: my-prompts.toml                        # as `peerage games texts GAME` prints them, or a few of them
  texts: {answer: {user: {file: answer.md}}}    # or one by one, each a text or its file
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from peerage.game.spec import GameSpec
from peerage.game.texts import differing, text_faults
from peerage.settings.own_tasks import FILE, read_named
from peerage.settings.source import SettingsSource

TEXTS = "texts"
"""The rule that holds them."""


def texts_of_owner(
    spec: GameSpec[Any], rules: dict[str, Any], folder: Path, source: SettingsSource, at: tuple[str, ...]
) -> list[str]:
    """Put the texts that files hold in place of their names, and leave out those that are the game's own.

    Returns all that is wrong with them, each with its file and its name. Raises SettingsError for a file that
    cannot be read.
    """
    stated, where = rules.get(TEXTS), source.place((*at, TEXTS))
    if isinstance(stated, str):
        where, stated = str(folder / stated), read_named(folder / stated, where, _toml)
    if not isinstance(stated, Mapping) or TEXTS not in spec.rules.model_fields:
        return []  # which validation reports
    stated = _of_files(stated, folder, where)
    rules[TEXTS] = stated
    if not spec.texts:
        return [f"{where}: {spec.name} has no texts that others could replace"] if stated else []
    faults = [f"{where}, {fault}" for fault in text_faults(spec.texts, stated)]
    if not faults:
        rules[TEXTS] = differing(spec.texts, stated)
    return faults


def _toml(body: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(body.decode("utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{error}; `peerage games texts GAME` prints such a file") from None


def _of_files(stated: Mapping[str, Any], folder: Path, where: str) -> dict[str, Any]:
    """Return the texts with those of files in place of `{file: PATH}`."""

    def text(value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        if value.keys() == {FILE} and isinstance(value[FILE], str):
            return read_named(folder / value[FILE], where, lambda body: body.decode("utf-8-sig").strip())
        return _of_files(value, folder, where)

    return {str(key): text(value) for key, value in stated.items()}
