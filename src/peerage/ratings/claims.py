"""Claims that hold however often you look, and whatever pairing made of what it saw. Pure.

    >>> round(gap_needed(np.diag([60.0, 60.0]) ** 2)[0, 1])
    298

An interval of 95% is one for a single look at a number of matches fixed beforehand. An arena is looked at
all the time, and pairing by results chases noise, so that some look sooner or later shows a gap that is
none. Here the chance that any look ever does is below 5%, for all pairs of players together.

Let V be the information on all n strengths (in log-odds, their mean held), C = V⁻¹ their covariance, and
S = V(estimate - truth) the sum of what matches said beyond the truth. For each direction θ,
exp(θᵀS - θᵀVθ/2) is a martingale, however the next match is chosen: on average it stays what it is. So does
its mean over θ drawn from a normal distribution of precision λ,

    M = det(1 + V/λ)^(-1/2) · exp(Sᵀ(V + λ)⁻¹S / 2)

which begins at 1 and, by Ville's inequality, ever reaches 1/α with a chance of at most α. While it does not,
the gap d of two players, with c = 1 for the one, -1 for the other, and v = cᵀCc, is by Cauchy and Schwarz
within

    |d - truth| < √((v + λ|Cc|²) · (ln det(1 + V/λ) + 2 ln(1/α)))

of the truth (Robbins, "Statistical methods related to the law of the iterated logarithm", Annals of
Mathematical Statistics 1970; de la Peña, Klass, Lai, "Self-normalized processes", Annals of Probability
2004; Howard, Ramdas, McAuliffe, Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences",
Annals of Statistics 2021). For two players, and with ρ = λ/2, this is √v · √((1 + ρv) · ln((1 + 1/(ρv))/α²)).

That bound is often used pair by pair, with α divided by the number of pairs (for fixed designs: Pace, Salvan,
"Likelihood, replicability and Robbins' confidence sequences", International Statistical Review 2020). It is
narrower for many players, but a pair's gap is a martingale only where pairing does not look at results:
pairing that does leaves a player alone when luck has made it look weak, another when luck has made it look
strong, and connects them through others of whom the same is true. `bench/claims.py` counts both. Errors are
estimated, which makes all this approximate (Waudby-Smith, Arbour, Sinha, Kennedy, Ramdas, "Time-uniform
central limit theory and asymptotic confidence sequences", Annals of Statistics 2024).

λ decides where the bound is tightest, and must not depend on results. `PRECISIONS` has four, from ½ (tight
while little is known) to 32 per squared log-odds; each is given a quarter of α, and the tightest counts.

Where results hang together C comes from few clusters and is itself uncertain. For k clusters the mixture
has a form for a scale that nobody knows (Lai, "On confidence sequences", Annals of Statistics 1976; Wang,
Ramdas, "Anytime-valid t-tests and confidence sequences for Gaussian means with unknown variance", 2023). With
L the second factor above and r = (1 + λ|Cc|²/v)(1 - e^(-L/k)), the ratio d²/v must reach (k - 1)·r/(1 - r),
and where r ≥ 1 no result would do. Many clusters make it the bound above.
"""

from __future__ import annotations

import numpy as np

from peerage.ratings.kernels import Floats
from peerage.ratings.table import POINTS

CONFIDENCE = 0.95
SHARE_UNIT = 0.25
"""Of shares of wins: what one unit of log-odds makes of a chance of one half."""
PRECISIONS = (0.5, 2.0, 8.0, 32.0)
"""Of strengths, per squared log-odds."""
_ROUNDING = 1e-6  # a part of a gap, far more than what sums and roots are off by


def gap_needed(covariance: Floats, freedom: Floats | None = None, *, unit: float = POINTS) -> Floats:
    """How far apart two ratings must be for a claim that holds at every look; shape (…, players, players).

    `covariance` is that of the ratings, `freedom` the degrees of freedom of each difference, where these are
    few (see `clusters`); leading axes are of several tables. `unit` is how many rating points make one unit
    of log-odds. Infinite where nothing can be claimed: below one degree of freedom, and of oneself.
    """
    n = covariance.shape[-1]
    if n < 2:
        return np.full(covariance.shape, np.inf)
    centre = np.eye(n) - 1 / n
    known = centre @ covariance @ centre / unit**2
    square = known @ known
    own, twice = (np.diagonal(matrix, axis1=-2, axis2=-1) for matrix in (known, square))
    variance = own[..., :, None] + own[..., None, :] - 2 * known
    spread = np.maximum(np.linalg.eigvalsh(known)[..., 1:], 1e-15)
    apart = variance > 1e-12 * np.maximum(own.max(axis=-1), 1e-300)[..., None, None]
    variance = np.where(apart, variance, 1.0)
    across = np.maximum(twice[..., :, None] + twice[..., None, :] - 2 * square, 0.0) / variance
    needed = np.full(covariance.shape, np.inf)
    for precision in PRECISIONS:
        odds = np.log1p(1 / (precision * spread)).sum(axis=-1)[..., None, None]
        odds += 2 * np.log(len(PRECISIONS) / (1 - CONFIDENCE))
        wider = 1 + precision * across
        if freedom is None:
            needed = np.minimum(needed, wider * odds)
            continue
        reached = wider * -np.expm1(-odds / (np.maximum(freedom, 1.0) + 1))
        possible = (reached < 1) & (freedom >= 1)
        found = np.where(possible, freedom * reached / np.where(possible, 1 - reached, 1.0), np.inf)
        needed = np.minimum(needed, found)
    return np.asarray(np.where(apart, unit * np.sqrt(variance * needed), np.inf))


def gap_at_least(covariance: Floats, *, unit: float = POINTS) -> Floats:
    """What `gap_needed` is not below, at a tenth of its cost: to see where a claim is out of reach.

    With v the variance of a gap and m the mean of C's eigenvalues across the n - 1 ways in which strengths
    differ, |Cc|² ≥ v² / 2 by Cauchy and Schwarz, and ln det(1 + V/λ) ≥ (n - 1) ln(1 + 1/(λm)) by Jensen.
    """
    ways = covariance.shape[-1] - 1
    if ways < 1:
        return np.full(covariance.shape, np.inf)
    own = np.diagonal(covariance, axis1=-2, axis2=-1)
    variance = own[..., :, None] + own[..., None, :] - 2 * covariance
    variance = np.maximum(variance, 0.0, out=variance) / unit**2
    mean = (own.sum(axis=-1) - covariance.sum(axis=(-2, -1)) / (ways + 1)) / ways / unit**2
    needed = np.full(covariance.shape, np.inf)
    for precision in PRECISIONS:
        odds = ways * np.log1p(1 / (precision * np.maximum(mean, 1e-15)))
        odds += 2 * np.log(len(PRECISIONS) / (1 - CONFIDENCE))
        odds = np.asarray(odds)[..., None, None]
        np.minimum(needed, odds + precision / 2 * odds * variance, out=needed)
    return np.asarray((1 - _ROUNDING) * unit * np.sqrt(np.multiply(variance, needed, out=needed)))


def told_apart(
    ratings: Floats, covariance: Floats, freedom: Floats | None = None, *, unit: float = POINTS
) -> np.ndarray:
    """Who is better than whom at 95%, for all pairs together and at every look; [i, j] when i is above j."""
    return np.asarray(ratings[:, None] - ratings > gap_needed(covariance, freedom, unit=unit))
