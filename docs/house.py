"""The picture of the house in ARCHITECTURE.md, made from the imports: rooms, and arrows to what they import.

python docs/house.py
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "peerage"
PAGE = SOURCE.parent.parent / "ARCHITECTURE.md"
BEGIN, END = "<!-- made from the imports by docs/house.py -->\n", "<!-- end -->\n"
GROUND = ("version", "values")
"""What nearly every room imports: no arrow leads to it."""


def page() -> str:
    """Return ARCHITECTURE.md with the picture as the imports are now."""
    before, rest = PAGE.read_text("utf-8").split(BEGIN)
    return before + BEGIN + picture(arrows()) + END + rest.split(END)[1]


def arrows() -> Mapping[str, frozenset[str]]:
    """From each room, a folder or a file of the package, to the rooms that it imports."""
    rooms = {
        path.stem: path
        for path in SOURCE.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    left_out = {"__init__", "__main__", *GROUND}
    return {
        name: frozenset({*_imported(path)} & rooms.keys() - left_out - {name})
        for name, path in rooms.items()
        if name not in left_out
    }


def _imported(room: Path) -> Iterator[str]:
    for path in [room] if room.suffix else room.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "peerage":
                yield from node.module.split(".")[1:2] or [alias.name for alias in node.names]


def picture(arrows: Mapping[str, frozenset[str]]) -> str:
    """Return a Mermaid drawing; an arrow that follows from two others is left out, for clarity."""

    @cache
    def reached(room: str) -> frozenset[str]:
        return arrows[room].union(*map(reached, arrows[room]))

    lines = ["```mermaid", "flowchart TD"]
    for room, imports in sorted(arrows.items()):
        further = frozenset().union(*map(reached, imports))
        lines += [f"    {room} --> {each}" for each in sorted(imports - further)]
    return "\n".join([*lines, "```\n"])


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
