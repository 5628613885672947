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
from peerage.game.texts import leaves_of, text_faults
from peerage.settings.own_tasks import FILE, read_named, text_in
from peerage.settings.source import SettingsSource

TEXTS = "texts"
"""The rule that holds them."""


def texts_of_owner(
    spec: GameSpec[Any], rules: dict[str, Any], folder: Path, source: SettingsSource, at: tuple[str, ...]
) -> list[str]:
    """Put the texts by name in place of the files that hold them, those of the game itself left out.

    Returns all that is wrong with them, each with its file and its name. Raises SettingsError for a file that
    cannot be read.
    """
    stated, where = rules.get(TEXTS), source.place((*at, TEXTS))
    if isinstance(stated, str):
        where, stated = str(folder / stated), read_named(folder / stated, where, _toml)
    if not isinstance(stated, Mapping) or TEXTS not in spec.rules.model_fields:
        return []  # which validation reports
    texts: dict[str, Any] = {}
    for name, text in leaves_of(stated).items():
        of, _, key = name.rpartition(".")
        if key == FILE and isinstance(text, str):
            name, text = of, read_named(folder / text, where, lambda body: text_in(body).strip())
        texts[name] = text
    if texts and not spec.texts:
        return [f"{where}: {spec.name} has no texts that others could replace"]
    own, faults = leaves_of(spec.texts), [*text_faults(spec.texts, texts)]
    rules[TEXTS] = {} if faults else {name: text for name, text in texts.items() if own[name] != text}
    return [f"{where}, {fault}" for fault in faults]


def _toml(body: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(text_in(body))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{error}; `peerage games texts GAME` prints such a file") from None
