"""Forecasts of the matches it takes to prove something, from courses that an arena may take. Pure.

    >>> from peerage.ratings.columns.history import duels
    >>> from peerage.ratings.strength.evidence import of_duels
    >>> from peerage.ratings.strength.posterior import strengths
    >>> seen = of_duels(duels(2, [0] * 8, [1] * 8, [1, 1, 1, 1, 1, 1, 0, 0]))
    >>> more = forecast(strengths(seen, seed=1), seen, Policy("random"), Goal("top"))
    >>> more.clear.at_least <= more.proven.at_least < more.proven.matches
    True

Each course draws the true strengths from the posterior and plays on from the matches so far, in blocks, with
results by chance. `adaptive` spreads a block over pairs by its own rule (the worth of a match to the fourth
power, and a tenth at random), other policies as so far. After each block the strengths are fitted again and
the evidence of each pair is weighed as `ratings.claims.proven` does, with shortcuts that make it quick: for
a gap d of the fit with variance v, of which the pair's own matches tell the share r, the log-likelihood that
equality would lose, and |Cc|²/v there, are taken as

    Λ = d²/(2v) · h    and    |Cc|²/(v·h)    with    h = r·cosh(d/2) + (1 − r)·cosh(d/3)

since cosh(d/2) is the square root of what a match of equals tells over what one at the gap d tells: near the
mean of the information on the way from one fit to the other; for other matches d/3 was found to fit best.

A range that is open above begins where 80% of the courses are not there yet; others leave out as many at
either end.

Where one player is far ahead of equals, the posterior thinks it likely that one of them is nearer, and says
more matches than it takes. So further courses let all whom the goal sets apart be equals, and all others too,
with a gap as the matches between these two kinds say without a prior. Unless the results refute that
(likelihood ratio; Wilks 1938), a range begins where these courses are soon there, if that is sooner.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import comb, inf, log
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from peerage.ratings.arrays import Floats
from peerage.ratings.claims.proven import proven
from peerage.ratings.claims.strengths import PARTS, PRECISIONS, THRESHOLD, TOGETHER
from peerage.ratings.columns.blas import one_thread
from peerage.ratings.columns.history import pairings
from peerage.ratings.strength.clustering import design_effect
from peerage.ratings.strength.evidence import Evidence
from peerage.ratings.strength.likelihood import counted, paired
from peerage.ratings.strength.posterior import AS_GOOD, Strengths
from peerage.ratings.table import POINTS
from peerage.scheduling.adaptive import AT_RANDOM, between, needs, of_goal
from peerage.scheduling.goal import far_enough, settled
from peerage.scheduling.policies import Policy
from peerage.scheduling.standing import Goal
from peerage.scheduling.strengths import laplacian, table_share, turned
from peerage.values.figures import dollars, two_digits

HOPELESS = 50
"""So many times the matches played so far are no advice."""
INSIDE = 0.8
"""The share of courses that a range holds."""
_SIMPLEST = 0.05
"""The share of courses of two kinds of players that are short of a range."""
_UNLIKE = 0.05
"""The chance of results less like two kinds of players below which these are refuted."""
_CLEAR = 0.03
"""The doubt of a fit at which the posterior, which draws all together, has about `AS_GOOD`."""
_WORK = 80_000
"""Courses times the square of the players, about, between these numbers of courses."""
_FEWEST, _MOST = 16, 100
_CROWD = 60
"""Of more players than these, the others are one: opponents that the goal does not need."""
_LOOKS = np.geomspace(1.02, HOPELESS, 36) - 1
"""Looks at a course: further matches, in multiples of those so far."""
_HELD = 0.05  # precision at 0 of the fits, which keeps them finite
_GREED = 4


class Further(Struct, frozen=True):
    """About so many further `matches`: as many as not, 0 where it is there now, None beyond `HOPELESS` times
    those played. With 80% they are between `at_least` and `at_most`, None where that is open. `usd` is their
    price, None where unknown."""

    matches: int | None
    at_least: int
    at_most: int | None
    usd: float | None

    @property
    def brief(self) -> str:
        """The same without its range, of what is not there yet."""
        if self.matches is None:
            return f"at least {_more(self.at_least)}"
        return f"about {_more(self.matches)}{f' ({dollars(self.usd)})' if self.usd else ''}"

    def __str__(self) -> str:
        if self.matches == 0:
            return "now"
        if self.matches is None:
            return self.brief if self.at_least > 1 else "nobody can say yet"
        most = "or more" if self.at_most is None else f"to {self.at_most:,}"
        price = f", {dollars(self.usd)}" if self.usd else ""
        return f"about {_more(self.matches)}{price} (likely {self.at_least:,} {most})"


def _more(matches: int) -> str:
    return f"{matches:,} more match{'es' * (matches != 1)}"


class MatchForecast(NamedTuple):
    """The matches it takes until a goal is `proven`, until the pick is `clear`, which nobody else may be as
    good as, and until the order of each of the pairs asked for is proven."""

    proven: Further
    clear: Further
    pairs: tuple[Further, ...]


@one_thread
def forecast(
    strengths: Strengths,
    evidence: Evidence,
    policy: Policy,
    goal: Goal,
    per_match_usd: float | None = None,
    *,
    placed: int | None = None,
    pairs: Sequence[tuple[int, int]] = (),
    active: np.ndarray | None = None,
    above: np.ndarray | None = None,
    seed: int = 0,
) -> MatchForecast:
    """Return what it takes to prove a goal, to have a clear pick, and to prove the order of `pairs`.

    `policy` pairs the matches; `adaptive` plays for the goal. `placed` is the number of the player that the
    goal is to place, `active` says who still plays, by default everybody: what they need counts, and they
    alone meet. `above` is what is proven now, where the caller has it, `per_match_usd` the price of a match.
    The same arguments give the same numbers. It takes half a second for 60 players: `plan` and pages say it,
    the verdict does not.
    """
    n, rng = evidence.players, np.random.default_rng(seed)
    playing = np.ones(n, bool) if active is None else active
    may = playing[:, None] & playing & ~np.eye(n, dtype=bool)
    if policy.player and placed is not None:
        may &= (np.arange(n) == placed)[:, None] ^ (np.arange(n) == placed)
    count = int(np.clip(_WORK // max(n, 1) ** 2, _FEWEST, _MOST))
    above = proven(evidence) if above is None else above
    known = settled(above, goal, strengths)
    needed = of_goal(goal, placed, np.where(playing, strengths.rating, -inf)) & may
    better = np.where(may, strengths.better, 0.0)[:, int(np.argmax(np.where(playing, strengths.best, -1.0)))]
    now = [bool((known | ~needed).all()), bool((better < AS_GOOD).all())]
    now += [bool(above[first, other] or above[other, first]) for first, other in pairs]
    at = np.where(np.array(now)[:, None], 0.0, np.full((len(now), count + count // 2), inf))
    if not all(now) and may.any():
        courses = _courses(
            strengths=strengths,
            evidence=evidence,
            policy=policy,
            goal=goal,
            placed=placed,
            pairs=pairs,
            may=may,
            count=count,
            rng=rng,
        )
        _play_out(courses, at, count)
    soon = np.quantile(at[:, count:], _SIMPLEST, axis=1, method="inverted_cdf")
    soon[2:] = soon[0] if n == 2 else inf  # of more players, two are no two kinds
    spans = [
        _summed(row, early, evidence.matches, per_match_usd)
        for row, early in zip(at[:, :count], soon.tolist(), strict=True)
    ]
    return MatchForecast(spans[0], spans[1], tuple(spans[2:]))


def _play_out(courses: Iterable[tuple[float, Floats]], at: Floats, count: int) -> None:
    """Set `at` to the matches at which each course reaches what is asked for, until nearly all of the first
    `count` courses have; infinite where it is not reached."""
    before, short = 0.0, np.full(at.shape, -1.0)
    for look, margin in courses:
        there = np.isinf(at) & (margin >= 0)
        part = np.clip(short / np.minimum(short - margin, -1e-9), 0.0, 1.0)
        at[there] = (before + (look - before) * part)[there]
        before, short = look, np.minimum(margin, -1e-9)
        if (np.isfinite(at[:, :count]).mean(axis=1) > (1 + INSIDE) / 2).all():
            return


def _courses(
    strengths: Strengths,
    evidence: Evidence,
    policy: Policy,
    goal: Goal,
    placed: int | None,
    pairs: Sequence[tuple[int, int]],
    may: np.ndarray,
    count: int,
    rng: np.random.Generator,
) -> Iterator[tuple[float, Floats]]:
    """Yield each look, and by how much of log-evidence the goal, the pick and each of the pairs are beyond
    what they need: shape (2 + pairs, courses)."""
    truth = strengths.draws[rng.choice(len(strengths.draws), count, len(strengths.draws) < count)]
    won, met = _so_far(evidence)
    apart = _set_apart(strengths, goal, placed, np.asarray(may.any(axis=0)))
    truth = np.vstack([truth, _two_kinds(apart, won, count // 2, rng)])
    total: float = met.sum() / 2
    group = _grouped(strengths, goal, placed, pairs, may)
    n, everybody = int(group.max()) + 1, evidence.players
    if n < everybody:
        merge = (np.arange(n)[:, None] == group) * 1.0
        truth = truth @ (merge / merge.sum(axis=1, keepdims=True)).T
        won, met = [merge @ matrix @ merge.T * (1 - np.eye(n)) for matrix in (won, met)]
        may = merge @ may @ merge.T * (1 - np.eye(n)) > 0
        pairs = [(int(group[first]), int(group[other])) for first, other in pairs]
        placed, apart = None if placed is None else int(group[placed]), merge @ apart > 0
    first, second = np.array(pairs, np.int64).reshape(-1, 2).T
    up = np.exp((truth[:, :, None] - truth[:, None, :]) / 2)
    wins_of_one = up / (up + turned(up) + strengths.ties)
    usual, lot = _usual(met, may, total), total * may / (may.sum() / 2)
    wins, strength = won[None], np.zeros((1, n))
    for _ in range(10):
        strength, covariance = _fitted(wins, strength)
    refuted = (np.arange(len(truth)) >= count) & _no_two_kinds(apart, won, strength[0])
    wins, strength, covariance = [
        np.repeat(each, len(truth), axis=0) for each in (wins, strength, covariance)
    ]
    before = 0.0
    playing = may.any(axis=0) & ~((np.arange(n) == n - 1) & (n < everybody))
    for look in _LOOKS.tolist():
        block, before = look - before, look
        spread: Floats = usual
        if policy.learns:
            spread = (1 - AT_RANDOM) * _spread(goal, placed, strength, covariance, may, total)
            spread = spread + AT_RANDOM * lot
        wins = wins + rng.poisson(block * spread * wins_of_one)
        strength, covariance = _fitted(wins, strength)
        gap, variance = strength[:, :, None] - strength[:, None, :], between(covariance)
        beyond = _evidence(wins, gap, covariance, variance, everybody) - log(THRESHOLD)
        if goal.within:
            distance = (np.abs(gap) + goal.within / POINTS) / np.sqrt(variance)
            beyond = np.maximum(beyond, distance - far_enough(everybody))
        ranked = np.where(playing, strength, -inf)
        needed = of_goal(goal, placed, ranked) & may & playing & playing[:, None]
        reached = np.where(needed, beyond, inf).min(axis=(1, 2))
        if n < everybody and goal.kind == "order":  # which needs the crowd's order too
            reached = np.full(len(truth), -1.0)
        clear = _clear(gap / np.sqrt(variance), ranked, playing)
        yield look, np.where(refuted, -1.0, np.vstack([reached, clear, beyond[:, first, second].T]))


def _set_apart(strengths: Strengths, goal: Goal, placed: int | None, playing: np.ndarray) -> np.ndarray:
    """Return which of those `playing` a goal sets apart from all others: the one placed, or the best."""
    if goal.kind == "placed":
        return np.asarray(playing & (np.arange(len(playing)) == placed))
    least = np.sort(strengths.rating[playing])[-goal.places :].min()
    return np.asarray(playing & (strengths.rating >= least))


def _usual(met: Floats, may: np.ndarray, total: float) -> Floats:
    """Return how often each pair meets in `total` matches that are paired as those played were."""
    spread = np.where(may, met, 0.0) + np.where(may, len(may) / max(may.sum(), 1), 0.0)
    return np.asarray(spread * (total / (spread.sum() / 2)))


def _clear(deviations: Floats, ranked: Floats, playing: np.ndarray) -> Floats:
    """Return how far each course's pick is beyond what makes it clear, against the closest of the others, in
    standard deviations; `deviations` are of the gaps between all players."""
    pick = ranked.argmax(axis=1)
    doubt = deviations[range(len(pick)), pick] - NormalDist().inv_cdf(1 - _CLEAR)
    others = playing & (np.arange(len(playing)) != pick[:, None])
    return np.asarray(np.where(others, doubt, inf).min(axis=1))


def _two_kinds(apart: np.ndarray, won: Floats, count: int, rng: np.random.Generator) -> Floats:
    """Return so many courses' strengths by which players set `apart` are equals, and so are all others, as
    far from each other as the matches between them say: odds by Jeffreys' prior, which says nothing."""
    up, down = won[apart][:, ~apart].sum() + 0.5, won[~apart][:, apart].sum() + 0.5
    gap = np.log(rng.gamma(up, size=count) / rng.gamma(down, size=count))
    return np.where(apart, gap[:, None], 0.0)


