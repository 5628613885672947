"""The likelihood of strengths, for many chains side by side.

Matches of two are Davidson's (JASA 1970): with d the difference of two strengths in log-odds, win : tie :
loss = e^(d/2) : ν : e^(-d/2). A ranking is one observation of Plackett's and Luce's model: the first place
goes to a player in proportion to e^s, the next likewise among those left. Players of one rank count as the
mean of the log-likelihood over all orders of them, which for two is half a win each; a team is as strong as
the mean of its members by their shares.

Arrays of strengths have shape (players, chains), `tie` = ln ν shape (chains,).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from peerage.ratings.arrays import Floats, Ints
from peerage.ratings.columns.history import GameColumns
from peerage.ratings.strength.evidence import Evidence
from peerage.ratings.strength.ladders import Ladders, ladders

_SUBSETS = 35
"""Most choices of k out of m tied players that are summed; of more their mean stands for them."""
_FAR = 200.0  # log-odds to which strengths are cut, so that their exponentials are numbers
_TABLE = 4_000_000  # pairs up to which each has its place in a table
_DIGITS = 9  # to which sums of weights are rounded, so that the order of matches leaves no trace


class Segments(NamedTuple):
    """Rows to be summed by player: the rows' `order` by player, where each player's `starts`, `whom`."""

    order: Ints
    starts: Ints
    whom: Ints

    @classmethod
    def of(cls, player: Ints) -> Segments:
        order = np.argsort(player, kind="stable")
        whom, starts = np.unique(player[order], return_index=True)
        return cls(order, starts, whom)

    def add(self, total: Floats, rows: Floats, sign: float = 1.0) -> None:
        """Add each player's rows to its total, both with chains along the last axis."""
        if len(self.starts):
            total[self.whom] += sign * np.add.reduceat(rows[self.order], self.starts, axis=0)


