"""The prior of strengths: most near each other, a few perhaps far away.

    s ~ (1 - q) N(0, τ²) + q N(0, τ² + 3²),  τ exponential of mean 0.8,  q ~ Beta(1, 9),  ln ν ~ N(ln ½, 1)

in log-odds; 1 is 174 Elo. An exponential spread prefers the simpler model, in which all are equal, and yet
lets pools be 600 Elo wide (Simpson and others, "Penalising model component complexity", Statistical Science
2017). Where matches hang together τ is gamma of that mean (`CLUSTERED_SHAPE`). The second part is for one
far ahead of, or behind, all others: with the first alone, pairing that follows results ends in intervals that
miss such a leader.
"""

from __future__ import annotations

import numpy as np

from peerage.ratings.arrays import Floats

FAR = 3.0
"""The spread that the second part adds, in log-odds: 521 Elo."""
WIDTH = 0.8
"""The mean of the spread τ, in log-odds: 139 Elo."""
CLUSTERED_SHAPE = 2.0
"""The shape of τ's gamma distribution where matches hang together. They say less than their number; under an
exponential τ, which may be 0, all would be drawn together, and intervals miss who is ahead and who is behind
(Chung and others, "A nondegenerate penalized likelihood estimator", Psychometrika 2013)."""
SHARE = (1.0, 9.0)
"""Beta's parameters of the share q."""
SHARE_MEAN = SHARE[0] / sum(SHARE)
TIE = float(np.log(0.5)), 1.0
"""Mean and SD of ln ν."""
LEAST, MOST = 0.01, 30.0
"""Between these is τ."""


def log_spread(spread: Floats | float, shape: float) -> Floats:
    """The log density of ln τ, but for a constant: τ is exponential for a `shape` of 1, else gamma."""
    log = shape * (np.log(spread) - np.asarray(spread) / WIDTH)
    return np.where((spread >= LEAST) & (spread <= MOST), log, -np.inf)


def parts(strength: Floats, spread: Floats | float, share: Floats | float) -> tuple[Floats, Floats]:
    """The log densities of the two parts, each with its weight, but for a constant."""
    squares = strength**2
    near, far = spread**2, spread**2 + FAR**2
    return (
        np.asarray(np.log((1 - share) / spread) - squares / (2 * near)),
        np.asarray(np.log(share / np.sqrt(far)) - squares / (2 * far)),
    )


def log_prior(strength: Floats, spread: Floats | float, share: Floats | float) -> Floats:
    """The log density of each strength, but for a constant."""
    near, wide = parts(strength, spread, share)
    gap = near - wide  # what follows is logaddexp, in steps that NumPy takes several numbers at a time
    np.exp(np.negative(np.abs(gap, out=gap), out=gap), out=gap)
    gap += 1
    return np.maximum(near, wide) + np.log(gap, out=gap)


def far(strength: Floats, spread: Floats | float, share: Floats | float) -> Floats:
    """The chance that each strength is of the second part."""
    near, wide = parts(strength, spread, share)
    return np.asarray(1 / (1 + np.exp(np.clip(near - wide, -700, 700))))


def precision(strength: Floats, spread: Floats | float, share: Floats | float) -> Floats:
    """Return the pull of each strength to 0 by distance: the negative slope is this times the strength."""
    wide = far(strength, spread, share)
    return np.asarray((1 - wide) / spread**2 + wide / (spread**2 + FAR**2))
