"""Words and presets of games that are data, in TOML files of their folders.

    [original]                 # of `presets.toml`: the word that `rules: {preset: original}` says
    about = "…"                # what it is, for people
    [original.rules]           # the game's own settings
    order = "recoveries"
    [original.pairing]         # the arena's `pairing:` and `rating:`
    policy = "random"

A preset fills in the keys that the arena does not state; a key that is stated next to it wins. A fixture
holds the settings that come of it, so what was played does not depend on what a preset says later. TOML has
no null: the text `null` stands for it.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from peerage.game.protocol import MATERIAL, Prompt

_INCLUDED = re.compile(r"\{([A-Z_]+)\}")


@cache
def toml(package: str, name: str) -> Mapping[str, Any]:
    """Return what NAME.toml of a package says."""
    return tomllib.loads(files(package).joinpath(f"{name}.toml").read_text("utf-8"))


@cache
def texts(package: str) -> Mapping[str, Any]:
    """Return what `texts.toml` of a package says: a table with a `user` text is a `Prompt`. In every text
    `{NAME}` stands for the text `name` of the same file, `{MATERIAL}` for that of `game.protocol`."""
    tables = {"material": MATERIAL, **toml(package, "texts")}

    def whole(value: Any) -> Any:
        if isinstance(value, str):
            return _INCLUDED.sub(lambda place: str(tables[place[1].lower()]), value)
        if not isinstance(value, dict):
            return value
        parts = {name: whole(part) for name, part in value.items()}
        return Prompt(**parts) if "user" in parts else parts

    return {name: whole(text) for name, text in tables.items()}


# ------------------------------------------------------------------------------------------------ presets


LONG = 60
"""Characters of a text that a page about presets shows."""


class Preset(NamedTuple):
    """The settings that one word stands for: of the game, and of the arena around it."""

    about: str
    rules: Mapping[str, Any] = {}
    pairing: Mapping[str, Any] = {}
    rating: Mapping[str, Any] = {}


@cache
def presets(package: str) -> Mapping[str, Preset]:
    """Return the presets in a game's folder by name."""
    return {name: Preset(**_with_nulls(stated)) for name, stated in toml(package, "presets").items()}


def _with_nulls(stated: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: _with_nulls(value) if isinstance(value, Mapping) else None if value == "null" else value
        for key, value in stated.items()
    }


def expanded(package: str, stated: Any, usual: str) -> Any:
    """Lay the rules that a game's settings state over those of their preset.

    The preset is `usual` if they name none. Where the rules are no mapping, or the preset is unknown,
    validation reports it.
    """
    if not isinstance(stated, Mapping):
        return stated
    preset = presets(package).get(str(stated.get("preset", usual)))
    return laid_over(preset.rules if preset else {}, stated)


def laid_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return `below` with what `above` states in its place, section by section."""
    laid = dict(below)
    for key, value in above.items():
        under = below.get(key)
        both = isinstance(under, Mapping) and isinstance(value, Mapping)
        laid[key] = laid_over(under, value) if both else value  # type: ignore[arg-type]
    return laid


def preset_page(presets: Mapping[str, Preset]) -> str:
    """Return what each preset expands to, in Markdown; long texts are cut. Empty for no presets."""
    parts: list[str] = []
    for name, preset in presets.items():
        parts += [f"### `preset: {name}`", "", preset.about, ""]
        sections = {"rules": preset.rules, "pairing": preset.pairing, "rating": preset.rating}
        lines = [line for title, stated in sections.items() if stated for line in _lines(title, stated)]
        parts += ["```yaml", *lines, "```", ""] if lines else []
    return "\n".join(parts)


def _lines(title: str, stated: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    yield f"{indent}{title}:"
    for key, value in stated.items():
        if isinstance(value, Mapping) and any(isinstance(each, Mapping | str) for each in value.values()):
            yield from _lines(key, value, f"{indent}  ")
        else:
            yield f"{indent}  {key}: {_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_value(each)}" for key, each in value.items()) + "}"
    if isinstance(value, str):
        text = " ".join(value.split())
        if text.isalpha():
            return text
        return json.dumps(f"{text[:LONG]}…" if len(text) > LONG else text, ensure_ascii=False)
    return json.dumps(value)
