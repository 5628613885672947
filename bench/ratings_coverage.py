"""How often do the intervals hold the truth? The table in docs/ratings.md, remade.

Usage: python -m bench.ratings_coverage [HISTORIES [PART-OF-A-NAME]]; 2,000 of each kind take some minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from peerage.ratings.columns.history import Duels, as_games, duels, free_for_all
from peerage.ratings.fits.bradley_terry import fit_duels
from peerage.ratings.fits.regression import fit_clustered
from peerage.ratings.fits.tie_models import Ties
from peerage.ratings.sequential import glicko2, trueskill
from peerage.ratings.table import POINTS, Z95

Rng = np.random.Generator


def meet(rng: Rng, truth: np.ndarray, rows: int, tie: float = 0.0, lean: np.ndarray | None = None) -> Duels:
    """Duels between random pairs; with `tie`, results are Davidson's with that nu."""
    n = len(truth)
    first = rng.integers(0, n, rows)
    second = (first + rng.integers(1, n, rows)) % n
    gap = truth[first] - truth[second] + (0 if lean is None else lean)
    win, loss = np.exp(gap / 2), np.exp(-gap / 2)
    draw = rng.random(rows) * (win + loss + tie)
    return duels(n, first, second, np.where(draw < win, 1.0, np.where(draw < win + loss, 0.0, 0.5)))


def equals_who_draw(rng: Rng, players: int, rows: int, draws: float, edge: float = 0.5) -> Duels:
    """Duels of which that share are draws; of the others the first player of a pair wins `edge`."""
    first = rng.integers(0, players, rows)
    second = (first + rng.integers(1, players, rows)) % players
    won = np.where(rng.random(rows) < draws, 0.5, 1.0 * (rng.random(rows) < edge))
    return duels(players, first, second, won)


def covered(table: object, truth: np.ndarray, players: slice = slice(None)) -> float:
    centred = 1500 + (truth - truth.mean()) * POINTS
    inside = (table.lower <= centred) & (centred <= table.upper)  # type: ignore[attr-defined]
    return float(inside[players].mean())


def plain(rng: Rng, players: int, rows: int) -> float:
    truth = rng.normal(0, 0.8, players)
    return covered(fit_duels(meet(rng, truth, rows)), truth)


def with_ties(rng: Rng, ties: Ties) -> float:
    truth = rng.normal(0, 0.8, 20)
    return covered(fit_duels(meet(rng, truth, 3000, tie=0.5), ties=ties), truth)


