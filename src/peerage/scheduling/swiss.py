"""UNER's pairing (stage 2): neighbours on the cost-adjusted Elo meet, rematches are avoided, byes rotate.

    >>> table = [Standing(name, name, 1500.0, rating) for name, rating in
    ...          [("Ada", 1610.0), ("Bo", 1590.0), ("Cy", 1500.0), ("Di", 1470.0)]]
    >>> pair(table, History(), "seed")
    (('Ada', 'Bo'), ('Cy', 'Di'))

Players are sorted by cost Elo and cut into strata from the top, each `width` (Δ) wide. One minimum-weight
matching then pairs everybody, where a pair of rating distance d that has met m times weighs

    d                    in one stratum, never met
    (Δ + d) · (1 + m)    otherwise

so that mates who have not met go first, at the smallest differences; a lone player, and one who has met all
its mates, falls to its nearest neighbour; and over a long run a pair meets in inverse proportion to Δ + d,
which keeps the graph of meetings connected where strata hold one or two players.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

import rustworkx

from peerage.scheduling.standing import History, Standing, may_meet

ALL_PAIRS_UP_TO = 32
"""Arenas of this size or less consider every pair; larger ones each player's neighbourhood."""

NEIGHBOURS = 12
"""How many players below it, not yet met, a player of a large arena is linked to."""

_PER_POINT = 1000  # weights are whole thousandths of an Elo point
_NOISE_BITS = 40
_WEIGHT_SHIFT = _NOISE_BITS + 20  # room for the noise of a million pairs below one unit of weight


def pair(
    standings: Sequence[Standing],
    history: History,
    seed: str,
    width: float = 50.0,
    same_family: bool = True,
) -> tuple[tuple[str, str], ...]:
    """One round in which everybody plays once, except one player when their number is odd, who has a bye:
    pairs as (higher, lower) seed, best pair first.

    The bye goes to the player issued the most matches, drawn by `seed` among equals: byes of players
    who joined together never differ by more than one, and a newcomer plays until it has caught up. The
    higher seed has the higher cost Elo, and among equals the name that sorts first. The same arguments
    always give the same round: among equally light matchings `seed` decides. Fewer than two players make no
    pair. Without `same_family` players of one family never meet; a player that has nobody left to meet sits
    the round out.
    """
    rng = Random(seed)
    order = sorted(standings, key=lambda standing: (-standing.cost, standing.player))
    if len(order) % 2:
        most = max(history.played(standing.player) for standing in order)
        order.remove(rng.choice([standing for standing in order if history.played(standing.player) == most]))
    strata = list(_strata([standing.cost for standing in order], width))
    milli = [round(standing.cost * _PER_POINT) for standing in order]
    apart = round(width * _PER_POINT)
    graph: rustworkx.PyGraph[None, int] = rustworkx.PyGraph()
    graph.add_nodes_from([None] * len(order))
    edges: list[tuple[int, int, int]] = []
    for i, j, met in _candidates([standing.player for standing in order], history):
        if not may_meet(order[i], order[j], same_family):
            continue
        distance = milli[i] - milli[j]
        weight = distance if not met and strata[i] == strata[j] else (apart + distance) * (1 + met)
        # The library does not say which of several lightest matchings it finds: random low bits leave one.
        edges.append((i, j, -((weight << _WEIGHT_SHIFT) + rng.getrandbits(_NOISE_BITS))))
    graph.add_edges_from(edges)
    matching = rustworkx.max_weight_matching(graph, max_cardinality=True, weight_fn=int)
    pairs = sorted((min(i, j), max(i, j)) for i, j in matching)
    return tuple([(order[i].player, order[j].player) for i, j in pairs])


def _strata(ratings: Sequence[float], width: float) -> Iterator[int]:
    """The stratum of each of the descending ratings: each begins at the best player not yet in one."""
    stratum, top = -1, float("inf")
    for rating in ratings:
        if top - rating > width:
            stratum, top = stratum + 1, rating
        yield stratum


def _candidates(players: Sequence[str], history: History) -> Iterator[tuple[int, int, int]]:
    """Pairs of ranks that may meet, with how often they have.

    In a large arena a player is linked to the one below it, so that a full matching always exists, and on
    downwards until `NEIGHBOURS` it has not met are among them or three times as many were passed.
    """
    size = len(players)
    every = size <= ALL_PAIRS_UP_TO
    for i, player in enumerate(players):
        fresh = 0
        for j in range(i + 1, size if every else min(size, i + 1 + 3 * NEIGHBOURS)):
            met = history.met(player, players[j])
            yield i, j, met
            fresh += not met
            if fresh == NEIGHBOURS and not every:
                break
