"""Imports point one way: what computes knows nothing of what acts."""

from __future__ import annotations

import ast
import builtins
import os
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import peerage

SOURCE = Path(peerage.__file__).parent
PURE = (
    "games",
    "facts",
    "judging",
    "challenges",
    "ratings",
    "scheduling",
    "formats",
    "protocol",
    "match",
    "blocks",
    "sealing",
)
ACTING = (
    "engine",
    "players",
    "ledger",
    "sandbox",
    "site",
    "cli",
    "arena",
    "playing",
    "running",
    "tables",
    "accounts",
    "standings",
)
# Plain values of a part that acts: what a program may use, which games tell those who write one.
SHARED = "peerage.sandbox.program"
# Each part, and the parts above it, which it must not import.
ABOVE = {
    **dict.fromkeys(PURE, ACTING),
    "settings": ("engine", "players", "ledger", "tables", "site", "cli", "arena", "playing"),
    "ledger": ("engine", "games", "players", "tables", "site", "cli", "arena", "playing"),
    "players": ("engine", "ledger", "tables", "site", "cli", "arena", "playing"),
    "engine": ("tables", "site", "cli", "arena", "playing"),
    "cluster": ("tables", "site", "cli", "arena", "playing"),
    "tables": ("site", "cli", "arena", "playing"),
    "arena": ("cli",),
    "site": ("cli", "arena", "playing", "running"),
    "playing": ("tables", "site", "cli", "arena", "running"),
    "running": ("tables", "site", "cli", "arena"),
}


def files(part: str) -> list[Path]:
    one = SOURCE / f"{part}.py"
    return [one] if one.exists() else sorted((SOURCE / part).rglob("*.py"))


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """(line, module) of every import in a file, also inside functions; relative ones made whole."""
    package = path.relative_to(SOURCE.parent).with_suffix("").parts
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: -node.level]) if node.level else ""
            module = ".".join(filter(None, (base, node.module)))
            yield node.lineno, module
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)


@pytest.mark.parametrize("part", ABOVE)
def test_no_part_imports_what_stands_above_it(part: str) -> None:
    found = files(part)
    assert found, f"there is no {part}"
    wrong = [
        f"{path.relative_to(SOURCE)}:{line} imports {module}"
        for path in found
        for line, module in imported(path)
        for above in ABOVE[part]
        if module == f"peerage.{above}" or module.startswith(f"peerage.{above}.")
        if not module.startswith(SHARED)
    ]
    assert not wrong, "\n".join(sorted(set(wrong)))


def graph() -> dict[str, set[str]]:
    """From each module to those that it imports, wherever it does: in a function or for its types too."""
    names = {
        ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__"): path
        for path in SOURCE.rglob("*.py")
    }
    return {
        name: {to for _, to in imported(path) if to in names and not name.startswith(f"{to}.")} - {name}
        for name, path in names.items()
    }


def circle(of: Mapping[str, Collection[str]]) -> tuple[str, ...]:
    """The first circle in a graph, as its nodes in order; empty where there is none."""
    try:
        TopologicalSorter(of).prepare()
    except CycleError as error:
        found: tuple[str, ...] = tuple(error.args[1])
        return found
    return ()


def test_no_modules_import_each_other_in_a_circle() -> None:
    found = circle(graph())
    assert not found, " → ".join(reversed(found))


def test_no_rooms_import_each_other_in_a_circle() -> None:
    # The folds of finished matches are of the ledger: it holds what it derives from records against them.
    folds = {"accounts": "ledger", "standings": "ledger"}
    rooms: dict[str, set[str]] = {}
    for name, imports in graph().items():
        here, *there = (folds.get(one, one) for one in [(f"{to}.").split(".")[1] for to in (name, *imports)])
        rooms.setdefault(here, set()).update(room for room in there if room not in ("", here))
    found = circle({room: imports for room, imports in rooms.items() if room})
    assert not found, " → ".join(reversed(found))


def test_a_circle_is_found() -> None:
    assert set(circle({"a": {"b"}, "b": {"c"}, "c": {"b"}})) == {"b", "c"}
    assert circle({"a": {"b", "c"}, "b": {"c"}}) == ()


def test_all_of_the_package_is_exactly_what_it_exports() -> None:
    assert sorted(peerage.__all__) == sorted([*peerage._HOME, "__version__"])
    assert dir(peerage) == sorted(peerage.__all__)
    for name in {*peerage.__all__} - {"__version__", "open", "VerifyReport"}:
        assert getattr(peerage, name).__name__ == name
    with pytest.raises(AttributeError, match=r"no attribute 'opne'.*open"):
        _ = peerage.opne  # type: ignore[attr-defined]


def test_open_is_the_arenas_and_leaves_the_builtin_alone() -> None:
    from peerage.arena import Arena, open_arena

    assert peerage.open is open_arena
    assert peerage.Arena is Arena
    assert builtins.open is not peerage.open


def test_importing_the_package_loads_nothing() -> None:
    code = "import sys, peerage; print(sorted(m for m in sys.modules if m.startswith(('peerage.', 'numpy'))))"
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ)
    ).stdout
    assert said.strip() == "[]"
