"""Pairing by ordering loss: next come the matches that most sharpen the order of all players. Pure.

    >>> table = [Standing(name, name, 1500.0, 1500.0) for name in ("Ada", "Bo", "Cy", "Di")]
    >>> len(pair(table, History(), Results(), "seed"))
    2

Put two players in the wrong order, and the loss is the gap between them. Where a gap is estimated as m with
variance v, the loss to be expected falls with v at the rate L = φ(m/√v) / (2√v). A match of a and b that
brings information w on their gap takes w·Σ(e_a − e_b)(e_a − e_b)ᵀΣ / (1 + w·v_ab) from the covariance Σ of
all strengths, and so, with G = Σ·Laplacian(L)·Σ, from the loss of all pairs together

    U_ab = w · (G_aa + G_bb − 2·G_ab) / (1 + w·v_ab)

The pair with the highest U meets, Σ is lowered by that, and the next pair of the round is found. A player may
so play several matches of a round, or none. Matches in flight count as observed, so that it does no harm
that their results come late. One match in ten is drawn at random: what a wrong model never looks at, it
never learns. Whoever has played less than a quarter of the usual, or `FLOOR` matches, comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import numpy as np

from peerage.ratings.kernels import Floats, exp_array
from peerage.scheduling.standing import History, Results, Standing
from peerage.scheduling.strengths import known, product

FLOOR = 5
"""Matches of each player that come before all others."""

AT_RANDOM = 0.1

Loss = Callable[[Floats, Floats], Floats]
"""By how much the loss of each pair falls with the variance of its gap, from means and covariance."""


def pair(
    standings: Sequence[Standing],
    history: History,
    results: Results,
    lot: str,
    kin: bool,
    once: bool,
    loss: Loss,
    only: str = "",
    count: int | None = None,
    again: bool = True,
) -> tuple[tuple[str, str], ...]:
    """Half as many matches as there are players, or `count`, the most telling first; `lot` decides among
    equals.

    Without `kin` players of one family never meet; where `once`, nobody plays twice in a round, and unless
    `again` no two meet twice in it. `only` names one who plays in all of them. The same arguments give the
    same pairs on every machine.
    """
    rng = Random(lot)
    pool = sorted(standings)
    size = len(pool)
    if size < 2:
        return ()
    names = [one.player for one in pool]
    mean, covariance, information = known(names, history, results)
    below, above = np.tril_indices(size, -1)
    family = np.unique([one.family for one in pool], return_inverse=True)[1]
    free = (family[below] != family[above]) | kin
    if only:
        free &= (below == names.index(only)) | (above == names.index(only))
    noise = np.array([rng.random() for _ in below])
    played = np.array([history.played(name) for name in names])
    found: list[tuple[str, str]] = []
    while free.any() and len(found) < (size // 2 if count is None else count):
        fewer = np.minimum(played[below], played[above])
        fewest = fewer[free].min()
        if rng.random() < AT_RANDOM:
            at = rng.choice(np.flatnonzero(free).tolist())
        else:
            use = gain(mean, covariance, information, loss)[below, above] * (1 + 1e-6 * noise)
            behind = fewer == fewest if fewest < max(FLOOR, played.sum() // (4 * size)) else True
            at = int(np.argmax(np.where(free & behind, use + 1e-100 * noise, -1.0)))
        i, j = int(below[at]), int(above[at])
        found.append((names[i], names[j]))
        played[[i, j]] += 1
        column = covariance[:, i] - covariance[:, j]
        told = information[i, j]
        covariance = covariance - column[:, None] * column * (told / (1 + told * (column[i] - column[j])))
        if not again:
            free[at] = False
        if once:
            free &= ~np.isin(below, (i, j)) & ~np.isin(above, (i, j))
    return tuple(found)


def of_order(mean: Floats, covariance: Floats) -> Floats:
    """The loss of wrong orders."""
    variance = between(covariance)
    gap = mean[:, None] - mean
    return np.asarray(exp_array(-gap * gap / (2 * variance)) / np.sqrt(variance))


def gain(mean: Floats, covariance: Floats, information: Floats, of: Loss) -> Floats:
    """What a match of each pair takes from the loss of all pairs."""
    loss = of(mean, covariance)
    np.fill_diagonal(loss, 0.0)
    laplacian = -loss
    np.fill_diagonal(laplacian, loss.sum(axis=0))
    spread = product(product(covariance, laplacian), covariance)
    return np.asarray(information * between(spread) / (1 + information * between(covariance)))


def between(matrix: Floats) -> Floats:
    """Of each pair what a positive quadratic form comes to for their difference."""
    own = np.diag(matrix)
    return np.asarray(np.maximum(own[:, None] + own - matrix - matrix.T, 1e-12))
