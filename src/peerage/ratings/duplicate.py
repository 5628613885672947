"""Ratings across tables that played the same task, as in duplicate bridge.

Where A beat B at one table and lost to B at another that played the same task, the task cannot be why: the
first table's A and the second's B are a team that beat the other two. With strengths s on the scale of
log-odds and a luck of the task that favours a seat alike at all tables,

    P(it was this table where A won, and not that one) = 1 / (1 + e^-((s_A - s_B) - (s_A' - s_B')))

whatever the luck: it cancels (conditional logistic regression, Chamberlain, Review of Economic Studies 1980).
Tables that came to the same say nothing. Every two tables of a series make such a row; the m tables of a
series give each of them m - 1, so a row weighs 1/(m - 1), and intervals allow for a series hanging together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from peerage.ratings.bradley_terry import PRIOR_GAMES, BradleyTerry
from peerage.ratings.clusters import FEWEST
from peerage.ratings.kernels import Floats, Ints
from peerage.ratings.table import POINTS

_FAR = 2.0  # log-odds that a step goes at most


class TableSeats(NamedTuple):
    """Two seats of a table: the players in the first and the second of them, the first one's score (1, ½, 0),
    and the `contest`, equal where the same two seats played the same task. `series` is the cluster."""

    first: int
    second: int
    score: float
    contest: int
    series: int


def fit(players: int, tables: Sequence[TableSeats]) -> BradleyTerry:
    """Ratings (400 points a decade, mean 1500) of players 0 … `players` - 1, with intervals by series.

    Each player was given `PRIOR_GAMES` tied games against a phantom of average strength. Where the same
    players always meet, differences of differences are all that there is to see: `connected` is then False,
    and the prior decides the rest. With fewer than ten series nothing is claimed.
    """
    design, weight, cluster = _rows(players, tables)
    strength = np.zeros(players)
    for _ in range(200):
        chance, own = 1 / (1 + np.exp(-design @ strength)), 1 / (1 + np.exp(-strength))
        slope = design.T @ (weight * (1 - chance)) + PRIOR_GAMES * (0.5 - own)
        information = (design.T * (weight * chance * (1 - chance))) @ design
        information += np.diag(PRIOR_GAMES * own * (1 - own))
        step = np.linalg.solve(information, slope)
        far = np.abs(step).max(initial=0.0)
        strength = strength + step * min(1.0, _FAR / max(far, 1e-300))
        if far < 1e-9:
            break
    inverse = np.linalg.inv(information)
    codes = np.unique(cluster, return_inverse=True)[1]
    count = int(codes.max(initial=-1)) + 1
    slopes = np.zeros((count, players))
    np.add.at(slopes, codes, design * (weight * (1 - chance))[:, None])
    influence = slopes @ inverse
    centre = np.eye(players) - 1 / max(players, 1)
    covariance = influence.T @ influence * count / max(count - 1, 1) + PRIOR_GAMES / 4 * inverse @ inverse
    seated = np.array([one for table in tables for one in table[:2]], np.int64)
    games = np.bincount(seated, minlength=players)
    return BradleyTerry(
        rating=1500 + (strength - strength.mean()) * POINTS,
        covariance=centre @ covariance @ centre * POINTS**2,
        games=games.astype(np.float64),
        connected=players < 2 or (len(design) > 0 and np.linalg.matrix_rank(design) == players - 1),
        components=(tuple(range(players)),),
        prior_games=PRIOR_GAMES,
        clusters=(count,),
        freedom=np.full((players, players), count - 1.0 if count >= FEWEST else 0.0),
    )


def _rows(players: int, tables: Sequence[TableSeats]) -> tuple[Floats, Floats, Ints]:
    """For every two tables of a contest that came to something else: who was for it and against, its weight,
    and its series."""
    contests: dict[int, list[TableSeats]] = defaultdict(list)
    for table in tables:
        contests[table.contest].append(table)
    design, weight, cluster = [], [], []
    for group in contests.values():
        for one, other in combinations(group, 2):
            if one.score == other.score:
                continue
            won, lost = (one, other) if one.score > other.score else (other, one)
            row = np.zeros(players)
            for player, sign in ((won.first, 1), (won.second, -1), (lost.first, -1), (lost.second, 1)):
                row[player] += sign
            design.append(row)
            weight.append((won.score - lost.score) / (len(group) - 1))
            cluster.append(one.series)
    return np.array(design).reshape(-1, players), np.array(weight), np.array(cluster, np.int64)
