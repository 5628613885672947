"""Every rating method beside the field's packages: CPU seconds and error in one table, one process.

Data: 200 players, 10 % ties, 1,000,000 duels; 100,000 games of five. Seconds of CPU, children included, the
best of three of ours; compilation is shown apart. A peer too slow to wait for plays a part of the data, and
its time is scaled up (marked ~); `--full` plays it whole. A peer that is not installed is left out. Usage:
python -m bench.ratings [--full]
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from peerage.ratings import bradley_terry, glicko2, irt, trueskill, weng_lin
from peerage.ratings.history import Duels, Games, duels, free_for_all
from peerage.ratings.orders import elo
from peerage.ratings.resampling import bootstrap
from peerage.ratings.rows import fit_covariates

PLAYERS, ROWS, GAMES = 200, 1_000_000, 100_000


class Line(NamedTuple):
    """One row: ours against a peer. `error` is the largest difference, on the method's own scale."""

    work: str
    at_most: float
    ours: float
    compiling: float
    peer: str
    theirs: float
    scaled: bool
    error: float


def cpu() -> float:
    """Seconds of CPU that this process and its finished children have used."""
    return time.process_time() + sum(os.times()[2:4])


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    began = cpu()
    found = run()
    return cpu() - began, found


def best(run: Callable[[], Any]) -> tuple[float, float, Any]:
    """The quickest of three, the first call's seconds beyond it, and the result."""
    first, _ = timed(run)
    tries = [timed(run) for _ in range(3)]
    quickest = min(seconds for seconds, _ in tries)
    return quickest, max(first - quickest, 0.0), tries[-1][1]


def made_duels() -> Duels:
    rng = np.random.default_rng(1)
    truth = rng.normal(0, 1, PLAYERS)
    first = rng.integers(0, PLAYERS, ROWS)
    second = (first + rng.integers(1, PLAYERS, ROWS)) % PLAYERS
    won = rng.random(ROWS) < 1 / (1 + np.exp(truth[second] - truth[first]))
    return duels(PLAYERS, first, second, np.where(rng.random(ROWS) < 0.1, 0.5, won))