@dataclass(frozen=True, eq=False)
class Stages:
    """The stages of rankings. Stage r of `weight` adds -weight · ln Σ coefficient · e^(value) over its
    members `starts[r]:starts[r + 1]`; a value is a player's strength (`player`), or where `teams` is given
    that of the team of that number, `teams` @ strengths, shape (teams, players)."""

    weight: Floats
    starts: Ints
    player: Ints
    coefficient: Floats
    teams: Floats | None

    def __len__(self) -> int:
        return len(self.weight)

    @cached_property
    def stage(self) -> Ints:
        """The stage of each member."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts, append=len(self.player)))

    @cached_property
    def by_player(self) -> Segments:
        return Segments.of(self.player)

    def values(self, strength: Floats) -> Floats:
        return strength if self.teams is None else np.asarray(self.teams @ strength)

    def members(self, strength: Floats) -> Floats:
        """coefficient · e^value of each member, shape (members, chains)."""
        return np.asarray(self.coefficient[:, None] * np.exp(self.values(strength))[self.player])


class Pairs(NamedTuple):
    """The pairs that met, `a` < `b`, sorted, with their `wins_a`, `wins_b` and `ties`, sums of weights."""

    players: int
    a: Ints
    b: Ints
    wins_a: Floats
    wins_b: Floats
    ties: Floats

    def renumbered(self, number: Ints) -> Pairs:
        """The same with player i as `number[i]`."""
        a, b = number[self.a], number[self.b]
        turned = a > b
        a, b = np.where(turned, b, a), np.where(turned, a, b)
        order = np.lexsort((b, a))
        return Pairs(
            players=self.players,
            a=a[order],
            b=b[order],
            wins_a=np.where(turned, self.wins_b, self.wins_a)[order],
            wins_b=np.where(turned, self.wins_a, self.wins_b)[order],
            ties=self.ties[order],
        )


@dataclass(frozen=True, eq=False)
class Counts:
    """Evidence counted: the pairs that met, `a` < `b`, with their `wins_a`, `wins_b` and `ties`, sums of
    weights; the `ladders` and `stages` of rankings and, by player, what these add linearly (`ranked`).
    `spread_shape` is that of the prior of how far players are apart."""

    players: int
    a: Ints
    b: Ints
    wins_a: Floats
    wins_b: Floats
    ties: Floats
    ladders: tuple[Ladders, ...]
    stages: Stages
    ranked: Floats
    spread_shape: float = 1.0

    @cached_property
    def met(self) -> Floats:
        return self.wins_a + self.wins_b + self.ties

    @cached_property
    def tied(self) -> float:
        """Ties of two, by weight."""
        return float(self.ties.sum())

    @cached_property
    def linear(self) -> Floats:
        """The part of the log-likelihood's slope that does not depend on the strengths."""
        half = (self.wins_a - self.wins_b) / 2
        sums = self.ranked + np.bincount(self.a, half, self.players)
        return np.asarray(sums - np.bincount(self.b, half, self.players))

    @cached_property
    def by_a(self) -> Segments:
        return Segments.of(self.a)

    @cached_property
    def by_b(self) -> Segments:
        return Segments.of(self.b)

    def scaled(self, factor: float, spread_shape: float) -> Counts:
        """The same evidence, each match counting `factor` times, under a prior of this shape."""
        stages = self.stages
        return Counts(
            players=self.players,
            a=self.a,
            b=self.b,
            wins_a=self.wins_a * factor,
            wins_b=self.wins_b * factor,
            ties=self.ties * factor,
            ladders=tuple([ladder.scaled(factor) for ladder in self.ladders]),
            stages=Stages(
                weight=stages.weight * factor,
                starts=stages.starts,
                player=stages.player,
                coefficient=stages.coefficient,
                teams=stages.teams,
            ),
            ranked=self.ranked * factor,
            spread_shape=spread_shape,
        )

    def log_likelihood(self, strength: Floats, tie: Floats) -> Floats:
        """Of each chain, but for a constant."""
        strength = np.clip(strength, -_FAR, _FAR)
        value = self.linear @ strength
        if len(self.a):
            up, nu = np.exp(strength / 2), np.exp(tie)
            ratio = up[self.a] / up[self.b]
            value -= self.met @ np.log(ratio + 1 / ratio + nu)
            if self.tied:
                value += self.tied * tie
        if len(self.stages):
            total = np.add.reduceat(self.stages.members(strength), self.stages.starts, axis=0)
            value -= self.stages.weight @ np.log(total)
        for ladder in self.ladders:
            value -= ladder.log_totals(strength)
        return np.asarray(value)

    def slope(self, strength: Floats, tie: Floats) -> tuple[Floats, Floats]:
        """The log-likelihood's slope in the strengths and in ln ν."""
        strength = np.clip(strength, -_FAR, _FAR)
        gradient = np.repeat(self.linear[:, None], strength.shape[1], axis=1)
        in_tie = np.zeros_like(tie)
        if len(self.a):
            up, nu = np.exp(strength / 2), np.exp(tie)
            ratio = up[self.a] / up[self.b]
            back = 1 / ratio
            total = ratio + back
            total += nu
            ratio -= back
            ratio *= (self.met / 2)[:, None]
            ratio /= total
            self.by_a.add(gradient, ratio, -1.0)
            self.by_b.add(gradient, ratio)
            if self.tied:
                in_tie = self.tied - nu * (self.met @ (1 / total))
        if len(self.stages):
            share = self._shares(strength)
            share *= self.stages.weight[self.stages.stage][:, None]
            if self.stages.teams is None:
                self.stages.by_player.add(gradient, share, -1.0)
            else:
                by_team = np.zeros((len(self.stages.teams), strength.shape[1]))
                self.stages.by_player.add(by_team, share)
                gradient -= self.stages.teams.T @ by_team
        for ladder in self.ladders:
            gradient -= ladder.shares(strength)
        return gradient, in_tie

    def information(self, strength: Floats, tie: float) -> tuple[Floats, float]:
        """The matrix of information on the strengths at one place, shape (players,), and that on ln ν."""
        n = self.players
        matrix, own = np.zeros((n, n)), 0.0
        if len(self.a):
            weight, tied = self.edge_information(strength, tie)
            matrix[self.a, self.b] = matrix[self.b, self.a] = -weight
            sums = np.bincount(self.a, weight, n) + np.bincount(self.b, weight, n)
            matrix[range(n), range(n)] = sums
            own = float((self.met * tied * (1 - tied)).sum())
        for part in self._information_of_stages(strength):
            matrix += part
        for ladder in self.ladders:
            matrix += ladder.information(np.clip(strength, -_FAR, _FAR))
        return matrix, own

    def edge_information(self, strength: Floats, tie: Floats | float) -> tuple[Floats, Floats]:
        """The information of each pair on its difference, and its tie chance; of one place or each chain."""
        up = np.exp(np.clip(strength, -_FAR, _FAR) / 2)
        ratio = up[self.a] / up[self.b]
        total = ratio + 1 / ratio + np.exp(tie)
        mean = (ratio - 1 / ratio) / total / 2
        each = (ratio + 1 / ratio) / total / 4 - mean**2
        return (self.met[:, None] if each.ndim > 1 else self.met) * each, np.exp(tie) / total

    def own_information(self, strength: Floats, tie: Floats) -> Floats:
        """Return the information of all matches on each strength, the others held, chain by chain."""
        strength = np.clip(strength, -_FAR, _FAR)
        own = np.zeros_like(strength)
        if len(self.a):
            weight = self.edge_information(strength, tie)[0]
            self.by_a.add(own, weight)
            self.by_b.add(own, weight)
        return own + self.ranked_information(strength)

    def ranked_information(self, strength: Floats) -> Floats:
        """That of rankings alone."""
        stages, own = self.stages, np.zeros_like(strength)
        for ladder in self.ladders:
            own += ladder.known(strength)
        if not len(stages):
            return own
        share = self._shares(strength)
        share *= (1 - share) * stages.weight[stages.stage][:, None]
        if stages.teams is None:
            stages.by_player.add(own, share)
            return own
        by_team = np.zeros((len(stages.teams), strength.shape[1]))
        stages.by_player.add(by_team, share)
        return np.asarray(own + (stages.teams**2).T @ by_team)

    def _information_of_stages(self, strength: Floats) -> Iterator[Floats]:
        stages = self.stages
        if not len(stages):
            return
        share = self._shares(strength[:, None])[:, 0]
        items = self.players if stages.teams is None else len(stages.teams)
        own = np.bincount(stages.player, share * stages.weight[stages.stage], items)
        matrix: Floats = np.diag(own.astype(np.float64))
        for start in range(0, len(stages), 512):
            stop = min(start + 512, len(stages))
            part = slice(*np.searchsorted(stages.stage, [start, stop]))
            dense = np.zeros((stop - start, items))
            np.add.at(dense, (stages.stage[part] - start, stages.player[part]), share[part])
            matrix -= dense.T @ (dense * stages.weight[start:stop, None])
        yield matrix if stages.teams is None else stages.teams.T @ matrix @ stages.teams

    def _shares(self, strength: Floats) -> Floats:
        """The part of each member in its stage's sum."""
        members = self.stages.members(np.clip(strength, -_FAR, _FAR))
        total = np.add.reduceat(members, self.stages.starts, axis=0)
        return np.asarray(members / total[self.stages.stage])


