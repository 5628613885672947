"""The best plan of a small integer program, proven: branch and bound over whole arrays. Pure, integers alone.

A plan makes one choice for each item. It gains the sum of `gains[item, choice]`, and of each resource it uses
the sum of `uses[resource, item, choice]`, at most the limit. A need is a negative use with a negative limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

_SCALE = 1 << 10
"""Prices of resources are whole multiples of one part in so many of a gain."""
_PRICINGS = 40
_NARROW = 256
"""Partial plans that the first walk goes on with; every further one with four times as many."""


class LinearProblem(NamedTuple):
    """`gains` are items × choices, `uses` resources × items × choices; `limits` and `names` are of the
    resources, and `safe` is the choice that, made for every item, breaks nothing."""

    gains: Ints
    uses: Ints
    limits: Ints
    names: tuple[str, ...]
    safe: int = 0

    @property
    def items(self) -> int:
        return len(self.gains)

    @property
    def choices(self) -> int:
        return int(self.gains.shape[1])

    def gain(self, plan: Sequence[int]) -> int:
        return int(self.gains[np.arange(self.items), plan].sum())

    def used(self, plan: Sequence[int]) -> Ints:
        used: Ints = self.uses[:, np.arange(self.items), plan].sum(axis=1)
        return used


class ProvenPlan(NamedTuple):
    """A plan that no other outdoes, and the work of proving it: one for each item, and one for each partial
    plan, items decided in the order of `best`, that its bound does not keep from outdoing the plan."""

    plan: list[int]
    work: int


def greedy(problem: LinearProblem) -> list[int]:
    """A hurried player's plan: from the safe one, again and again what gains most for what it takes."""
    gains, uses, limits, _, safe = problem
    plan, items = [safe] * problem.items, np.arange(problem.items)
    while True:
        now = uses[:, items, plan]
        left, more = limits - now.sum(axis=1), uses - now[:, :, None]
        gained = gains - gains[items, plan][:, None]
        taken = np.maximum(more, 0) * (_SCALE // np.maximum(left, 1))[:, None, None]
        fit = (more <= left[:, None, None]).all(axis=0) & (gained > 0)
        if not fit.any():
            return plan
        worth = np.where(fit, gained * _SCALE * _SCALE // (1 + taken.sum(axis=0)), -1)
        item, choice = divmod(int(worth.argmax()), problem.choices)
        plan[item] = choice


def best(problem: LinearProblem, most: int) -> ProvenPlan | None:
    """A plan that no other outdoes; None where the proof goes on with more than `most` partial plans at once.

    Items are decided one after another, all partial plans at once. One is dropped when what it has used
    cannot come within the limits any more, or when it cannot gain more than the best plan so far: at any
    prices of the resources, what it still gains is at most what its unused resources are worth and, of each
    undecided item, the best gain less price. Walks that go on with the most promising few alone find good
    plans first; the last walk drops nothing else, and is the proof.
    """
    known, width = greedy(problem), _NARROW
    while True:
        prices = _prices(problem, _SCALE * problem.gain(known))
        walked = _walk(problem, prices, _SCALE * (problem.gain(known) + 1), width, most)
        if walked is None:
            return None
        plan, bounds = walked
        known = max(known, plan or known, key=problem.gain)
        if max(map(len, bounds)) < width:
            outdoing = _SCALE * (problem.gain(known) + 1)
            return ProvenPlan(
                known, problem.items + sum([int((layer >= outdoing).sum()) for layer in bounds])
            )
        width *= 4


def _walk(
    problem: LinearProblem, prices: Ints, floor: int, width: int, most: int
) -> tuple[list[int], list[Ints]] | None:
    """Return the best plan whose gain comes to `floor` (none: empty) among the `width` partial ones with the
    highest bounds after each item, and these bounds; None where there are more than `most` to choose from."""
    priced = _SCALE * problem.gains - np.tensordot(prices, problem.uses, 1)
    ordered = np.sort(priced, axis=1)
    order = np.argsort(ordered[:, -2] - ordered[:, -1], kind="stable")  # the clearest choices first
    least = _suffix_sums(problem.uses.min(axis=2).T[order])
    gained, spare = np.zeros(1, np.int64), problem.limits[:, None]
    bound = np.array([prices @ problem.limits + ordered[:, -1].sum()])
    kept_of: list[Ints] = []
    bounds: list[Ints] = []
    for done, item in enumerate(order, 1):
        bound = (bound[:, None] + priced[item] - ordered[item, -1]).ravel()
        gained = (gained[:, None] + problem.gains[item]).ravel()
        spare = (spare[:, :, None] - problem.uses[:, item, None, :]).reshape(len(spare), -1)
        kept = np.flatnonzero((bound >= floor) & (spare >= least[done][:, None]).all(axis=0))
        if len(kept) > most:
            return None
        if len(kept) > width:
            kept = np.sort(kept[np.argsort(-bound[kept], kind="stable")[:width]])
        bound, gained, spare = bound[kept], gained[kept], spare[:, kept]
        kept_of.append(kept)
        bounds.append(bound)
        if not len(kept):
            return [], bounds
    plan, at = [0] * problem.items, int(gained.argmax())
    for item, kept in zip(order[::-1], kept_of[::-1], strict=True):
        at, plan[item] = divmod(int(kept[at]), problem.choices)
    return plan, bounds


def _suffix_sums(values: Ints) -> Ints:
    """The sums of the last n, n - 1, …, 0 of the values."""
    return np.concatenate([np.cumsum(values[::-1], axis=0)[::-1], np.zeros_like(values[:1])])


def _prices(problem: LinearProblem, floor: int) -> Ints:
    """Prices of the resources under which the bound of `best` is low, by the subgradient method."""
    limits, first = problem.limits, np.arange(problem.items) * problem.choices
    gains, uses = _SCALE * problem.gains.ravel(), problem.uses.reshape(len(limits), -1)
    prices = chosen = np.zeros(len(limits), np.int64)
    lowest: int | None = None
    most = np.abs(uses).max(axis=1)
    scales = most.max() // np.maximum(most, 1)  # so that lots and prices move alike
    halved = since = 0
    for _ in range(_PRICINGS):
        priced = gains - prices @ uses
        plan = first + priced.reshape(problem.gains.shape).argmax(axis=1)
        over = uses[:, plan].sum(axis=1) - limits
        bound = int(priced[plan].sum() + prices @ limits)
        since += 1
        if lowest is None or bound < lowest:
            lowest, chosen, since = bound, prices, 0
        elif since == 4:
            halved, since = halved + 1, 0
        if bound <= floor:
            break
        over *= scales
        prices = np.maximum(
            0, prices + ((bound - floor) >> halved) * over * scales // max(1, int(over @ over))
        )
    return chosen
