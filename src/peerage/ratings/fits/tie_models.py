"""Two readings of a tie: the log-likelihood of each outcome of a pair, with its derivatives.

With d the difference of two strengths in log-odds and e the tie parameter:

- `half`: a tie is half a win each. No parameter.
- `davidson`: win : tie : loss = exp(d/2) : nu : exp(-d/2), e = log nu (Davidson, JASA 1970, equation 2.4).

Each function returns, for outcomes WIN, LOSS, TIE along the first axis: value, slope in d, slope in e, and
the second derivatives in d, in d and e, and in e; each of shape (3, pairs).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from peerage.ratings.arrays import Floats

Ties = Literal["half", "davidson"]


class Likelihood(NamedTuple):
    value: Floats
    d: Floats
    e: Floats
    dd: Floats
    de: Floats
    ee: Floats


def half(d: Floats, _: float) -> Likelihood:
    p = 1 / (1 + np.exp(-np.clip(d, -700, 700)))
    log_win = np.where(d > 0, np.log1p(np.exp(-np.abs(d))), np.log1p(np.exp(-np.abs(d))) - d)
    nothing = np.zeros((3, len(d)))
    return Likelihood(
        np.stack([-log_win, -log_win - d, -log_win - d / 2]),
        np.stack([1 - p, -p, 0.5 - p]),
        nothing,
        np.broadcast_to(-p * (1 - p), (3, len(d))),
        nothing,
        nothing,
    )


def davidson(d: Floats, e: float) -> Likelihood:
    top = np.maximum(np.abs(d) / 2, e)
    win, loss, tie = np.exp(d / 2 - top), np.exp(-d / 2 - top), np.exp(e - top)
    total = win + loss + tie
    win, loss, tie = win / total, loss / total, tie / total
    mean = (win - loss) / 2
    log_total = np.log(total) + top
    return Likelihood(
        np.stack([d / 2 - log_total, -d / 2 - log_total, e - log_total]),
        np.stack([0.5 - mean, -0.5 - mean, -mean]),
        np.stack([-tie, -tie, 1 - tie]),
        np.broadcast_to(mean**2 - (win + loss) / 4, (3, len(d))),
        np.broadcast_to(tie * mean, (3, len(d))),
        np.broadcast_to(-tie * (1 - tie), (3, len(d))),
    )


MODELS: dict[Ties, Callable[[Floats, float], Likelihood]] = {"half": half, "davidson": davidson}


def first_guess(tied: float) -> float:
    """Davidson's tie parameter at which equal players tie in the part `tied` of their games."""
    return float(np.log(2 * tied / (1 - tied)))