def _no_two_kinds(apart: np.ndarray, won: Floats, strength: Floats) -> bool:
    """Return whether results refute that players set `apart` are equals, and all others too; `strength` is
    the best fit. The statistic's distribution is as Wilson and Hilferty (1931) have it."""
    free = np.count_nonzero(won.any(axis=0) | won.any(axis=1)) - 2
    if free < 1:
        return False
    kind = np.stack([~apart, apart]) * 1.0
    between_kinds = kind @ won @ kind.T
    met = between_kinds + between_kinds.T
    two = (between_kinds * np.log(np.maximum(between_kinds, 1e-300) / np.maximum(met, 1e-300))).sum()
    one_kind = -(won * np.log1p(np.exp(strength - strength[:, None]))).sum()
    score = (max(2 * (one_kind - two), 0.0) / free) ** (1 / 3) - 1 + 2 / (9 * free)
    return bool(score > NormalDist().inv_cdf(1 - _UNLIKE) * (2 / (9 * free)) ** 0.5)


def _grouped(
    strengths: Strengths, goal: Goal, placed: int | None, pairs: Sequence[tuple[int, int]], may: np.ndarray
) -> np.ndarray:
    """Return each player's number where the crowd that matters least, the weakest or those furthest from the
    one to be placed, has one number, the last."""
    n = len(may)
    if n <= _CROWD + 1:
        return np.arange(n)
    far = -strengths.rating if placed is None else np.abs(strengths.rating - strengths.rating[placed])
    far = np.where(may.any(axis=0), far, inf)
    far[[player for pair in pairs for player in pair]] = -inf
    kept = np.sort(np.argsort(far, kind="stable")[:_CROWD])
    groups = np.full(n, _CROWD)
    groups[kept] = np.arange(_CROWD)
    return groups