def paired(evidence: Evidence) -> Pairs:
    """The matches of two, counted by pair."""
    n = max(evidence.players, 1)
    low, high = np.minimum(evidence.first, evidence.second), np.maximum(evidence.first, evidence.second)
    up = np.where(evidence.first < evidence.second, evidence.score, 1 - evidence.score)
    key = low * n + high
    if n * n <= _TABLE:
        met = np.bincount(key, minlength=n * n)
        pair = np.flatnonzero(met)
        place = (np.cumsum(met > 0) - 1)[key]
    else:
        pair, place = np.unique(key, return_inverse=True)
    cells = np.bincount(place * 3 + (2 * up).astype(np.int64), evidence.weight, 3 * len(pair))
    lost, tied, won = np.round(cells.reshape(-1, 3).T, _DIGITS)
    return Pairs(evidence.players, pair // n, pair % n, won, lost, tied)


def counted(pairs: Pairs, rankings: GameColumns, number: Ints | None = None) -> Counts:
    """All matches counted, with player i as `number[i]` if given."""
    new = np.arange(pairs.players) if number is None else number
    strict, others = ladders(rankings, new, _DIGITS)
    stages, ranked = _stages(rankings, others, new)
    for ladder in strict:
        ranked = ranked + ladder.added(len(new))
    pairs = pairs if number is None else pairs.renumbered(number)
    return Counts(**pairs._asdict(), ladders=strict, stages=stages, ranked=np.round(ranked, _DIGITS))


def _stages(rankings: GameColumns, some: Ints, new: Ints) -> tuple[Stages, Floats]:
    """The stages of some rankings, equal ones as one, in an order that does not depend on the games'."""
    n = len(new)
    single = bool((np.diff(rankings.team) == 1).all())
    seated = {
        at: _members(rankings, at, new)
        for game in some.tolist()
        for at in range(int(rankings.game[game]), int(rankings.game[game + 1]))
    }
    teams = sorted(set(seated.values()))
    number = {team: team[0][0] if single else at for at, team in enumerate(teams)}
    sums: dict[tuple[tuple[int, float], ...], float] = {}
    flat = np.zeros(n if single else len(teams))
    for game in some.tolist():
        part = slice(int(rankings.game[game]), int(rankings.game[game + 1]))
        items = [number[seated[at]] for at in range(part.start, part.stop)]
        weight = float(rankings.weight[game])
        np.add.at(flat, items, weight)
        for stage, share in _of_ranking(items, rankings.rank[part].tolist()):
            sums[stage] = sums.get(stage, 0.0) + weight * share
    rows = sorted((stage, round(weight, _DIGITS)) for stage, weight in sums.items())
    size = np.array([len(stage) for stage, _ in rows], np.int64)
    stages = Stages(
        weight=np.array([weight for _, weight in rows], np.float64),
        starts=np.cumsum(size) - size,
        player=np.array([item for stage, _ in rows for item, _ in stage], np.int64),
        coefficient=np.array([part for stage, _ in rows for _, part in stage], np.float64),
        teams=None if single else _matrix(teams, n),
    )
    flat = np.round(flat, _DIGITS)
    return stages, flat if stages.teams is None else np.asarray(stages.teams.T @ flat)


def _members(rankings: GameColumns, team: int, new: Ints) -> tuple[tuple[int, float], ...]:
    """The players of a team and their parts in its strength, which sum to 1."""
    seats = slice(int(rankings.team[team]), int(rankings.team[team + 1]))
    total = float(rankings.share[seats].sum()) or 1.0
    parts = (rankings.share[seats] / total).tolist()
    return tuple(sorted(zip(new[rankings.seat[seats]].tolist(), parts, strict=True)))


def _matrix(teams: list[tuple[tuple[int, float], ...]], n: int) -> Floats:
    matrix = np.zeros((len(teams), n))
    for row, members in enumerate(teams):
        for player, share in members:
            matrix[row, player] += share
    return matrix


def _of_ranking(items: list[int], rank: list[float]) -> Iterator[tuple[tuple[tuple[int, float], ...], float]]:
    """The stages of one ranking from best to worst: members with their coefficients, and the stage's part."""
    start = 0
    while start < len(items):
        stop = start
        while stop < len(items) and rank[stop] == rank[start]:
            stop += 1
        tied, rest, m = items[start:stop], items[stop:], stop - start
        for k in range(m):
            if comb(m, k) > _SUBSETS:
                yield _sum([(item, 1 - k / m) for item in tied] + [(item, 1.0) for item in rest]), 1.0
                continue
            for left in combinations(tied, m - k):
                yield _sum([(item, 1.0) for item in (*left, *rest)]), 1 / comb(m, k)
        start = stop


def _sum(members: list[tuple[int, float]]) -> tuple[tuple[int, float], ...]:
    sums: dict[int, float] = {}
    for item, part in members:
        sums[item] = sums.get(item, 0.0) + part
    return tuple(sorted(sums.items()))
