"""Imports point one way: what computes knows nothing of what acts."""

from __future__ import annotations

import ast
import builtins
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

import peerage

SOURCE = Path(peerage.__file__).parent
ROOMS = (
    *("version", "values", "formats", "ratings", "sandbox"),
    # What authors of games import, and what games are made of.
    "game",
    # What writes views into a medium: it knows nothing but their blocks.
    "render",
    *("judging", "challenges", "facts"),
    *("games", "scheduling", "settings", "ledger", "standings", "players", "engine", "cluster"),
    *("playing", "reading", "views", "interchange", "site", "testing", "arena", "inspect", "cli"),
    "__main__",
)
"""Ground to roof: a room, or a file next to the rooms, imports only what is before it in this list."""
PURE = ("formats", "ratings", "game", "judging", "challenges", "facts", "games", "scheduling")
"""Rooms that compute: they never fetch, sleep or print."""
ACTING = (
    *("sandbox", "ledger", "players", "engine", "cluster", "reading", "views"),
    *("interchange", "site", "playing", "arena", "cli"),
)
VALUES = ("version", "values")
# Plain values of a part that acts: what a program may use, and the folders that commands are run in.
SHARED = ("peerage.sandbox.program", "peerage.sandbox.folder")


def files(part: str) -> list[Path]:
    one = SOURCE / f"{part}.py"
    return [one] if one.exists() else sorted((SOURCE / part).rglob("*.py"))


@cache
def imported(path: Path) -> tuple[tuple[int, str], ...]:
    """(line, module) of every import in a file, also inside functions; relative ones made whole."""
    return tuple(_imported(path))


def _imported(path: Path) -> Iterator[tuple[int, str]]:
    package = path.relative_to(SOURCE.parent).with_suffix("").parts
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: -node.level]) if node.level else ""
            module = ".".join(filter(None, (base, node.module)))
            yield node.lineno, module
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)


@cache
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


def arrows() -> dict[tuple[str, str], set[str]]:
    """From a room to another that it imports, and the modules that do."""
    found: dict[tuple[str, str], set[str]] = {}
    for name, imports in graph().items():
        here, *there = [f"{module}.".split(".")[1] for module in (name, *imports)]
        for module, room in zip(imports, there, strict=True):
            if here and room not in ("", here):
                found.setdefault((here, room), set()).add(f"{name} imports {module}")
    return found


def test_folders_of_a_room_import_each_other_one_way() -> None:
    within: dict[str, dict[str, set[str]]] = {}
    for name, imports in graph().items():
        for module in imports:
            here, there = name.split("."), module.split(".")
            if min(len(here), len(there)) > 2 and here[1] == there[1] and here[2] != there[2]:
                within.setdefault(here[1], {}).setdefault(here[2], set()).add(there[2])
    circles = {room: circle(parts) for room, parts in within.items()}
    assert not any(circles.values()), circles


def test_every_room_has_its_place() -> None:
    there = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or [*path.glob("__init__.py")]}
    assert there - {"__init__"} == {*ROOMS}


def test_no_room_imports_what_stands_above_it() -> None:
    place = {room: at for at, room in enumerate(ROOMS)}
    wrong = [lines for (here, there), lines in arrows().items() if place[here] < place[there]]
    assert not wrong, "\n".join(sorted(set().union(*wrong)))


def test_what_computes_imports_nothing_that_acts() -> None:
    found = [lines for (here, there), lines in arrows().items() if here in PURE and there in ACTING]
    wrong = [line for line in set().union(*found) if not line.endswith(SHARED)]
    assert not wrong, "\n".join(sorted(wrong))


def test_ratings_stand_alone() -> None:
    found = {(here, there) for here, there in arrows() if here == "ratings" and there not in VALUES}
    assert not found


def test_nobody_imports_the_package_for_what_a_module_has() -> None:
    whole = {f"peerage.{name}" for name in peerage.__all__}
    wrong = [
        f"{path.relative_to(SOURCE)}:{line} imports {module}"
        for path in SOURCE.rglob("*.py")
        for line, module in imported(path)
        if module in whole
    ]
    assert not wrong, "\n".join(wrong)


def test_a_circle_is_found() -> None:
    assert set(circle({"a": {"b"}, "b": {"c"}, "c": {"b"}})) == {"b", "c"}
    assert circle({"a": {"b", "c"}, "b": {"c"}}) == ()


def test_all_of_the_package_is_exactly_what_it_exports() -> None:
    assert sorted(peerage.__all__) == sorted(peerage._HOME)
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


def there(module: str, name: str) -> bool:
    if hasattr(import_module(module), name):
        return True
    try:
        import_module(f"{module}.{name}")
    except ImportError:
        return False
    return True


def test_what_benches_and_examples_import_is_there() -> None:
    """They are run by hand: what they no longer find would be seen late."""
    root = Path(__file__).parents[1]
    imported = {
        (path.name, node.module, one.name)
        for path in [*root.glob("bench/*.py"), *root.glob("examples/**/*.py")]
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "peerage"
        for one in node.names
    }
    assert len(imported) > 100
    assert [one for one in sorted(imported) if not there(*one[1:])] == []


def test_a_folder_holds_at_most_a_dozen_files() -> None:
    count = Counter(
        path.parent for path in SOURCE.rglob("*.py") if path.name not in ("__init__.py", "__main__.py")
    )
    full = {str(folder.relative_to(SOURCE)): files for folder, files in count.items() if files > 12}
    assert not full


def test_every_folder_says_what_is_inside() -> None:
    folders = {path.parent for path in SOURCE.rglob("*.py")} - {SOURCE}
    silent = [
        str(folder.relative_to(SOURCE))
        for folder in sorted(folders)
        if not (folder / "__init__.py").exists()
        or not ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8")))
    ]
    assert not silent


def test_a_class_has_a_name_of_its_own() -> None:
    """One name, one meaning: nobody has to ask which `Match` is meant."""
    places: dict[str, list[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path.relative_to(SOURCE)))
    assert not {name: files for name, files in places.items() if len(files) > 1}
