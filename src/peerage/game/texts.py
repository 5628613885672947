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
from collections.abc import Iterable, Iterator, Mapping, Sequence
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


def texts(source: str | Mapping[str, Any], replaced: Mapping[str, Any] = {}) -> Mapping[str, Any]:
    """Return the texts of a game's prompts: those of `texts.toml` of a package, or of an author's table, and
    in place of some of them those of `rules.texts`. A table with a `user` text is a `Prompt`. In every text
    `{NAME}` stands for the text `name` of the same table, `{MATERIAL}` for that of `game.protocol`."""
    if isinstance(source, str):
        return _of_package(source, msgspec.json.encode(replaced) if replaced else b"")
    return _whole(laid_over(_stated(source), replaced))


@lru_cache(maxsize=64)
def _of_package(package: str, replaced: bytes) -> Mapping[str, Any]:
    return _whole(laid_over(_stated(package), msgspec.json.decode(replaced) if replaced else {}))


def _stated(source: str | Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the texts as their author wrote them, prompts as tables."""

    def plain(value: Any) -> Any:
        if isinstance(value, Prompt):
            return msgspec.structs.asdict(value)
        return {key: plain(part) for key, part in value.items()} if isinstance(value, Mapping) else value

    if isinstance(source, str):
        return toml(source, "texts") if source else {}
    stated: Mapping[str, Any] = plain(source)
    return stated


def _tables(stated: str | Mapping[str, Any]) -> Mapping[str, Any]:
    return {"material": MATERIAL, **_stated(stated)}


def included(stated: str | Mapping[str, Any], text: str) -> str:
    """Return a text with what it includes."""
    tables = _tables(stated)
    return _INCLUDED.sub(lambda place: str(tables[place[1].lower()]), text)


def _whole(stated: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return texts with what they include, tables with a `user` text as prompts."""

    def whole(value: Any) -> Any:
        if isinstance(value, str):
            return included(stated, value)
        if not isinstance(value, dict):
            return value
        parts = {name: whole(part) for name, part in value.items()}
        return Prompt(**parts) if "user" in parts else parts

    return {name: whole(text) for name, text in _tables(stated).items()}


# ------------------------------------------------------------------------------------- texts of the owner


def leaves_of(source: str | Mapping[str, Any]) -> dict[str, Any]:
    """Return each text of a game, or of its owner, by its name, such as `answer.user`."""

    def leaves(stated: Mapping[str, Any], at: str = "") -> Iterator[tuple[str, Any]]:
        for key, value in stated.items():
            if isinstance(value, Mapping) and value:
                yield from leaves(value, f"{at}{key}.")
            else:
                yield f"{at}{key}", value

    return dict(leaves(_stated(source)))


def nested(leaves: Mapping[str, Any]) -> dict[str, Any]:
    """Return texts by name as the tables that a file has."""
    whole: dict[str, Any] = {}
    for name, text in leaves.items():
        *tables, last = name.split(".")
        table = whole
        for key in tables:
            table = table.setdefault(key, {})
        table[last] = text
    return whole


def differing(source: str | Mapping[str, Any], stated: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the owner's texts that are not the game's own."""
    own = leaves_of(source)
    return nested({name: text for name, text in leaves_of(stated).items() if own.get(name) != text})


def digests(replaced: Mapping[str, Any]) -> dict[str, str]:
    """Return by name what tells each text of the owner from another: the beginning of its SHA-256 (hex)."""
    return {name: sha256(str(text).encode()).hexdigest()[:16] for name, text in leaves_of(replaced).items()}


def text_faults(source: str | Mapping[str, Any], stated: Mapping[str, Any]) -> Iterator[str]:
    """Yield all that is wrong with texts in place of the game's own, each with the name of the text.

    A text must be known, and have the places of the text that it replaces: each of them, since it says what
    players must know, and no other, since nothing would fill it. A prompt has those of both of its parts.
    """
    own, leaves, tables = leaves_of(source), leaves_of(stated), _tables(source)
    faulty = {name: [*_text_faults(name, text, own, tables)] for name, text in leaves.items()}
    yield from [f"{name}: {fault}" for name, faults in faulty.items() for fault in faults]
    usable = nested({name: text for name, text in leaves.items() if not faulty[name]})
    before, after = texts(source), texts(source, usable)
    entries: dict[str, list[str]] = {}
    for name in leaves:
        table, _, part = name.rpartition(".")
        of_prompt = part in Prompt.__struct_fields__ and f"{table}.user" in own
        entries.setdefault(table if of_prompt else name, []).append(name)
    for entry, parts in entries.items():
        if not any(faulty[name] for name in parts):
            yield from _misplaced(entry, parts, _at(before, entry), _at(after, entry))


def _text_faults(name: str, text: Any, own: Mapping[str, Any], tables: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a text by itself."""
    if name not in own:
        yield f"the game has no such text; its texts are {', '.join(own)}"
    elif not isinstance(text, str):
        yield f"found {text!r}; expected a text"
    else:
        known = [table.upper() for table, value in tables.items() if isinstance(value, str)]
        for place in dict.fromkeys(_INCLUDED.findall(text)):
            if place not in known:
                yield f"{{{place}}} includes no text; there are {_listed(known)}"
        if storable(text) != text:
            yield "holds a character that no store can hold, such as NUL"
        try:
            places(_INCLUDED.sub("", text))
        except ValueError as error:
            yield str(error)


def _at(table: Any, name: str) -> Any:
    for key in name.split("."):
        table = table[key]
    return table


def _misplaced(name: str, parts: Sequence[str], before: Prompt | str, after: Prompt | str) -> Iterator[str]:
    """Yield the places that the text `name` has too many, and too few."""
    needed = _places(before)
    listed = _listed(needed)
    for part in parts:
        text = getattr(after, part.rpartition(".")[2]) if isinstance(after, Prompt) else after
        for place in places(text):
            if place not in needed:
                yield f"{part}: the place {{{place}}} is unknown; its places are {listed}"
    if missing := [place for place in needed if place not in _places(after)]:
        yield f"{name}: {_listed(missing)} is missing; players must read all of {listed}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join([f"{{{name}}}" for name in names]) or "none"


def _places(text: Prompt | str) -> list[str]:
    """Return the places of a text or a whole prompt; what it says of players' texts is one of them."""
    whole = text.system + text.user if isinstance(text, Prompt) else text
    return [*places(whole), *["MATERIAL"] * (MATERIAL in whole)]


def texts_page(source: str | Mapping[str, Any]) -> str:
    """Return the texts as TOML: a file to start from."""
    if isinstance(source, str):
        return files(source).joinpath("texts.toml").read_text("utf-8")
    lines: list[str] = []
    for name, text in sorted(leaves_of(source).items(), key=lambda leaf: "." in leaf[0]):
        table, _, key = name.rpartition(".")
        lines += ["", f"[{table}]"] * (bool(table) and f"[{table}]" not in lines)
        escaped = text.replace("\\", "\\\\").replace('"""', '""\\"')
        lines.append(f'{key} = """\n{escaped}"""')
    return "\n".join(lines).strip()


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
