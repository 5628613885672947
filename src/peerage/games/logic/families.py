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
        counting.bases,
        counting.powers,
        counting.congruences,
        counting.divisors,
        counting.recurrence,
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


def chosen(names: Sequence[str]) -> dict[str, Family]:
    """The families that a setting names, by name. Raises ValueError for a name of none."""
    found: dict[str, Family] = {}
    for name in names:
        if name == OWN:
            found |= FAMILIES
        elif name in FAMILIES:
            found[name] = FAMILIES[name]
        else:
            near = get_close_matches(name, FAMILIES, 1)
            meant = f"did you mean {near[0]!r}?" if near else f"there are {OWN}, {', '.join(FAMILIES)}"
            raise ValueError(f"there is no family of puzzles {name!r}; {meant}")
    return found
