"""Bets on direct meetings, one of the two kinds of `ratings.claims.proven`. Pure."""

from __future__ import annotations

from math import pi
from typing import NamedTuple

import numpy as np

from peerage.ratings.arrays import Floats, Ints
from peerage.ratings.strength.evidence import Evidence

_LITTLE, _MOST = 1e-300, 700.0  # bounds of numbers, and of their logarithms
_ROUNDED = 1_000_000  # steps from 0 to 1 to which the outcome of a bet is rounded


class Meetings(NamedTuple):
    """Two players whose order a match decided, one a row: who came `above` and who `below`, the `weight` of
    the bet on the two, 1 at most, and the `share` of the match in M that they have. `cluster` numbers what is
    one bet; None where each row is."""

    above: Ints
    below: Ints
    weight: Floats
    share: Floats
    cluster: Ints | None


def meetings(evidence: Evidence) -> tuple[Ints, Meetings]:
    """Return the players who met anybody, decided or not, and the decided meetings."""
    ranked = evidence.rankings
    met = np.unique(np.concatenate([evidence.first, evidence.second, ranked.seat]))
    heaviest = max(evidence.weight.max(initial=0.0), ranked.weight.max(initial=0.0), _LITTLE)
    decided = np.flatnonzero(evidence.score != 0.5)
    won, first, second = evidence.score[decided] > 0.5, evidence.first[decided], evidence.second[decided]
    weight = evidence.weight[decided] / heaviest
    columns = [(decided, np.where(won, first, second), np.where(won, second, first), weight, weight)]
    held_twice = False
    single = np.diff(ranked.team) == 1
    for number, whole in enumerate((ranked.weight / heaviest).tolist()):
        teams = slice(int(ranked.game[number]), int(ranked.game[number + 1]))
        if not single[teams].all():
            continue
        seat, rank = ranked.seat[ranked.team[teams]], ranked.rank[teams]
        over, under = np.nonzero((rank[:, None] < rank) & (seat[:, None] != seat))
        seats = np.bincount(seat)[seat]
        held_twice |= bool((seats > 1).any())
        level = np.unique(rank, return_inverse=True)[1][over]
        share = whole / np.bincount(level)[level]
        match = np.full(len(over), len(evidence.first) + number)
        columns.append((match, seat[over], seat[under], whole / (seats[over] * seats[under]), share))
    matches, above, below, weight, share = map(np.concatenate, zip(*columns, strict=True))
    if evidence.cluster is not None:
        return met, Meetings(above, below, weight, share, evidence.cluster[matches])
    return met, Meetings(above, below, weight, share, matches if held_twice else None)


class DirectBets(NamedTuple):
    """The capital of bets on direct meetings, of one player `above` another, an element each."""

    above: Ints
    below: Ints
    capital: Floats

    def matrix(self, players: int) -> Floats:
        """[i, j] for i above j; ½ where two never met."""
        values = np.full((players, players), 0.5)
        values[self.above, self.below] = self.capital
        return values


def direct_bets(bets: Meetings, players: int) -> DirectBets:
    pair = np.minimum(bets.above, bets.below) * players + np.maximum(bets.above, bets.below)
    gain = np.where(bets.above < bets.below, bets.weight, -bets.weight)
    if bets.cluster is not None:
        code = np.unique(bets.cluster, return_inverse=True)[1]
        keys, place = np.unique(pair * (len(code) + 1) + code, return_inverse=True)
        gain = np.bincount(place, gain) / np.maximum(np.bincount(place, bets.weight), 1.0)
        pair = keys // (len(code) + 1)
    steps = np.rint((gain + 1) * _ROUNDED).astype(np.int64)
    keys, counts = np.unique(pair * (2 * _ROUNDED + 1) + steps, return_counts=True)
    pair, steps = np.divmod(keys, 2 * _ROUNDED + 1)
    gain, start = steps / _ROUNDED - 1, np.flatnonzero(np.diff(pair, prepend=-1))
    size, total = np.diff(start, append=len(pair)), np.zeros(0)
    capital = np.zeros((2, len(start)))
    if len(start):
        total = np.add.reduceat(counts, start)
    fineness = np.maximum(5, np.ceil(np.log2(pi * np.sqrt(total)))).astype(np.int64)
    for power in np.unique(fineness).tolist():  # the integrand's peak is 1/√matches wide, or wider
        these = fineness == power
        rows, first = np.repeat(these, size), np.cumsum(size[these]) - size[these]
        bet = np.cos((np.arange(2**power) + 0.5) * (pi / 2 / 2**power))
        for row, sign in enumerate((1, -1)):
            grown = np.log1p((sign * gain[rows])[:, None] * bet) * counts[rows][:, None]
            grown = np.minimum(np.add.reduceat(grown, first, axis=0), _MOST)
            capital[row, these] = np.exp(grown).mean(axis=1) / 2
    a, b = np.divmod(pair[start], max(players, 1))
    return DirectBets(np.concatenate([a, b]), np.concatenate([b, a]), capital.reshape(-1))
