"""An arena of its owner's tasks, with checks and categories, played by house players of known skill."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.engine.arenas import play, write_arena

SKILLS = {"best": 0.95, "cheap": 0.9, "middling": 0.7, "poor": 0.4}
CATEGORIES = "invoices", "dates", "mail"


def tasks(count: int = 24, **more: Any) -> list[dict[str, Any]]:
    """Tasks with one right answer each, every fifth of double weight."""
    return [
        {
            "id": f"t{at}",
            "prompt": f"What is {at} times 7? Reply with the number alone.",
            "expected": str(7 * at),
            "category": CATEGORIES[at % 3],
            "weight": 2 if at % 5 == 0 else 1,
            **more,
        }
        for at in range(count)
    ]


def players() -> list[dict[str, Any]]:
    price = {"best": 4.0, "cheap": 0.4}
    return [
        {"name": name, "model": f"house:{skill}", "price": {"input": price.get(name, 2.0), "output": 1.0}}
        for name, skill in SKILLS.items()
    ]


def arena_of_tasks(folder: Path, matches: int = 120, **sections: Any) -> Path:
    """Write and play one in which every match asks for answers."""
    made = write_arena(
        folder,
        sections.pop("players", players()),
        **{
            "game": "tasks",
            "rules": {"tasks": sections.pop("tasks", tasks()), "samples": "fresh"},
            "name": "sums",
            **sections,
        },
    )
    play(made, matches)
    return made
