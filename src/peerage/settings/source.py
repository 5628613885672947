"""Settings as a text: what YAML says, with the line of every key, and what is wrong where it is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import yaml

from peerage.values.inputs import InputRefused, read_bytes, read_text
from peerage.values.system_errors import reason
from peerage.values.yaml_text import YamlError, read_yaml
from peerage.values.yaml_text import dotted as dotted
from peerage.values.yaml_text import shown as shown

_T = TypeVar("_T")


class SettingsError(Exception):
    """Settings cannot be used; the message is meant for the person who wrote them."""


@dataclass(frozen=True)
class SettingsSource:
    """Settings as they stand in a file: `where` names it in messages, `tree` knows the lines; without one
    they stand in no file."""

    where: str
    tree: yaml.Node | None = None
    renamed: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    """Beginnings of paths that stand elsewhere in the file, the longest first, each with that of where."""

    def place(self, path: Sequence[int | str]) -> str:
        """Return where something stands, for people: `arena.yaml, line 3, players[2].price`."""
        for known, there in self.renamed:
            if tuple(path[: len(known)]) == known:
                path = (*there, *path[len(known) :])
                break
        key = dotted(path)
        return f"{self.where}{self._line(path)}{', ' if key else ''}{key}"

    def _line(self, path: Sequence[int | str]) -> str:
        """`, line N` of the deepest part of `path` that stands in the file."""
        if self.tree is None or not path:
            return ""
        node, line = self.tree, None
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


MOST_BYTES = 1 << 20
"""Bytes of an `arena.yaml`; YAML is read slowly."""


def text_of(path: Path) -> str:
    """The text of an `arena.yaml`. Raises SettingsError."""
    return _of(path, partial(read_text, most=MOST_BYTES))


def bytes_of(path: Path) -> bytes:
    """The bytes of a file that settings name. Raises SettingsError."""
    return _of(path, read_bytes)


def _of(path: Path, read: Callable[[Path], _T]) -> _T:
    try:
        return read(path)
    except FileNotFoundError:
        raise SettingsError(
            f"{path} does not exist. `peerage init` writes one; `--dir FOLDER` names an arena elsewhere"
        ) from None
    except InputRefused as error:
        raise SettingsError(str(error)) from None
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {reason(error)}") from None


def parsed(text: str, where: str) -> tuple[dict[str, Any], SettingsSource]:
    """Return what a text says, and where it says it. Raises SettingsError."""
    try:
        data, tree = read_yaml(text)
    except YamlError as error:
        raise SettingsError(f"{where}{error}") from None
    if tree is None:
        raise SettingsError(f"{where} is empty; `peerage init` writes one to start from")
    if not isinstance(data, dict):
        kind = "a list" if isinstance(data, list) else f"{shown(tree.value)}"
        raise SettingsError(f"{where}: found {kind}; expected `key: value` lines such as `players:`")
    return data, SettingsSource(where, tree)
