"""Where things stand: paths of pages, which never change as an arena grows."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

BUNDLE = 20
"""Matches whose proofs are in one file."""

SHARD = 1_000
"""Matches in one piece of the list that the browser searches."""


@lru_cache(maxsize=4_096)
def slug(name: str) -> str:
    """A name as part of an address: readable, and told apart by its digest whatever characters it holds."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40].strip("-")
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain}-{digest}" if plain else digest


def player_page(name: str) -> str:
    """The page of a player."""
    return f"players/{slug(name)}.html"


def pair_page(one: str, other: str) -> str:
    """The page that compares two players, whoever of them is named first."""
    return f"compare/{'/'.join(map(slug, sorted((one, other))))}.html"


def first_of(number: int, size: int) -> int:
    """The first match of the piece of `size` matches that holds match `number`."""
    return (number - 1) // size * size + 1


def match_page(number: int) -> str:
    """The page of a match; `#step-9` is where its ninth step stands."""
    return f"match/{number}.html"


def number_in(path: str, folder: str, ending: str, mark: str = "/") -> int | None:
    """The number n of a path `folder` + `mark` + n + `ending`, as this module writes it; else None."""
    found = re.fullmatch(
        rf"{re.escape(folder + mark)}([1-9][0-9]{{0,11}}){re.escape(ending)}", path, re.ASCII
    )
    return int(found[1]) if found else None
