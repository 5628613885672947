"""How much each judge's vote weighs, from the judges' ratings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias

Scheme: TypeAlias = Literal["softmax", "proportional", "equal"]


def weights(ratings: Sequence[float], scheme: Scheme, temperature: float = 300.0) -> tuple[float, ...]:
    """One weight per rating, not negative, summing to 1 (none for no ratings).

    `softmax`: w_k = e^(R_k/τ) / Σ e^(R_j/τ), UNER's federated judgement, with τ = `temperature` in Elo
    points (at 300, a judge 300 points above another weighs e times as much). `proportional`: w_k ∝ R_k, a
    rating below 0 counting as 0. `equal`: 1/n. Safe for ratings of any finite size. Raises ValueError for a
    rating that is not finite or a temperature that is not above 0.
    """
    if not ratings:
        return ()
    if not all(map(math.isfinite, ratings)):
        raise ValueError(f"judges' ratings are {list(ratings)}: expected finite numbers")
    if scheme == "softmax":
        if not temperature > 0:
            raise ValueError(f"weight temperature is {temperature}: expected Elo points above 0")
        top = max(ratings)
        shares = [math.exp((rating - top) / temperature) for rating in ratings]
    elif scheme == "proportional":
        top = max(max(ratings), 0.0)
        shares = [max(rating, 0.0) / top for rating in ratings] if top else [1.0] * len(ratings)
    else:
        shares = [1.0] * len(ratings)
    total = math.fsum(shares)
    return tuple([share / total for share in shares])
