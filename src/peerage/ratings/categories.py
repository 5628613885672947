"""Ratings by category: a language, a kind of task, whatever a column of battles says.

Strengths of categories borrow from each other (`strength.pooling`), the more the fewer battles a category
has. Where a battle may be in several, each category borrows from the battles outside it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from peerage.ratings.arrays import Floats
from peerage.ratings.claims.proven import proven
from peerage.ratings.columns.history import Duels
from peerage.ratings.columns.merging import coded
from peerage.ratings.fits.clusters import FEWEST
from peerage.ratings.strength.evidence import Evidence, of_duels
from peerage.ratings.strength.pooling import pooled
from peerage.ratings.strength.posterior import Strengths, strengths
from peerage.ratings.table import ranks
from peerage.values.figures import counted

MOST = 40
"""Categories with a table of their own, those with the most battles; the others are one."""
ALL, OTHERS = "(all)", "(others)"
FEW = 30
"""Battles a player below which strengths in a category are to a good part those of the others."""
_SEED = 1


def by_category(
    names: Sequence[str],
    history: Duels,
    labels: Sequence[str],
    ways: Sequence[Sequence[str]],
    anchor: str | None,
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return a row for each category and player, all battles first, then the category with the most of them,
    and notes. `labels` has the category of each battle: empty where it has none, a list of JSON where it has
    several. `ways` are columns of labels of battles that hang together. `anchor` is the player at 1500
    everywhere."""
    codes = [coded(way)[1] for way in ways]
    masks, several, notes = _masks(labels)

    def evidence(battles: np.ndarray) -> list[Evidence]:
        part = history.only(battles)
        return [of_duels(part, code[battles]) for code in codes] or [of_duels(part)]

    everything = np.ones(len(history), np.bool_)
    parts = {ALL: evidence(everything)} | {name: evidence(mask) for name, mask in masks.items()}
    seen = {ALL: strengths(_widest(parts[ALL]), seed=_SEED)}
    if several:
        for name, mask in masks.items():
            both = [_widest(parts[name]), _widest(evidence(~mask))]
            seen[name] = pooled(both, seed=_SEED)[0]
    else:
        seen |= zip(masks, pooled([_widest(parts[name]) for name in masks], seed=_SEED), strict=True)
    rows, few = [], []
    for name, part in parts.items():
        games = history.only(masks.get(name, everything)).games()
        listed = _rows(names, games, part, seen[name], anchor)
        rows += [{"category": name, **row} for row in listed]
        if name != ALL and games.sum() < FEW * len(listed):
            few.append(name)
    if few:
        notes.append(
            f"fewer than {FEW} battles a player, so that ratings lean on other battles: "
            + ", ".join(few[:10])
            + f" and {len(few) - 10} more" * (len(few) > 10)
        )
    return rows, notes


def _masks(labels: Sequence[str]) -> tuple[dict[str, np.ndarray], bool, list[str]]:
    """Return the battles of each category, whether some are in several, and notes."""
    listed, code = coded(list(labels))
    inside = [json.loads(label) if label.startswith("[") else [label] * bool(label) for label in listed]
    several = any(len(names) > 1 for names in inside)
    held: dict[str, list[int]] = {}
    for place, names in enumerate(inside):
        for name in names:
            name = f"“{name}”" if name in (ALL, OTHERS) else str(name)
            held.setdefault(name, []).append(place)
    size = np.bincount(code, minlength=len(listed))
    order = sorted(held, key=lambda name: (-int(size[held[name]].sum()), name))
    notes = []
    if len(order) > MOST:
        notes.append(f"{OTHERS}: the {len(order) - MOST + 1:,} categories with the fewest battles")
        held[OTHERS] = [place for name in order[MOST - 1 :] for place in held[name]]
        order = [*order[: MOST - 1], OTHERS]
    masks = {name: np.isin(code, held[name]) for name in order}
    outside = int(np.isin(code, [place for place, names in enumerate(inside) if not names]).sum())
    if outside:
        notes.append(f"{counted(outside, 'battle is', 'battles are')} in no category, and in {ALL} alone")
    notes.append(
        "a battle in several categories counts in each; each borrows from the battles outside it"
        if several
        else "strengths of the categories borrow from each other, the more the fewer battles one has"
    )
    return masks, several, notes


def _widest(ways: Sequence[Evidence]) -> Evidence:
    """Return the evidence with the fewest clusters."""
    return min(ways, key=lambda way: np.inf if way.cluster is None else way.cluster.max(initial=-1))


def _rows(
    names: Sequence[str], games: Floats, ways: Sequence[Evidence], seen: Strengths, anchor: str | None
) -> list[dict[str, Any]]:
    """Return the players of a category who played in it, the best first."""
    there = np.flatnonzero(games)
    rating = seen.rating[there]
    shift = 1500 - seen.rating[[*names].index(anchor)] if anchor else 0.0
    best = seen.best
    if len(there) < len(names):
        best = np.bincount(seen.draws[:, there].argmax(axis=1), minlength=len(there)) / len(seen.draws)
    claimed = (
        min([FEWEST if way.cluster is None else way.cluster.max(initial=-1) + 1 for way in ways]) >= FEWEST
    )
    above = np.logical_and.reduce([proven(way) for way in ways]) & claimed
    rows = [
        {
            "player": names[player],
            "rating": float(rating[at] + shift),
            "lower": float(seen.lower[player] + shift),
            "upper": float(seen.upper[player] + shift),
            "rank": rank,
            "games": int(games[player]),
            "best": float(best[at]),
            "above": [names[other] for other in np.argsort(-seen.rating) if above[player, other]],
        }
        for at, (player, rank) in enumerate(zip(there.tolist(), ranks(rating), strict=True))
    ]
    return sorted(rows, key=lambda row: (row["rank"], row["player"]))
