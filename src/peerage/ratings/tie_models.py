"""Three readings of a tie: the log-likelihood of each outcome of a pair, with its derivatives.

With d the difference of two strengths in log-odds and e the tie parameter:

- `half`: a tie is half a win each. No parameter.
- `davidson`: win : tie : loss = exp(d/2) : nu : exp(-d/2), e = log nu (Davidson, JASA 1970, equation 2.4).
- `rao-kupper`: win = 1 / (1 + theta exp(-d)), tie what is left over, e = log theta > 0 (Rao and Kupper,
  JASA 1967).

Each function returns, for outcomes WIN, LOSS, TIE along the first axis: value, slope in d, slope in e, and
the second derivatives in d, in d and e, and in e; each of shape (3, pairs).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from peerage.ratings.kernels import Floats

Ties = Literal["half", "davidson", "rao-kupper"]


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


def rao_kupper(d: Floats, e: float) -> Likelihood:
    u = 1 / (1 + np.exp(np.clip(e - d, -700, 700)))
    v = 1 / (1 + np.exp(np.clip(e + d, -700, 700)))
    log_u, log_v = -np.logaddexp(0, e - d), -np.logaddexp(0, e + d)
    less = -np.expm1(-2 * e)
    spread_u, spread_v = u * (1 - u), v * (1 - v)
    return Likelihood(
        np.stack([log_u, log_v, log_u + log_v + 2 * e + np.log(less)]),
        np.stack([1 - u, v - 1, v - u]),
        np.stack([u - 1, v - 1, u + v - 2 + 2 / less]),
        np.stack([-spread_u, -spread_v, -spread_u - spread_v]),
        np.stack([spread_u, -spread_v, spread_u - spread_v]),
        np.stack([-spread_u, -spread_v, -spread_u - spread_v - 4 * np.exp(-2 * e) / less**2]),
    )


MODELS: dict[Ties, Callable[[Floats, float], Likelihood]] = {
    "half": half,
    "davidson": davidson,
    "rao-kupper": rao_kupper,
}


def first_guess(ties: Ties, tied: float) -> float:
    """The tie parameter at which equal players tie in the part `tied` of their games."""
    if ties == "davidson":
        return float(np.log(2 * tied / (1 - tied)))
    return float(np.log((1 + tied) / (1 - tied)))
