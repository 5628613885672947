"""The families of puzzles by name, and those that a setting chooses. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from peerage.games.logic import counting, deduction
from peerage.games.logic.puzzles import Family

FAMILIES: Mapping[str, Family] = {
    family.__name__.replace("_", "-"): family
    for family in (
        counting.arithmetic,
        counting.congruences,
        counting.polynomial,
        counting.arrangements,
        counting.committees,
        counting.grid_paths,
        counting.sets,
        counting.dice,
        counting.urn,
        counting.calendar,
        deduction.knights,
        deduction.zebra,
        deduction.schedule,
        deduction.cryptarithm,
        deduction.weighing,
        deduction.roads,
        deduction.circle,
    )
}
OWN = "own"
"""Name of all families in settings."""


def chosen(names: Sequence[str]) -> dict[str, Family]:
    """Return the families that a setting names, by name. Raises ValueError for a name of none."""
    found: dict[str, Family] = {}
    for name in names:
        if name != OWN and name not in FAMILIES:
            near = get_close_matches(name, [OWN, *FAMILIES], 1)
            meant = f"did you mean {near[0]!r}?" if near else f"there are {', '.join([OWN, *FAMILIES])}"
            raise ValueError(f"there is no family of puzzles {name!r}; {meant}")
        found |= FAMILIES if name == OWN else {name: FAMILIES[name]}
    return found
