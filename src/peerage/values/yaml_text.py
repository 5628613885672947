"""YAML as people write it: YAML 1.2 by its plain words, with the line of every node, and bounded. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import yaml

from peerage.values.texts import storable


class YamlError(ValueError):
    """A text that is no usable YAML. The message goes behind the name of the text: `, line 3: …`."""


class _Loader(yaml.SafeLoader):
    """Reads plain words as YAML 1.2 does: `no`, `2024-01-01` and `12:30` are texts, `1e3` is a number. `0755`
    and `0x1F` are texts too, since readers differ about them."""

    yaml_implicit_resolvers: ClassVar = {}  # type: ignore[misc]


_WHOLE = r"[-+]?(?:0|[1-9][0-9_]{0,40})"
_POWER = r"[eE][-+]?[0-9]{1,3}"
for _kind, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", _WHOLE, "-+0123456789"),
    ("float", rf"(?:{_WHOLE}\.[0-9]*|[-+]?\.[0-9]+)(?:{_POWER})?|{_WHOLE}{_POWER}", "-+.0123456789"),
    ("float", r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)", "-+."),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("merge", r"<<", "<"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_kind}", re.compile(f"^(?:{_pattern})$"), list(_first))

MOST_REPEATED = 10_000
"""Values that aliases may repeat in all."""


def read_yaml(text: str) -> tuple[Any, yaml.Node | None]:
    """Return what a text says, and the node that knows its lines; None for both where it says nothing. Raises
    YamlError."""
    loader = None
    try:
        loader = _Loader(text)
        tree = loader.get_single_node()
        if tree is None:
            return None, None
        _check_text(tree)
        _expanded(tree, {})
        return loader.construct_document(tree), tree
    except yaml.MarkedYAMLError as error:
        raise YamlError(f"{_position(error)}: {_yaml_problem(error)}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise YamlError(
            f", line {line}: found the control character U+{error.character:04X}; remove it"
        ) from None
    except RecursionError:
        at = "" if loader is None else f", line {loader.line + 1}"
        raise YamlError(f"{at}: lists or mappings stand too deep in each other") from None
    except YamlError:
        raise
    except ValueError as error:
        raise YamlError(f" is not usable YAML: {error}") from None
    finally:
        if loader is not None:
            loader.dispose()


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


def _expanded(node: yaml.Node, known: dict[int, int]) -> int:
    """Count the values of a node with every alias written out. Raises YamlError for one within itself,
    and for aliases of aliases that come to more than anybody means."""
    if id(node) in known:
        if known[id(node)] == 0:
            line = node.start_mark.line + 1
            raise YamlError(f", line {line}: an alias of the anchor here is within it; write it out")
        return known[id(node)]
    known[id(node)] = 0
    inner = [node.value] if isinstance(node, yaml.SequenceNode) else []
    inner += zip(*node.value, strict=True) if isinstance(node, yaml.MappingNode) else []
    total = 1 + sum([_expanded(part, known) for parts in inner for part in parts])
    if total > MOST_REPEATED + len(known):
        raise YamlError(
            f", line {node.start_mark.line + 1}: written out, the aliases here come to more than "
            f"{MOST_REPEATED:,} values; write out what is meant"
        )
    known[id(node)] = total
    return total


def _check_text(tree: yaml.Node) -> None:
    """Raise YamlError for keys that are no text or stand twice in one mapping, and for what no text can
    hold: such a character stands there only by its escape."""
    for path, node in _walk(tree):
        if isinstance(node, yaml.ScalarNode) and storable(node.value) != node.value.replace("\0", "\ufffd"):
            raise YamlError(
                f", line {node.start_mark.line + 1}: found half a surrogate pair, which is no "
                "character; write the character itself"
            )
        lines: dict[str, int] = {}
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            line = key.start_mark.line + 1
            if key.tag == "tag:yaml.org,2002:merge":
                continue
            if not isinstance(key, yaml.ScalarNode) or key.tag != "tag:yaml.org,2002:str":
                written = shown(key.value) if isinstance(key, yaml.ScalarNode) else "a list or mapping"
                raise YamlError(
                    f", line {line}: found {written} as a key{f' of {dotted(path)}' if path else ''}; "
                    "a key must be text, so put it in quotes"
                )
            if key.value in lines:
                raise YamlError(
                    f", line {line}: {dotted((*path, key.value))} is set again; line "
                    f"{lines[key.value]} already sets it"
                )
            lines[key.value] = line


def dotted(path: Sequence[int | str]) -> str:
    """`players[2].price`: list items counted from 1, as people count."""
    out = ""
    for step in path:
        out += f"[{step + 1}]" if isinstance(step, int) else f".{step}" if out else str(step)
    return out


def shown(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
