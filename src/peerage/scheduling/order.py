"""Pairing by ordering loss: next come the matches that most sharpen the order of all players. Pure.

    >>> table = [Standing(name, name, 1500.0, 1500.0) for name in ("Ada", "Bo", "Cy", "Di")]
    >>> len(draw_up(table, History(), Results(), "seed", of_order))
    2

Put two players in the wrong order, and the loss is the gap between them. Where a gap is estimated as m with
variance v and z = m/√v, the loss to be expected falls with v at the rate φ(z) / (2√v). That rate weighs pairs
that are nearly clear too high, since it takes m for the truth: L = exp(−z²) / √v, which falls off sooner,
needs a tenth fewer matches in simulation (`bench/policies.py`). A match of a and b that brings information w
on their gap takes w·Σ(e_a − e_b)(e_a − e_b)ᵀΣ / (1 + w·v_ab) from the covariance Σ of all strengths, and so,
with G = Σ·Laplacian(L)·Σ, from the loss of all pairs together

    U_ab = w · (G_aa + G_bb − 2·G_ab) / (1 + w·v_ab)

The pair with the highest U meets, Σ is lowered by that, and the next pair of the round is found. A player may
so play several matches of a round, or none. At a table of many, the pair is joined by the player that adds
the highest sum of U with those who sit there, one seat after another; Σ is lowered by each of their pairs,
with the share of a match that a ranking as by Plackett and Luce says of it (`strengths.table_share`). Matches
in flight count as observed, so that it does no harm that their results come late. One match in ten is drawn
at random: what a wrong model never looks at, it never learns. A player with less than a quarter of the
usual, or `FLOOR` matches, comes first.

Where a dollar is to say most, U is divided by the price of the seats; the matches by lot are drawn in inverse
proportion to it, and a player that is dear need not play a quarter of the usual.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random

import numpy as np

from peerage.ratings.kernels import Floats, exp_array
from peerage.scheduling.standing import History, Results, Standing, may_meet
from peerage.scheduling.strengths import Strengths, known, laplacian, product, total, turned

FLOOR = 5
"""Matches of each player that come before all others."""

AT_RANDOM = 0.1

Loss = Callable[[Floats, Floats], Floats]
"""By how much the loss of each pair falls with the variance of its gap, from means and covariance; leading
axes are of several arenas."""


def draw_up(
    standings: Sequence[Standing],
    history: History,
    results: Results,
    lot: str,
    loss: Loss,
    *,
    same_family: bool = True,
    across: bool = False,
    seats: int = 2,
    count: int | None = None,
    only: str = "",
    price: Mapping[str, float] = {},
) -> tuple[tuple[str, ...], ...]:
    """Half as many matches of `seats` as there are players, or `count`, the most telling first; `lot` decides
    among equals.

    Without `same_family` players of one family never meet, where `across` none of one group. `only` names one
    who plays in all of them. With a `price` of each player's seat, in any unit, it is not what a match says
    that counts but that divided by the price of its seats; equal prices change nothing. The same arguments
    give the same matches on every machine.
    """
    pool = sorted(standings)
    size = len(pool)
    if size < 2:
        return ()
    names = [one.player for one in pool]
    free = np.array([[may_meet(one, other, same_family, across) for other in pool] for one in pool])
    np.fill_diagonal(free, False)
    strengths = known(names, history, results, seats)
    played = np.array([history.played(name) for name in names])
    matches = size // 2 if count is None else count
    one = Strengths(*[part[None] for part in strengths])
    own = names.index(only) if only else None
    prices = np.array([price.get(name, 1.0) for name in names])
    lots = [Random(lot)]
    seated = seat(
        strengths=one,
        played=played[None],
        free=free[None],
        price=prices[None],
        lots=lots,
        loss=loss,
        count=matches,
        seats=seats,
        only=own,
    )
    return tuple(
        [tuple([names[at] for at in table if at >= 0]) for table in seated[0].tolist() if table[0] >= 0]
    )


def seat(
    strengths: Strengths,
    played: np.ndarray,
    free: np.ndarray,
    price: Floats,
    lots: Sequence[Random],
    loss: Loss,
    count: int,
    seats: int = 2,
    only: int | None = None,
) -> np.ndarray:
    """Who sits where, in several arenas at once: shape (arenas, count, seats), -1 where nobody is left.

    `played` says how often each has, `free` who may meet whom, `price` what a seat of each costs; `lots` are
    those of the arenas. `only` sits at every table.
    """
    mean, covariance, information = strengths
    arenas, size = mean.shape
    every, pairs = np.arange(arenas), size * (size - 1) // 2
    below, above = np.tril_indices(size, -1)
    opening = np.full(pairs, True) if only is None else (below == only) | (above == only)
    noise = np.zeros((arenas, size, size))
    noise[:, below, above] = [[lot.random() for _ in range(pairs)] for lot in lots]
    noise = noise + turned(noise)
    played = played.copy()
    level = (price == price[:, :1]).all(axis=1)
    found = np.full((arenas, count, seats), -1)
    for table in range(count):
        by_lot = np.array([lot.random() < AT_RANDOM for lot in lots])
        at_table = np.zeros((arenas, size), dtype=bool)
        usual = np.where(level, np.maximum(FLOOR, played.sum(axis=1) // (4 * size)), FLOOR)
        said = np.zeros(arenas)
        for place in range(1, seats):
            use = gain(mean, covariance, information, loss) * (1 + 1e-6 * noise) + 1e-100 * noise
            if place == 1:
                may, use = free[:, below, above] & opening, use[:, below, above]
                fewer = np.minimum(played[:, below], played[:, above])
                costs = price[:, below] + price[:, above]
            else:
                may = ~at_table & (free | ~at_table[:, None, :]).all(axis=2) & (found[:, table, :1] >= 0)
                use = said[:, None] + total(use * at_table[:, None, :])
                fewer, costs = played, total(price * at_table)[:, None] + price
            fewest = np.where(may, fewer, played.max() + 1).min(axis=1)
            may_first = may & ((fewer == fewest[:, None]) | (fewest >= usual)[:, None])
            chosen = np.where(may_first, use / costs, -1.0).argmax(axis=1)
            here = every[may.any(axis=1)]
            for arena in here[by_lot[here]].tolist():
                those = np.flatnonzero(may[arena])
                if level[arena]:
                    chosen[arena] = lots[arena].choice(those.tolist())
                else:
                    (chosen[arena],) = lots[arena].choices(those.tolist(), (1 / costs[arena, those]).tolist())
            said = use[every, chosen]
            joins = above[chosen] if place == 1 else chosen
            if place == 1:
                found[here, table, 0] = below[chosen][here]
                at_table[here, below[chosen][here]] = True
            found[here, table, place] = joins[here]
            for other in range(place):
                covariance = _lowered(covariance, information, found[:, table, other], joins, here)
            at_table[here, joins[here]] = True
        played += at_table
    return found


def _lowered(
    covariance: Floats, information: Floats, first: np.ndarray, second: np.ndarray, here: np.ndarray
) -> Floats:
    """The covariance after a match of two in each of the arenas that are `here`."""
    i, j = first[here], second[here]
    part = covariance[here]
    own = np.arange(len(here))
    column = part[own, :, i] - part[own, :, j]
    told = information[here, i, j]
    less = told / (1 + told * (column[own, i] - column[own, j]))
    found = covariance.copy()
    found[here] = part - column[:, :, None] * column[:, None, :] * less[:, None, None]
    return found


def of_order(mean: Floats, covariance: Floats) -> Floats:
    """How much the order of each pair matters still."""
    variance = between(covariance)
    gap = mean[..., :, None] - mean[..., None, :]
    return np.asarray(exp_array(-gap * gap / variance) / np.sqrt(variance))


def gain(mean: Floats, covariance: Floats, information: Floats, of: Loss) -> Floats:
    """What a match of each pair takes from the loss of all pairs."""
    spread = product(product(covariance, laplacian(of(mean, covariance))), covariance)
    return np.asarray(information * between(spread) / (1 + information * between(covariance)))


def between(matrix: Floats) -> Floats:
    """Of each pair what a positive quadratic form comes to for their difference."""
    own = np.diagonal(matrix, axis1=-2, axis2=-1)
    both = own[..., :, None] + own[..., None, :]
    return np.asarray(np.maximum(both - matrix - turned(matrix), 1e-12))
