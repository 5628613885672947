"""Battles of colour obfuscation: a page of them, and the `data.json` that the original's page reads."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from peerage.games.color_obfuscation import GAME as COLOR_OBFUSCATION
from peerage.site.reading import Site
from peerage.site.rendering import View
from peerage.standings import DONE
from peerage.tables.cob import Battle, battles, write_battles

NEWEST = 60


class Numbered(NamedTuple):
    """A battle and the match that it was."""

    number: int
    battle: Battle


def paths(site: Site) -> Iterator[str]:
    if _numbers(site):
        yield from ("battles.html", "data.json")


def view(site: Site, path: str) -> View | bytes | None:
    if path not in ("battles.html", "data.json") or not _numbers(site):
        return None
    if path == "data.json":
        return "".join(write_battles(battles(site.moment))).encode()
    newest = deque(map(Numbered, _numbers(site), battles(site.moment)), NEWEST)
    return View(
        "battles.html",
        "Battles",
        "games.html",
        {"newest": list(reversed(newest)), "swatch": swatch, "count": len(_numbers(site))},
    )


def swatch(color: str | None) -> str:
    """A guessed colour as one, or nothing where it is none."""
    found = re.fullmatch(r"#?([0-9A-Fa-f]{6})", color or "", re.ASCII)
    return f"#{found[1].upper()}" if found else ""


def _numbers(site: Site) -> list[int]:
    """The decided matches of the game, which are the battles in their order."""
    name = COLOR_OBFUSCATION.name
    if name not in site.tally.games:
        return []
    return [row.number for row in site.summaries if row.game == name and row.status == DONE]