def _so_far(evidence: Evidence) -> tuple[Floats, Floats]:
    """Return how often each player won against each other one, and how often they met: by weight, thinned by
    what hangs together, a pair of a ranking as the share of a match that it says."""
    n, duels = evidence.players, paired(evidence)
    won, met = np.zeros((n, n)), np.zeros((n, n))
    won[duels.a, duels.b], won[duels.b, duels.a] = duels.wins_a, duels.wins_b
    met[duels.a, duels.b] = met[duels.b, duels.a] = duels.wins_a + duels.wins_b + duels.ties
    ranked, source = pairings(evidence.rankings)
    if len(source):
        size = np.diff(evidence.rankings.game)[source]
        share = np.array([table_share(int(players)) for players in size]) * (size - 1) * ranked.weight
        np.add.at(won, (ranked.first, ranked.second), np.where(ranked.score == 1, share, 0.0))
        np.add.at(met, (ranked.first, ranked.second), share)
        np.add.at(met, (ranked.second, ranked.first), share)
    whole = np.arange(n)
    effect = design_effect(evidence, counted(duels, evidence.rankings, whole), whole)
    return won / effect, met / effect


def _fitted(wins: Floats, strength: Floats) -> tuple[Floats, Floats]:
    """Return strengths a step of Newton's method nearer to the fit of these wins, and their covariance."""
    met = wins + turned(wins)
    chance = 1 / (1 + np.exp(np.clip(strength[:, None, :] - strength[:, :, None], -60, 60)))
    slope = (wins - met * chance).sum(axis=2) - _HELD * strength
    inverse = np.linalg.inv(laplacian(met * chance * (1 - chance), _HELD))
    step = (inverse @ slope[..., None])[..., 0]
    longest = np.maximum(1.0, np.abs(step).max(axis=1, keepdims=True))
    return strength + step / longest, np.asarray(inverse)


