"""Adaptive pairing: the matches that soonest prove what a goal needs. Pure.

    >>> table = [Standing(name, name, 1500.0, 1500.0) for name in ("Ada", "Bo", "Cy", "Di")]
    >>> len(draw_up(table, History(), Results(), "seed", Goal("top")))
    2

A goal needs the order of some pairs: of the best and each other player, of everybody, of one player and the
others. Let d be the gap of a pair in log-odds, v its variance and z² = d²/v. As v falls, the pair comes
nearer to a proof in proportion to 1/(d² + v), and the more is proven, the less is left to gain:

    L = exp(−z² / 16) / (d² + v)     for each pair that the goal needs, 0 for all others

Where the goal has a tolerance, it is added to |d|. A goal that goes on to the order does so when no pair of
its own is open: z² below `CLEAR`, and perhaps further apart than `ALIKE`. A match of a and b that brings the
information w on their gap takes w·(Σe)(Σe)ᵀ / (1 + w·v_ab) from the covariance Σ of all strengths, with
e = e_a − e_b, and so, with G = Σ·Laplacian(L)·Σ, from the variances of all pairs, weighed by L,

    U_ab = w · (G_aa + G_bb − 2·G_ab) / (1 + w·v_ab)

The pair with the highest U meets, Σ and G follow, and the next pair of the round is chosen. A player may play
several matches of a round, or none. At a table of many the next seat goes to the player that adds the highest
sum of U with those who sit there; each pair at it counts as the share of a match that a ranking says of it
(`strengths.table_share`). Matches in flight count as observed, so that it does no harm that results come
late. One match in ten is drawn at random: what a wrong model never looks at, it never learns. A player with
less than a quarter of the usual, or `FLOOR` matches, comes first.

Where a dollar is to say most, U is divided by the price of the seats; the random matches are drawn in inverse
proportion to it, and an expensive player need not play a quarter of the usual.

`bench/policies.py` compares this with random pairing; among exp(−z²/c) all c from 6 to 32 do alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

import numpy as np

from peerage.ratings.arrays import Floats
from peerage.ratings.sequential.elo_kernels import exp_array
from peerage.ratings.table import POINTS
from peerage.scheduling.standing import Goal, History, Results, Standing, may_meet
from peerage.scheduling.strengths import PairingStrengths, known, laplacian, product, total, turned

FLOOR = 5
"""Matches of each player that come before all others."""
AT_RANDOM = 0.1
"""The share of matches that are drawn at random."""
_SETTLED = 16.0
"""The z² at which the information left in a pair has fallen to 1/e."""
CLEAR = 22.0, 1 / 8
"""The z² at which the best is usually proven above all others, and how it grows with players squared."""
ALIKE = 50.0
"""Elo within which two are as good as equals, once that is clear to two standard deviations."""


def draw_up(
    standings: Sequence[Standing],
    history: History,
    results: Results,
    lot: str,
    goal: Goal,
    *,
    same_family: bool = True,
    seats: int = 2,
    count: int | None = None,
    price: Mapping[str, float] = {},
) -> tuple[tuple[str, ...], ...]:
    """Return half as many matches of `seats` as there are players, or `count`, the best first.

    `lot` decides among equals. Where the goal is to place a player, that player is in every match; without it
    there is none. Without `same_family` players of one family never meet.
    `price` is that of each player's seat, in any unit; equal prices change nothing. The same arguments give
    the same matches on every machine.
    """
    pool = sorted(standings)
    size = len(pool)
    names = [standing.player for standing in pool]
    if size < 2 or (goal.player and goal.player not in names):
        return ()
    free = np.array([[may_meet(player, other, same_family) for other in pool] for player in pool])
    np.fill_diagonal(free, False)
    strengths = known(names, history, results, seats)
    seated = seat(
        strengths=PairingStrengths(*[part[None] for part in strengths]),
        played=np.array([[history.played(name) for name in names]]),
        free=free[None],
        price=np.array([[price.get(name, 1.0) for name in names]]),
        lots=[Random(lot)],
        goal=goal,
        placed=names.index(goal.player) if goal.player else None,
        count=size // 2 if count is None else count,
        seats=seats,
    )
    return tuple(
        [tuple([names[at] for at in table if at >= 0]) for table in seated[0].tolist() if table[0] >= 0]
    )


def seat(
    strengths: PairingStrengths,
    played: np.ndarray,
    free: np.ndarray,
    price: Floats,
    lots: Sequence[Random],
    goal: Goal,
    placed: int | None,
    count: int,
    seats: int = 2,
) -> np.ndarray:
    """Return the player in each seat, in several arenas at once: shape (arenas, count, seats), -1 for none.

    `played` says how often each player has, `free` who may meet whom, `price` what a seat of each costs;
    `lots` are those of the arenas. `placed` is the index of the player that the goal is to place.
    """
    mean, covariance, information = strengths
    covariance = covariance.copy()
    arenas, size = mean.shape
    every, pairs = np.arange(arenas), size * (size - 1) // 2
    below, above = np.tril_indices(size, -1)
    opening = np.full(pairs, True) if placed is None else (below == placed) | (above == placed)
    noise = np.zeros((arenas, size, size))
    noise[:, below, above] = [[lot.random() for _ in range(pairs)] for lot in lots]
    noise = noise + turned(noise)
    played = played.copy()
    level = (price == price[:, :1]).all(axis=1)
    seated = np.full((arenas, count, seats), -1)
    left = product(product(covariance, laplacian(needs(goal, placed, mean, covariance))), covariance)
    for table in range(count):
        by_lot = {arena: lot for arena, lot in enumerate(lots) if lot.random() < AT_RANDOM}
        at_table = np.zeros((arenas, size), dtype=bool)
        usual = np.where(level, np.maximum(FLOOR, played.sum(axis=1) // (4 * size)), FLOOR)
        gained = np.zeros(arenas)
        for place in range(1, seats):
            use = information * between(left) / (1 + information * between(covariance))
            use = use * (1 + 1e-6 * noise) + 1e-100 * noise
            if place == 1:
                may, use = free[:, below, above] & opening, use[:, below, above]
                fewer = np.minimum(played[:, below], played[:, above])
                costs = price[:, below] + price[:, above]
            else:
                may = ~at_table & (free | ~at_table[:, None, :]).all(axis=2) & (seated[:, table, :1] >= 0)
                use = gained[:, None] + total(use * at_table[:, None, :])
                fewer, costs = played, total(price * at_table)[:, None] + price
            chosen = _choose(may, use / costs, costs, level, fewer, usual, by_lot)
            here = every[may.any(axis=1)]
            gained = use[every, chosen]
            joins = above[chosen] if place == 1 else chosen
            if place == 1:
                seated[here, table, 0] = below[chosen][here]
                at_table[here, below[chosen][here]] = True
            seated[here, table, place] = joins[here]
            for other in range(place):
                _observe(covariance, left, information, seated[here, table, other], joins[here], here)
            at_table[here, joins[here]] = True
        played += at_table
    return seated


def _choose(
    may: np.ndarray,
    worth: Floats,
    costs: Floats,
    level: np.ndarray,
    fewer: np.ndarray,
    usual: np.ndarray,
    by_lot: Mapping[int, Random],
) -> np.ndarray:
    """Return the seat or pair that each arena fills next, of those that it `may`: the one worth most for its
    cost, of the `usual` few that have played least where there are such. Arenas in `by_lot` draw theirs, at
    equal odds where all cost the same (`level`), and else the cheaper the likelier."""
    fewest = np.where(may, fewer, fewer.max() + 1).min(axis=1)
    may_first = may & ((fewer == fewest[:, None]) | (fewest >= usual)[:, None])
    chosen: np.ndarray = np.where(may_first, worth, -1.0).argmax(axis=1)
    for arena, lot in by_lot.items():
        those = np.flatnonzero(may[arena])
        if len(those) and level[arena]:
            chosen[arena] = lot.choice(those.tolist())
        elif len(those):
            (chosen[arena],) = lot.choices(those.tolist(), (1 / costs[arena, those]).tolist())
    return chosen


def needs(goal: Goal, placed: int | None, mean: Floats, covariance: Floats) -> Floats:
    """Return L, how much each pair still matters to a goal, 0 where it needs none; both ways round.

    Strengths are in log-odds; leading axes are of several arenas. `placed` is the player of a goal that
    places one.
    """
    variance, apart = between(covariance), np.abs(mean[..., :, None] - mean[..., None, :])
    square = (apart + goal.within / POINTS) ** 2
    worth = exp_array(-square / variance / _SETTLED) / (square + variance)
    needed = of_goal(goal, placed, mean)
    if goal.then_order:
        alike = (apart + 2 * np.sqrt(variance)) * POINTS < ALIKE
        clear = square >= (CLEAR[0] + CLEAR[1] * mean.shape[-1] ** 2) * variance
        unsettled = (needed & ~alike & ~clear).any(axis=(-2, -1), keepdims=True)
        needed = np.where(unsettled, needed, of_goal(Goal("order"), None, mean))
    return np.where(needed, worth, 0.0)


def of_goal(goal: Goal, placed: int | None, strength: Floats) -> np.ndarray:
    """Return which pairs a goal needs the order of, both ways round, with players as strong as this."""
    size = strength.shape[-1]
    rank = np.argsort(np.argsort(-strength, axis=-1, kind="stable"), axis=-1)
    first = rank < goal.places
    if goal.kind == "placed":
        own = np.broadcast_to(np.arange(size) == placed, rank.shape)
        return np.asarray(own[..., :, None] ^ own[..., None, :])
    if goal.kind == "order" or goal.places >= size:
        return np.asarray(rank[..., :, None] != rank[..., None, :])
    return np.asarray(first[..., :, None] ^ first[..., None, :])


def _observe(
    covariance: Floats,
    left: Floats,
    information: Floats,
    first: np.ndarray,
    second: np.ndarray,
    arenas: np.ndarray,
) -> None:
    """Bring Σ and G up to date with a match in each of these arenas, in place."""
    own = np.arange(len(arenas))
    part, more = covariance[arenas], left[arenas]
    way, pull = [matrix[own, :, first] - matrix[own, :, second] for matrix in (part, more)]
    w = information[arenas, first, second]
    less = (w / (1 + w * (way[own, first] - way[own, second])))[:, None]
    scaled = less * way
    # (Σ − s·wayᵀ)·L·(Σ − way·sᵀ) with s = scaled, and L·way is what turns into `pull`
    half = pull - scaled * ((pull[own, first] - pull[own, second]) / 2)[:, None]
    outer = scaled[:, :, None] * half[:, None, :]
    covariance[arenas] = part - scaled[:, :, None] * way[:, None, :]
    left[arenas] = more - outer - turned(outer)


def between(matrix: Floats) -> Floats:
    """Return of each pair what a positive quadratic form comes to for their difference."""
    own = np.diagonal(matrix, axis1=-2, axis2=-1)
    both = own[..., :, None] + own[..., None, :]
    return np.asarray(np.maximum(both - matrix - turned(matrix), 1e-12))
