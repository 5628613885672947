"""The families of puzzles by name, and those that a setting chooses. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from peerage.games.logic import counting, deduction
from peerage.games.logic.gym import GYM, GYM_FAMILIES, installed
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
_GROUPS: Mapping[str, Mapping[str, Family]] = {"own": FAMILIES, GYM: GYM_FAMILIES}
_EVERY: Mapping[str, Family] = {**FAMILIES, **GYM_FAMILIES}


def chosen(names: Sequence[str]) -> dict[str, Family]:
    """The families that a setting names, by name. Raises ValueError for a name of none."""
    found: dict[str, Family] = {}
    for name in names:
        if name in _GROUPS:
            found |= _GROUPS[name]
        elif name in _EVERY:
            found[name] = _EVERY[name]
        else:
            near = get_close_matches(name, [*_GROUPS, *_EVERY], 1)
            meant = f"did you mean {near[0]!r}?" if near else f"there are {', '.join([*_GROUPS, *_EVERY])}"
            raise ValueError(f"there is no family of puzzles {name!r}; {meant}")
    return found


def lacking(names: Sequence[str]) -> str:
    """The extra that these families need and that is not installed; empty when nothing is missing."""
    return "puzzles" if any(name.startswith(GYM) for name in names) and not installed() else ""