def _spread(
    goal: Goal, placed: int | None, strength: Floats, covariance: Floats, may: np.ndarray, total: float
) -> Floats:
    """Return how many of `total` matches each pair gets under `adaptive`, both ways round."""
    tells = 1 / (2 * np.cosh((strength[:, :, None] - strength[:, None, :]) / 2)) ** 2
    left = covariance @ laplacian(needs(goal, placed, strength, covariance)) @ covariance
    worth = np.where(may, tells * between(left) / (1 + tells * between(covariance)), 0.0)
    worth = (worth / np.maximum(worth.max(axis=(1, 2), keepdims=True), 1e-300)) ** _GREED
    return np.asarray(total * worth / (worth.sum(axis=(1, 2), keepdims=True) / 2))


def _evidence(wins: Floats, gap: Floats, covariance: Floats, variance: Floats, players: int) -> Floats:
    """Return the log-evidence that the players of each pair are not equal, as `ratings.claims.proven`, in a
    table of so many `players`."""
    n = wins.shape[-1]
    met = wins + turned(wins)
    tells = 1 / (2 * np.cosh(gap / 2)) ** 2
    own = np.clip(met * tells * variance, 0.0, 1.0)
    bend = own * np.cosh(gap / 2) + (1 - own) * np.cosh(gap / 3)
    lost, wider = gap**2 / 2 / variance * bend, between(covariance @ covariance) / variance / bend
    known, more = laplacian(met * tells), (players - 1) / max(n - 1, 1)
    model = []
    for precision, part in zip(PRECISIONS.tolist(), PARTS.tolist(), strict=True):
        doubt = more * np.linalg.slogdet(known / precision + np.eye(n))[1] / 2
        model.append(lost / (1 + precision * wider) - doubt[:, None, None] + log(part))
    together = np.logaddexp.reduce(model, axis=0)
    best, worst = np.maximum(wins, turned(wins)) + 0.5, np.minimum(wins, turned(wins)) + 0.5
    direct = met * log(2) + _log_gamma(best) + _log_gamma(worst) - _log_gamma(best + worst) - log(np.pi)
    if players == 2:
        return np.asarray(direct)
    apart = direct + log((1 - TOGETHER) / comb(players, 2))
    return np.asarray(np.logaddexp(together + log(TOGETHER), apart))


def _log_gamma(x: Floats) -> Floats:
    """Stirling's series, within 0.02 from ½ on."""
    return np.asarray((x - 0.5) * np.log(x) - x + 0.919 + 1 / (12 * x))


def _summed(many: Floats, soon: float, played: int, per_match_usd: float | None) -> Further:
    """Return the range of courses that each need so many times the matches `played`; it begins at
    `soon`, if that is sooner."""
    ends = (1 - INSIDE, (1 - INSIDE) / 2, 0.5, (1 + INSIDE) / 2)
    open_least, least, about, most = (played * np.quantile(many, ends, method="inverted_cdf")).tolist()
    least = open_least if most == inf else least
    if about == 0:
        return Further(0, 0, 0, 0.0 if per_match_usd else None)
    least = min(least, played * soon)
    more = None if about == inf else two_digits(about)
    return Further(
        matches=more,
        at_least=two_digits(min(least, (HOPELESS - 1) * played), up=False),
        at_most=None if most == inf else two_digits(most),
        usd=None if more is None or per_match_usd is None else more * per_match_usd,
    )
