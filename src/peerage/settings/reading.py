"""Reading `arena.yaml` and the files it names; every mistake is reported with its place and its fix."""

from __future__ import annotations

import difflib
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError

from peerage.games import GAMES, installed
from peerage.games.game import GameSpec
from peerage.inputs import InputRefused, read_bytes
from peerage.protocol import storable
from peerage.scheduling.officials import first_shortage
from peerage.scheduling.standing import Standing
from peerage.settings.game_file import load_file
from peerage.settings.player import suggest
from peerage.settings.shape import READING, ArenaSettings

FILE_NAME = "arena.yaml"
_log = logging.getLogger("peerage")

_ARENAS = "cost_unit"  # a game's rule that is set for the whole arena


class ArenaError(Exception):
    """The arena cannot do what was asked; the message says why and how to fix it."""


class SettingsError(Exception):
    """Settings cannot be used; the message is meant for the person who wrote them."""


def load(folder: str | os.PathLike[str], *, reading: bool = False) -> ArenaSettings:
    """The settings of the arena in `folder`. Raises SettingsError.

    With `reading` its game need not be installed: what is on record can be read without it, not gone on with.
    """
    path = Path(folder) / FILE_NAME
    return loads(_text_of(path), where=str(path), folder=folder, reading=reading)


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
    data, tree = _parse(text, where)

    def by_name(named: Any, key: str) -> Any:
        if not isinstance(named, str) or not named.endswith(".py"):
            return named
        try:
            return load_file(Path(folder or ".") / named, reading=reading).name
        except ImportError as error:
            if not reading:
                raise SettingsError(f"{where}{_line(tree, (key,))}, {key}: {error}") from None
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
    for spec, path, rules in ruled:
        _listed(spec, rules, Path(folder or "."), tree, where, path)
    wrong: list[str] = []
    settings = None
    try:
        settings = ArenaSettings.model_validate(data, context=READING if reading else None)
    except ValidationError as error:
        wrong += _explain(error, ArenaSettings, (), tree, where)
    for spec, path, rules in ruled:
        try:
            spec.rules.model_validate(rules)
        except ValidationError as error:
            wrong += _explain(error, spec.rules, path, tree, where)
        if _ARENAS in rules and _ARENAS in spec.rules.model_fields:
            at = (*path, _ARENAS)
            line = _line(tree, at)
            wrong.append(f"{where}{line}, {_path(at)}: set it for the whole arena, under `rating:`")
    if wrong or settings is None:
        raise SettingsError("\n".join(wrong))
    return settings


def _ruled(data: Mapping[str, Any]) -> Iterator[tuple[object, tuple[str, ...], dict[str, Any]]]:
    """Each game with where its rules stand and what they say; one with the defaults alone says nothing."""
    games = data.get("games")
    if not games:
        stated = data.get("rules", {})
        if isinstance(stated, dict):
            yield data.get("game", ArenaSettings.model_fields["game"].default), ("rules",), stated
    for name, one in games.items() if isinstance(games, dict) else ():
        if isinstance(one, dict) and isinstance(one.get("rules", {}), dict):
            yield name, ("games", str(name), "rules"), one.get("rules", {})


def _game(name: object, where: str, reading: bool) -> GameSpec[Any] | None:
    """The game of that name; None when there is none, which validation tells."""
    if not isinstance(name, str) or reading:
        return installed(name) if isinstance(name, str) else None
    try:
        return GAMES.get(name)
    except ImportError as error:
        raise SettingsError(f"{where}, game: {error}") from None


def rules_of(settings: ArenaSettings, game: str = "") -> Any:
    """The settings of a game of the arena, by default the first, as its pydantic model, with the arena's unit
    of cost. Raises SettingsError."""
    name = game or settings.game
    model = GAMES[name].rules
    shared = {_ARENAS: settings.rating.cost_unit} if _ARENAS in model.model_fields else {}
    try:
        return model.model_validate({**settings.lineup[name].rules, **shared})
    except ValidationError as error:
        path = ("games", name, "rules") if settings.games else ("rules",)
        raise SettingsError("\n".join(_explain(error, model, path, None, "settings"))) from None


