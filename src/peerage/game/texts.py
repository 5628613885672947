"""Texts and presets of games that are data, in TOML files of their folders; and texts of an owner instead.

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
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, NamedTuple

import msgspec

from peerage.game.protocol import MATERIAL, Prompt, places
from peerage.values.texts import storable

_INCLUDED = re.compile(r"\{([A-Z_]+)\}")


@cache
def toml(package: str, name: str) -> Mapping[str, Any]:
    """Return what NAME.toml of a package says."""
    return tomllib.loads(files(package).joinpath(f"{name}.toml").read_text("utf-8"))


def texts(source: str | Mapping[str, Any], replaced: Mapping[str, str] = {}) -> Mapping[str, Any]:
    """Return the texts of a game's prompts: those of `texts.toml` of a package, or of an author's table, and
    in place of some of them those of `rules.texts`. A table with a `user` text is a `Prompt`. In every text
    `{NAME}` stands for the text `name` of the same table, `{MATERIAL}` for that of `game.protocol`."""
    if isinstance(source, str):
        return _of_package(source, msgspec.json.encode(replaced) if replaced else b"{}")
    return _whole({**leaves_of(source), **replaced})


@lru_cache(maxsize=64)
def _of_package(package: str, replaced: bytes) -> Mapping[str, Any]:
    return _whole(leaves_of(package) | msgspec.json.decode(replaced))


def leaves_of(source: str | Mapping[str, Any]) -> dict[str, Any]:
    """Return each text, as it was written, by its name, such as `answer.user`."""

    def leaves(stated: Mapping[str, Any], at: str = "") -> Iterator[tuple[str, Any]]:
        for key, value in stated.items():
            part = msgspec.structs.asdict(value) if isinstance(value, Prompt) else value
            if isinstance(part, Mapping) and part:
                yield from leaves(part, f"{at}{key}.")
            else:
                yield f"{at}{key}", part

    if isinstance(source, str):
        source = toml(source, "texts") if source else {}
    return dict(leaves(source))


def included(leaves: Mapping[str, str], text: str) -> str:
    """Return a text with those of the same table that it includes."""
    tables = {"material": MATERIAL, **leaves}
    return _INCLUDED.sub(lambda place: tables[place[1].lower()], text)


def _whole(leaves: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the tables that a file has, with what texts include; one with a `user` text is a prompt."""
    tables: dict[str, Any] = {}
    for name, text in leaves.items():
        *path, last = name.split(".")
        table = tables
        for key in path:
            table = table.setdefault(key, {})
        table[last] = included(leaves, text)

    def prompts(part: Any) -> Any:
        if not isinstance(part, dict):
            return part
        return Prompt(**part) if "user" in part else {key: prompts(value) for key, value in part.items()}

    return {"material": MATERIAL, **prompts(tables)}


# ------------------------------------------------------------------------------------- texts of the owner


def digests(replaced: Mapping[str, str]) -> dict[str, str]:
    """Return by name what tells each text of the owner from another: the beginning of its SHA-256 (hex)."""
    return {name: sha256(text.encode()).hexdigest()[:16] for name, text in replaced.items()}


def text_faults(source: str | Mapping[str, Any], stated: Mapping[str, Any]) -> Iterator[str]:
    """Yield all that is wrong with texts by name in place of the game's own, each with its name.

    A text must be known, and have the places of the text that it replaces: each of them, since it says what
    players must know, and no other, since nothing would fill it. A prompt has those of both of its parts.
    """
    own = leaves_of(source)
    faulty = {name: [*_text_faults(name, text, own)] for name, text in stated.items()}
    yield from [f"{name}: {fault}" for name, faults in faulty.items() for fault in faults]
    then = own | {name: text for name, text in stated.items() if not faulty[name]}
    parts: dict[str, list[str]] = {}
    for name in own:
        table, _, part = name.rpartition(".")
        of_prompt = part in Prompt.__struct_fields__ and f"{table}.user" in own
        parts.setdefault(table if of_prompt else name, []).append(name)
    for entry, names in parts.items():
        if stated.keys() & names and not any(faulty.get(name) for name in names):
            needed, has = (
                _places("".join([included(leaves, leaves[name]) for name in names])) for leaves in (own, then)
            )
            if unknown := [place for place in has if place not in needed]:
                yield f"{entry}: nothing fills {_listed(unknown)}; its places are {_listed(needed)}"
            if missing := [place for place in needed if place not in has]:
                lacking = f"{_listed(missing)} {'is' if len(missing) == 1 else 'are'} missing"
                yield f"{entry}: {lacking}; players must read all of {_listed(needed)}"


def _text_faults(name: str, text: Any, own: Mapping[str, str]) -> Iterator[str]:
    """Yield what is wrong with a text by itself."""
    if name not in own:
        yield f"the game has no such text; its texts are {', '.join(own)}"
    elif not isinstance(text, str):
        yield f"found {text!r}; expected a text"
    else:
        known = [table.upper() for table in ("material", *own) if "." not in table]
        if unknown := [place for place in _INCLUDED.findall(text) if place not in known]:
            yield f"{_listed(unknown)} includes no text; there are {_listed(known)}"
        elif within := [
            place for place in _INCLUDED.findall(text) if "." not in name and place != "MATERIAL"
        ]:
            yield f"others include it, so it may include none: {_listed(within)}"
        if storable(text) != text:
            yield "holds a character that no store can hold, such as NUL"
        try:
            places(_INCLUDED.sub("", text))
        except ValueError as error:
            yield str(error)


def _listed(names: Iterable[str]) -> str:
    return ", ".join([f"{{{name}}}" for name in names]) or "none"


def _places(text: str) -> list[str]:
    """Return the places of a text; what it says of players' texts is one of them."""
    return [*places(text), *["MATERIAL"] * (MATERIAL in text)]


def texts_page(source: str | Mapping[str, Any]) -> str:
    """Return the texts as TOML: a file to start from."""
    if isinstance(source, str):
        return files(source).joinpath("texts.toml").read_text("utf-8")
    escaped = {
        name: text.replace("\\", "\\\\").replace('"', '\\"') for name, text in leaves_of(source).items()
    }
    return "\n\n".join([f'{name} = """\n{text}"""' for name, text in escaped.items()])


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
