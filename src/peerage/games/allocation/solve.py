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
_PRICINGS = 10


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


def greedy(problem: LinearProblem) -> list[int]:
    """The plan of a player in a hurry: from the safe one, again and again the change that gains most for what
    it takes of what is left, while any gains."""
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


def best(problem: LinearProblem) -> list[int]:
    """A plan that no other outdoes.

    Items are decided one after another, all partial plans at once. One is dropped when what it has used
    cannot come within the limits any more, or when it cannot gain more than the plan of `greedy`: at any
    prices of the resources, what it still gains is at most what its unused resources are worth and, of each
    undecided item, the best gain less price.
    """
    known = greedy(problem)
    floor = _SCALE * problem.gain(known)
    prices = _prices(problem, floor)
    priced = _SCALE * problem.gains - np.tensordot(prices, problem.uses, 1)
    ordered = np.sort(priced, axis=1)
    order = np.argsort(ordered[:, -2] - ordered[:, -1], kind="stable")  # the clearest choices first
    rest = _suffix_sums(priced.max(axis=1)[order])
    least = _suffix_sums(problem.uses.min(axis=2).T[order])
    gained = np.zeros(1, np.int64)
    used = np.zeros((1, len(problem.limits)), np.int64)
    plans = np.zeros((1, problem.items), np.int8)
    for done, item in enumerate(order, 1):
        gained = (gained[:, None] + problem.gains[item]).ravel()
        used = (used[:, None, :] + problem.uses[:, item, :].T).reshape(-1, used.shape[1])
        spare = problem.limits - used
        open_ = (spare >= least[done]).all(axis=1) & (_SCALE * gained + spare @ prices + rest[done] > floor)
        kept = np.flatnonzero(open_)
        if not len(kept):
            return known
        gained, used = gained[kept], used[kept]
        plans = plans[kept // problem.choices]
        plans[:, item] = kept % problem.choices
    if _SCALE * gained.max() <= floor:
        return known
    plan: list[int] = plans[gained.argmax()].tolist()
    return plan


def _suffix_sums(values: Ints) -> Ints:
    """The sums of the last n, n - 1, …, 0 of the values."""
    return np.concatenate([np.cumsum(values[::-1], axis=0)[::-1], np.zeros_like(values[:1])])


def _prices(problem: LinearProblem, floor: int) -> Ints:
    """Prices of the resources under which the bound of `best` is low, by the subgradient method."""
    limits, first = problem.limits, np.arange(problem.items) * problem.choices
    gains, uses = _SCALE * problem.gains.ravel(), problem.uses.reshape(len(limits), -1)
    prices = chosen = np.zeros(len(limits), np.int64)
    lowest: int | None = None
    for _ in range(_PRICINGS):
        priced = gains - prices @ uses
        plan = first + priced.reshape(problem.gains.shape).argmax(axis=1)
        over = uses[:, plan].sum(axis=1) - limits
        bound = int(priced[plan].sum() + prices @ limits)
        if lowest is None or bound < lowest:
            lowest, chosen = bound, prices
        if bound <= floor:
            break
        prices = np.maximum(0, prices + (bound - floor) * over // max(1, int(over @ over)))
    return chosen