def extra_installed(settings: ArenaSettings) -> None:
    """Raises SettingsError when a game under these rules needs an extra that is not installed."""
    lacking = [told for game in settings.lineup if (told := lacks_extra(settings.alone(game)))]
    if lacking:
        raise SettingsError("\n".join(lacking))


def lacks_extra(settings: ArenaSettings) -> str:
    """Which extra the arena's one game needs that is not installed, and how to; empty: none."""
    extra = GAMES[settings.game].extra(rules_of(settings))
    return extra and (
        f"{settings.game} under these rules needs the extra `{extra}`, which is not installed; "
        f'run `pip install "peerage[{extra}]"` or `peerage doctor --install`'
    )


def enough_players(settings: ArenaSettings) -> None:
    """Raises SettingsError when a match of these players, of any game, could lack contestants or roles."""
    several = next((player for player in settings.players if player.slots > 1), None)
    if several and not any(GAMES[game].slots for game in settings.lineup):
        raise SettingsError(
            f"players: {several.name} has `slots: {several.slots}`, and nobody holds several seats of a "
            f"match of {' or '.join(settings.lineup)}. Take `slots` away"
        )
    lacking = [told for game in settings.lineup if (told := too_few(settings.alone(game)))]
    if lacking:
        raise SettingsError("\n".join(lacking))


def too_few(settings: ArenaSettings) -> str:
    """What a match of the arena's one game could lack, and what to change; empty: nothing."""
    spec = GAMES[settings.game]
    fewest = spec.contestants[0]
    listed = len(settings.players)
    seats = sum(player.slots for player in settings.players) if spec.slots else listed
    if listed < min(2, fewest) or seats < fewest:
        held = f" for {seats} seats" if seats > listed else ""
        more = ", or let players hold several seats with `slots: 2`" if spec.slots else ""
        return (
            f"players: found {listed}{held}, and a match of {settings.game!r} has {fewest} contestants. "
            f"Add lines under `players:`; `house:0.5` is a player that needs no key{more}"
        )
    if not spec.kin(rules_of(settings)) and len({player.family for player in settings.players}) < 2:
        return (
            f"players: all {listed} are of the family {settings.players[0].family!r}, and by the rules of "
            f"{settings.game!r} here players of one family never meet. Add one of another family, or allow "
            "it under `rules:`"
        )
    initial = settings.rating.initial
    standings = [Standing(player.name, player.family, initial, initial) for player in settings.players]
    shortage = first_shortage(spec.officials(rules_of(settings)), standings)
    if shortage is not None:
        families = ", or give players of their own family another `family`" if shortage.kin_barred else ""
        return (
            f"players: found {listed}, too few for {settings.game!r}: {shortage}. "
            f"Add players, or ask for smaller panels under `rules:`{families}"
        )
    return ""


# ---------------------------------------------------------------------------------- from bytes to data


def _text_of(path: Path) -> str:
    try:
        body = read_bytes(path)
    except FileNotFoundError:
        raise SettingsError(
            f"{path} does not exist. `peerage init` writes one; `--dir FOLDER` names an arena elsewhere"
        ) from None
    except InputRefused as error:
        raise SettingsError(str(error)) from None
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}") from None
    return _decoded(body, path)


def _decoded(body: bytes, path: Path) -> str:
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise SettingsError(f"{path} is written in UTF-16; save it as UTF-8")
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = body[: error.start]
        line, column = before.count(b"\n") + 1, error.start - (before.rfind(b"\n") + 1) + 1
        raise SettingsError(
            f"{path}, line {line}, column {column}: found the byte 0x{body[error.start]:02x}, "
            "which is not UTF-8; save the file as UTF-8"
        ) from None