def made_games() -> Games:
    rng = np.random.default_rng(2)
    truth = rng.normal(25, 5, PLAYERS)
    seated = rng.integers(0, PLAYERS, (GAMES, 1)) + np.cumsum(
        rng.integers(1, PLAYERS // 5, (GAMES, 5)), axis=1
    )
    seated %= PLAYERS
    shown = np.round((truth[seated] + rng.normal(0, 4, seated.shape)) / 1.5)
    return free_for_all(PLAYERS, seated, -shown)


def lines(full: bool) -> Iterator[Line]:
    history, played = made_duels(), made_games()
    yield from _elo(history)
    yield from _bradley_terry(history, full)
    yield from _skills(history, played, full)
    yield from _glicko(history, full)
    yield from _responses(full)


def _rows(history: Duels, part: int) -> list[tuple[int, int, float]]:
    return list(
        zip(
            history.first[:part].tolist(),
            history.second[:part].tolist(),
            history.score[:part].tolist(),
            strict=True,
        )
    )


def _elo(history: Duels) -> Iterator[Line]:
    ours, compiling, table = best(lambda: elo(history, k_factor=4.0, initial=1000.0, orders=0).in_order)

    def fastchat() -> np.ndarray:
        """compute_elo of FastChat's elo_analysis.py, whose loop this is."""
        rating = dict.fromkeys(range(PLAYERS), 1000.0)
        for a, b, score in rows:
            ra, rb = rating[a], rating[b]
            ea = 1 / (1 + 10 ** ((rb - ra) / 400))
            eb = 1 / (1 + 10 ** ((ra - rb) / 400))
            rating[a] += 4 * (score - ea)
            rating[b] += 4 * (1 - score - eb)
        return np.array([rating[i] for i in range(PLAYERS)])

    rows = _rows(history, ROWS)
    theirs, found = timed(fastchat)
    yield Line("Elo, 1 M", 0.03, ours, compiling, "FastChat's way", theirs, False, _gap(table, found))
    evalica = _installed("evalica")
    if evalica:
        words = _words(evalica, history)
        theirs, found = timed(lambda: evalica.elo(*words, initial=1000.0, k=4.0).scores)
        found = found.sort_index().to_numpy()
        yield Line("Elo, 1 M", 0.03, ours, compiling, "evalica", theirs, False, _gap(table, found))


def _bradley_terry(history: Duels, full: bool) -> Iterator[Line]:
    work = "Bradley-Terry + sandwich, 1 M"
    ours, compiling, table = best(lambda: bradley_terry.fit_duels(history))
    evalica, arena = _installed("evalica"), _installed("arena_rank")
    if evalica:
        words = _words(evalica, history)
        theirs, found = timed(lambda: evalica.bradley_terry(*words, tolerance=1e-10, limit=10_000).scores)
        found = _centred(400 * np.log10(found.sort_index().to_numpy()))
        yield Line(
            work, 0.03, ours, compiling, "evalica, no intervals", theirs, False, _gap(table.rating, found)
        )
    if arena:
        theirs, found = timed(lambda: _arena_rank(history))
        yield Line(work, 0.03, ours, compiling, "arena-rank", theirs, False, _gap(table.rating, found))
    sklearn = _installed("sklearn")
    if not sklearn:
        return
    draws = 100
    ours, compiling, _ = best(lambda: bootstrap(history, draws=draws))
    few = draws if full else 5
    theirs, found = timed(lambda: _fastchat_bootstraps(history, few))
    error = _gap(table.rating, found)
    yield Line(
        "Bradley-Terry, 100 bootstraps, 1 M",
        0.6,
        ours,
        compiling,
        "FastChat's way",
        theirs * draws / few,
        not full,
        error,
    )
    controls = np.random.default_rng(3).normal(size=(ROWS, 4))
    ours, compiling, table = best(lambda: fit_covariates(history, controls, list("abcd")))
    part = ROWS if full else ROWS // 10
    theirs, _ = timed(lambda: _fastchat_style(history, controls, part))
    yield Line(
        "Bradley-Terry, 4 covariates, 1 M",
        0.3,
        ours,
        compiling,
        "FastChat's way",
        theirs * ROWS / part,
        part < ROWS,
        math.nan,
    )


def _skills(history: Duels, played: Games, full: bool) -> Iterator[Line]:
    settings = trueskill.TrueSkillSettings()
    package, openskill = _installed("trueskill"), _installed("openskill.models")
    ours, compiling, _ = best(lambda: trueskill.rate_duels(history, settings))
    part = ROWS if full else 2_000
    short = duels(PLAYERS, history.first[:part], history.second[:part], history.score[:part])
    small = trueskill.rate_duels(short, settings).mu
    if package:
        env = package.TrueSkill()

        def their_duels() -> np.ndarray:
            rating = [env.create_rating() for _ in range(PLAYERS)]
            for a, b, score in _rows(history, part):
                if score == 0:
                    a, b = b, a
                rating[a], rating[b] = env.rate_1vs1(rating[a], rating[b], drawn=score == 0.5)
            return np.array([r.mu for r in rating])

        theirs, found = timed(their_duels)
        scale, cut = ROWS / part, part < ROWS
        yield Line(
            "TrueSkill, two players, 1 M",
            0.06,
            ours,
            compiling,
            "trueskill",
            theirs * scale,
            cut,
            _gap(small, found),
        )
    ours, compiling, _ = best(lambda: trueskill.rate(played, settings))
    part = GAMES if full else 300
    seated, ranks = played.seat.reshape(-1, 5)[:part], played.rank.reshape(-1, 5)[:part]
    few = free_for_all(PLAYERS, seated, ranks)
    if package:

        def their_games() -> np.ndarray:
            rating = [env.create_rating() for _ in range(PLAYERS)]
            for seats, places in zip(seated.tolist(), ranks.tolist(), strict=True):
                after = env.rate([(rating[i],) for i in seats], ranks=places)
                for i, (new,) in zip(seats, after, strict=True):
                    rating[i] = new
            return np.array([r.mu for r in rating])

        theirs, found = timed(their_games)
        error = _gap(trueskill.rate(few, settings).mu, found)
        scale, cut = GAMES / part, part < GAMES
        yield Line(
            "TrueSkill, 5 players with ties, 100 k",
            0.35,
            ours,
            compiling,
            "trueskill",
            theirs * scale,
            cut,
            error,
        )
    if openskill:
        ours, compiling, _ = best(lambda: weng_lin.rate(played))
        model = openskill.PlackettLuce()

        def their_plackett_luce() -> np.ndarray:
            rating = [model.rating() for _ in range(PLAYERS)]
            for seats, places in zip(seated.tolist(), ranks.tolist(), strict=True):
                after = model.rate([[rating[i]] for i in seats], ranks=places)
                for i, (new,) in zip(seats, after, strict=True):
                    rating[i] = new
            return np.array([r.mu for r in rating])

        theirs, found = timed(their_plackett_luce)
        error = _gap(weng_lin.rate(few).mu, found)
        scale, cut = GAMES / part, part < GAMES
        yield Line(
            "Plackett-Luce, 5 players, 100 k",
            math.nan,
            ours,
            compiling,
            "openskill",
            theirs * scale,
            cut,
            error,
        )


def _glicko(history: Duels, full: bool) -> Iterator[Line]:
    package = _installed("glicko2")
    bounds = glicko2.even_periods(history)
    ours, compiling, _ = best(lambda: glicko2.rate(history, bounds=bounds))
    if not package:
        return
    part = ROWS if full else 30_000
    short = duels(PLAYERS, history.first[:part], history.second[:part], history.score[:part])
    edges = glicko2.even_periods(short)

    def theirs() -> np.ndarray:
        players = [package.Player() for _ in range(PLAYERS)]
        rows = _rows(short, part)
        for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            met: list[tuple[list[float], list[float], list[float]]] = [([], [], []) for _ in players]
            for a, b, score in rows[low:high]:
                for own, other, got in ((a, b, score), (b, a, 1 - score)):
                    met[own][0].append(players[other].rating)
                    met[own][1].append(players[other].rd)
                    met[own][2].append(got)
            for player, lists in zip(players, met, strict=True):
                player.update_player(*lists) if lists[0] else player.did_not_compete()
        return np.array([player.rating for player in players])

    seconds, found = timed(theirs)
    error = _gap(np.array(glicko2.rate(short, bounds=edges).rating), found)
    yield Line("Glicko-2, 1 M", 0.4, ours, compiling, "glicko2", seconds * ROWS / part, part < ROWS, error)


def _responses(full: bool) -> Iterator[Line]:
    girth = _installed("girth")
    rng = np.random.default_rng(5)
    theta, b, a = rng.normal(size=1000), rng.normal(size=200), np.exp(rng.normal(0, 0.3, 200))
    answers = (rng.random((1000, 200)) < 1 / (1 + np.exp(-a * (theta[:, None] - b)))).astype(float)
    ours, compiling, fitted = best(lambda: irt.fit(answers))
    if girth:
        theirs, found = timed(lambda: girth.twopl_mml(answers.T.astype(int)))
        error = _gap(fitted.difficulty, found["Difficulty"])
        yield Line("2PL IRT, 1000 x 200", 1.5, ours, compiling, "girth", theirs, False, error)


def _arena_rank(history: Duels) -> np.ndarray:
    import pandas
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    words = {1.0: "model_a", 0.0: "model_b", 0.5: "tie"}
    frame = pandas.DataFrame(
        {
            "model_a": history.first,
            "model_b": history.second,
            "winner": [words[score] for score in history.score.tolist()],
        }
    )
    data = PairDataset.from_pandas(frame)
    found = BradleyTerry(n_competitors=PLAYERS).compute_ratings_and_cis(data)
    return _centred(
        np.array([dict(zip(found["competitors"], found["ratings"], strict=True))[i] for i in range(PLAYERS)])
    )


def _fastchat_bootstraps(history: Duels, draws: int) -> np.ndarray:
    """compute_bootstrap_bt of FastChat: unique rows counted, resampled, and a logistic regression each."""
    from scipy.optimize import minimize
    from scipy.special import expit

    rows, counts = np.unique(
        np.column_stack([history.first, history.second, (history.score * 2).astype(np.int64)]),
        axis=0,
        return_counts=True,
    )
    a, b, score = rows[:, 0], rows[:, 1], rows[:, 2] / 2
    rng = np.random.default_rng(0)

    def fit(weight: np.ndarray) -> np.ndarray:
        def loss(rating: np.ndarray) -> tuple[float, np.ndarray]:
            chance = expit(rating[a] - rating[b])
            value = -float(weight @ (score * np.log(chance) + (1 - score) * np.log1p(-chance)))
            slope = weight * (chance - score)
            return value, np.bincount(a, slope, PLAYERS) - np.bincount(b, slope, PLAYERS)

        return np.asarray(
            minimize(loss, np.zeros(PLAYERS), jac=True, method="L-BFGS-B", options={"gtol": 1e-6}).x
        )

    for _ in range(draws - 1):
        fit(rng.multinomial(ROWS, counts / ROWS).astype(float))
    return _centred(fit(counts.astype(float)) * 400 / math.log(10))


def _fastchat_style(history: Duels, controls: np.ndarray, part: int) -> np.ndarray:
    """compute_style_control of FastChat: L-BFGS over all rows."""
    from scipy.optimize import minimize
    from scipy.special import expit

    a, b, score, z = history.first[:part], history.second[:part], history.score[:part], controls[:part]

    def loss(point: np.ndarray) -> tuple[float, np.ndarray]:
        chance = expit(point[a] - point[b] + z @ point[PLAYERS:])
        value = -float((score * np.log(chance) + (1 - score) * np.log1p(-chance)).sum())
        slope = chance - score
        players = np.bincount(a, slope, PLAYERS) - np.bincount(b, slope, PLAYERS)
        return value, np.concatenate([players, z.T @ slope])

    return np.asarray(minimize(loss, np.zeros(PLAYERS + 4), jac=True, method="L-BFGS-B").x)


def _words(evalica: Any, history: Duels) -> tuple[list[int], list[int], list[Any]]:
    words = {1.0: evalica.Winner.X, 0.0: evalica.Winner.Y, 0.5: evalica.Winner.Draw}
    return history.first.tolist(), history.second.tolist(), [words[score] for score in history.score.tolist()]


def _centred(rating: np.ndarray) -> np.ndarray:
    return np.asarray(rating - rating.mean() + 1500)


def _gap(ours: np.ndarray, theirs: np.ndarray) -> float:
    return float(np.abs(ours - theirs).max())


def _installed(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def main(full: bool = False) -> None:
    print("| work | at most s | ours s | compiling s | beside | theirs s | ratio | largest difference |")
    print("|---|--:|--:|--:|---|--:|--:|--:|")
    for line in lines(full):
        bound = "" if math.isnan(line.at_most) else f"{line.at_most:g}"
        error = "" if math.isnan(line.error) else f"{line.error:.1e}"
        theirs = f"{'~' if line.scaled else ''}{line.theirs:.3g}"
        print(
            f"| {line.work} | {bound} | {line.ours:.3f} | {line.compiling:.1f} | {line.peer} | {theirs} "
            f"| {line.theirs / line.ours:.0f} | {error} |",
            flush=True,
        )


if __name__ == "__main__":
    main("--full" in sys.argv[1:])