def newcomer(rng: Rng) -> float:
    """150 battles of one among a million of the others, as counts."""
    truth = np.append(rng.normal(0, 0.8, 40), 0.4)
    a, b = np.triu_indices(40, 1)
    met = np.full(len(a), 1_000_000 // len(a))
    won = rng.binomial(met, 1 / (1 + np.exp(truth[b] - truth[a])))
    foe = rng.integers(0, 40, 150)
    score = rng.random(150) < 1 / (1 + np.exp(truth[foe] - truth[40]))
    history = duels(
        41,
        np.concatenate([a, a, np.full(150, 40)]),
        np.concatenate([b, b, foe]),
        np.concatenate([np.ones(len(a)), np.zeros(len(a)), score]),
        None,
    )
    counts = np.concatenate([won, met - won, np.ones(150)]).astype(np.int64)
    return covered(fit_duels(_counted(history, counts)), truth, slice(40, 41))


def _counted(history: Duels, counts: np.ndarray) -> Duels:
    rows = np.repeat(np.arange(len(counts)), counts)
    return duels(history.players, history.first[rows], history.second[rows], history.score[rows])


def by_trueskill(rng: Rng, players: int, rows: int, seats: int = 2) -> float:
    """Skills against their mean, of strengths of standard deviation 0.8 log-odds; tables are as by Plackett
    and Luce."""
    truth, settings = rng.normal(0, 0.8, players), trueskill.TrueSkillSettings(draw_probability=0.0)
    if seats == 2:
        table = trueskill.rate(as_games(meet(rng, truth, rows)), settings)
    else:
        seated = rng.random((rows, players)).argsort(axis=1)[:, :seats]
        rank = (-truth[seated] - rng.gumbel(size=seated.shape)).argsort(axis=1).argsort(axis=1)
        table = trueskill.rate(free_for_all(players, seated, rank), settings)
    gap = (truth - truth.mean()) * settings.beta * 2**0.5 / 1.702  # the normal nearest to a logistic
    return float((np.abs(table.mu - table.mu.mean() - gap) <= Z95 * table.sigma).mean())


def by_glicko2(rng: Rng) -> float:
    truth = rng.normal(0, 0.8, 20)
    history = meet(rng, truth, 2000)
    table = glicko2.rate(history, bounds=glicko2.even_periods(history))
    centred = (truth - truth.mean()) * POINTS + np.mean([row.rating for row in table.rows])
    return float(np.mean([row.lower <= at <= row.upper for row, at in zip(table.rows, centred, strict=True)]))


def clusters(rng: Rng, method: Callable[[Duels, np.ndarray], object]) -> float:
    """300 questions of 10 battles each; each question suits some players better than others."""
    truth = rng.normal(0, 0.8, 12)
    question = np.repeat(np.arange(300), 10)
    taste = rng.normal(0, 0.8, (300, 12))
    first = np.repeat(rng.integers(0, 12, 300), 10)
    second = np.repeat((first[::10] + rng.integers(1, 12, 300)) % 12, 10)
    gap = truth[first] - truth[second] + taste[question, first] - taste[question, second]
    score = (rng.random(3000) < 1 / (1 + np.exp(-gap))).astype(float)
    # the taste of a question flattens the average curve: the truth is what endless questions would show
    shrunk = truth / np.sqrt(1 + 2 * 0.8**2 * 0.346)
    return covered(method(duels(12, first, second, score), question), shrunk)


KINDS: dict[str, Callable[[Rng], float]] = {
    "20 players, 2,000 battles": lambda rng: plain(rng, 20, 2000),
    "20 players, 400 battles": lambda rng: plain(rng, 20, 400),
    "5 players, 100 battles": lambda rng: plain(rng, 5, 100),
    "ties, Davidson": lambda rng: with_ties(rng, "davidson"),
    "a newcomer with 150 among a million": newcomer,
    "TrueSkill, mu ± 1.96 sigma, 20 players, 2,000 battles": lambda rng: by_trueskill(rng, 20, 2000),
    "TrueSkill, mu ± 1.96 sigma, 20 players, 400 battles": lambda rng: by_trueskill(rng, 20, 400),
    "TrueSkill, mu ± 1.96 sigma, 10 players, 100 tables of four": lambda rng: by_trueskill(rng, 10, 100, 4),
    "Glicko-2, 20 players, 2,000 battles": by_glicko2,
    "questions of 10 battles, intervals clustered": lambda rng: clusters(rng, fit_clustered),
    "questions of 10 battles, intervals not clustered": lambda rng: clusters(rng, lambda h, _: fit_duels(h)),
}


def of_draws(histories: int) -> None:
    """How often intervals of equals hold, by players, matches and share of draws."""
    shares = (0.5, 0.7, 0.9, 0.95, 0.98, 1.0)
    print(f"\n| players | matches | {' | '.join(f'{draws:.0%} draws' for draws in shares)} |")
    print(f"|--:|--:|{'--:|' * len(shares)}")
    for players in (2, 4, 8):
        for rows in (20, 50, 100, 200):
            held = [
                np.mean(
                    [
                        covered(fit_duels(equals_who_draw(rng, players, rows, draws)), np.zeros(players))
                        for rng in map(np.random.default_rng, range(histories))
                    ]
                )
                for draws in shares
            ]
            print(f"| {players} | {rows} | {' | '.join(f'{share:.1%}' for share in held)} |", flush=True)


def main() -> None:
    histories = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print(f"| 95% intervals over {histories:,} histories | hold the truth | ± |\n|---|--:|--:|")
    for name, kind in KINDS.items():
        if len(sys.argv) > 2 and sys.argv[2] not in name:
            continue
        held = np.array([kind(np.random.default_rng([7, seed])) for seed in range(histories)])
        print(f"| {name} | {held.mean():.1%} | {held.std() / np.sqrt(histories):.1%} |", flush=True)
    if len(sys.argv) < 3 or sys.argv[2] in "draws":
        of_draws(histories)


if __name__ == "__main__":
    main()