def _parse(text: str, where: str) -> tuple[dict[str, Any], yaml.Node]:
    loader = None
    try:
        loader = yaml.SafeLoader(text)
        tree = loader.get_single_node()
        if tree is None:
            raise SettingsError(f"{where} is empty; `peerage init` writes one to start from")
        if not isinstance(tree, yaml.MappingNode):
            found = "a list" if isinstance(tree, yaml.SequenceNode) else f"{_shown(tree.value)}"
            raise SettingsError(f"{where}: found {found}; expected `key: value` lines such as `players:`")
        _check_text(tree, where)
        data = loader.construct_document(tree)
    except yaml.MarkedYAMLError as error:
        raise SettingsError(f"{where}{_position(error)}: {_yaml_problem(error)}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise SettingsError(
            f"{where}, line {line}: found the control character U+{error.character:04X}; remove it"
        ) from None
    except (RecursionError, ValueError) as error:
        raise SettingsError(f"{where} is not usable YAML: {error}") from None
    finally:
        if loader is not None:
            loader.dispose()
    return data, tree


def _position(error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    return f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""


def _yaml_problem(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or "not YAML"
    if "'\\t'" in problem:
        return "found a tab; YAML is indented with spaces"
    if "quoted scalar" in (error.context or "") and error.context_mark:
        return f"the quote opened in line {error.context_mark.line + 1} is never closed"
    if "mapping values are not allowed" in problem:
        return "found a second `: ` in one line; put the value in quotes, or the key on a line of its own"
    inside = f" {error.context}" if error.context else ""
    if "could not find expected ':'" in problem or "expected <block end>" in problem:
        return f"{problem}{inside}; check the indentation and the colon of this line and the one above"
    return f"{problem}{inside}; put text with special characters in quotes"


def _walk(
    node: yaml.Node, path: tuple[Any, ...] = (), seen: set[int] | None = None
) -> Iterator[tuple[tuple[Any, ...], yaml.Node]]:
    """Every node once, with where it stands."""
    seen = set() if seen is None else seen
    if id(node) in seen:
        return
    seen.add(id(node))
    yield path, node
    if isinstance(node, yaml.SequenceNode):
        for place, item in enumerate(node.value):
            yield from _walk(item, (*path, place), seen)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _walk(key, path, seen)
            yield from _walk(value, (*path, getattr(key, "value", "?")), seen)


def _check_text(tree: yaml.Node, where: str) -> None:
    """Raise SettingsError for keys that stand twice in one mapping, and for what no text can hold: such a
    character stands there only by its escape."""
    for path, node in _walk(tree):
        if isinstance(node, yaml.ScalarNode) and storable(node.value) != node.value.replace("\0", "\ufffd"):
            raise SettingsError(
                f"{where}, line {node.start_mark.line + 1}: found half a surrogate pair, which is no "
                "character; write the character itself"
            )
        lines: dict[str, int] = {}
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            if not isinstance(key, yaml.ScalarNode) or key.tag == "tag:yaml.org,2002:merge":
                continue
            line = key.start_mark.line + 1
            if key.value in lines:
                raise SettingsError(
                    f"{where}, line {line}: {_path((*path, key.value))} is set again; line "
                    f"{lines[key.value]} already sets it"
                )
            lines[key.value] = line


def _listed(
    spec: GameSpec[Any],
    rules: dict[str, Any],
    folder: Path,
    tree: yaml.Node,
    where: str,
    at: tuple[str, ...],
) -> None:
    """Put the lists in place of the files that `rules`, found `at` there, name. Raises SettingsError."""
    for key, read in spec.files.items():
        named = rules.get(key)
        if not isinstance(named, str):
            continue
        path = folder / named
        if not path.exists():
            raise SettingsError(
                f"{where}{_line(tree, (*at, key))}, {_path((*at, key))}: {path} does not exist; the path is "
                "relative to the arena's folder"
            )
        try:
            rules[key] = read(_text_of(path), path.name)
        except ValueError as error:
            raise SettingsError(f"{path}, {error}") from None


# ------------------------------------------------------------------------------- telling what is wrong


def _explain(
    error: ValidationError,
    model: type[BaseModel],
    prefix: tuple[str, ...],
    tree: yaml.Node | None,
    where: str,
) -> list[str]:
    lines: list[str] = []
    for one in error.errors(include_url=False):
        path = prefix + one["loc"]
        if one["type"] == "invalid_key":
            path = (*path[:-1], str(path[-1]))
        if one["type"] == "missing" and _misspelt(str(path[-1]), one["input"]):
            continue
        place = f"{where}{_line(tree, path)}"
        key = _path(path)
        lines.append(f"{place}{', ' if key else ''}{key}: {_problem(one, model)}")
    return lines


_PLAIN = {
    "string": "text",
    "integer": "a whole number",
    "integer, got a number with a fractional part": "a whole number",
    "number": "a number",
}
_PLAINER = {
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
    "greater than": "more than",
}


def _problem(one: Mapping[str, Any], model: type[BaseModel]) -> str:
    kind, message, found = one["type"], one["msg"], one["input"]
    owner = _model_at(model, one["loc"][:-1])
    if kind == "extra_forbidden":
        return f"unknown key{suggest(str(one['loc'][-1]), owner.model_fields if owner else ())}"
    if kind == "invalid_key":
        return "a key must be text; put it in quotes"
    if kind == "missing":
        field = owner.model_fields.get(str(one["loc"][-1])) if owner else None
        return (
            f"missing; expected {field.description[:1].lower()}{field.description[1:]}"
            if field and field.description
            else "missing"
        )
    if kind in ("value_error", "assertion_error"):
        return str(message).partition(", ")[2]
    if kind in ("model_type", "dict_type", "model_attributes_type"):
        expected = "indented `key: value` lines"
    elif kind in ("tuple_type", "list_type"):
        expected = "a list (lines that begin with `- `)"
    elif kind == "string_type" and isinstance(found, bool | int | float):
        expected = "text; put it in quotes"
    else:
        expected = str(message).removeprefix("Input should be ").removeprefix("String should have ")
        expected = expected.removeprefix("a valid ").partition(", unable to parse")[0]
        expected = _PLAIN.get(expected, expected)
        for wordy, plain in _PLAINER.items():
            expected = expected.replace(wordy, plain)
        if kind == "literal_error" and isinstance(found, str):
            close = suggest(found, one["ctx"]["expected"].replace(" or ", ", ").replace("'", "").split(", "))
            expected += close if "did you mean" in close else ""
    return f"found {_shown(found)}; expected {expected}"


def _misspelt(key: str, siblings: object) -> bool:
    """Whether a missing key stands there under a near name, which is reported on its own."""
    return isinstance(siblings, dict) and bool(difflib.get_close_matches(key, map(str, siblings), cutoff=0.6))


def _model_at(model: type[BaseModel], path: Sequence[int | str]) -> type[BaseModel] | None:
    """The settings model that holds the keys at `path`, None where there is no single one."""
    here: Any = model
    named = False  # the next step is a name of the user's, in a mapping
    for step in path:
        if isinstance(step, int) or named:
            named = False
            continue
        field = here.model_fields.get(step)
        named = field is not None and get_origin(field.annotation) is dict
        here = next(_models_in(field.annotation), None) if field else None
        if here is None:
            return None
    return here  # type: ignore[no-any-return]


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


def _line(tree: yaml.Node | None, path: Sequence[int | str]) -> str:
    """`, line N` of the deepest part of `path` that stands in the file."""
    if tree is None or not path:
        return ""
    node, line = tree, None
    for step in path:
        if isinstance(node, yaml.MappingNode):
            here = next((both for both in node.value if both[0].value == step), None)
            if here is None:
                break
            line, node = here[0].start_mark.line, here[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = node.start_mark.line
        else:
            break
    return "" if line is None else f", line {line + 1}"


def _path(path: Sequence[int | str]) -> str:
    """`players[2].price`: list items counted from 1, as people count."""
    out = ""
    for step in path:
        out += f"[{step + 1}]" if isinstance(step, int) else f".{step}" if out else str(step)
    return out


def _shown(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
