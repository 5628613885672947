"""The field's packages and ways, as `bench.ratings` calls them."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from peerage.ratings.columns.history import Duels, duels


def arena_rank(history: Duels) -> np.ndarray:
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
    found = BradleyTerry(n_competitors=history.players).compute_ratings_and_cis(data)
    return centred(
        np.array(
            [
                dict(zip(found["competitors"], found["ratings"], strict=True))[i]
                for i in range(history.players)
            ]
        )
    )


def fastchat_style(history: Duels, controls: np.ndarray, part: int) -> np.ndarray:
    """compute_style_control of FastChat: L-BFGS over all rows."""
    from scipy.optimize import minimize
    from scipy.special import expit

    a, b, score, z = history.first[:part], history.second[:part], history.score[:part], controls[:part]

    def loss(point: np.ndarray) -> tuple[float, np.ndarray]:
        chance = expit(point[a] - point[b] + z @ point[history.players :])
        value = -float((score * np.log(chance) + (1 - score) * np.log1p(-chance)).sum())
        slope = chance - score
        players = np.bincount(a, slope, history.players) - np.bincount(b, slope, history.players)
        return value, np.concatenate([players, z.T @ slope])

    return np.asarray(minimize(loss, np.zeros(history.players + 4), jac=True, method="L-BFGS-B").x)


def words(evalica: Any, history: Duels) -> tuple[list[int], list[int], list[Any]]:
    words = {1.0: evalica.Winner.X, 0.0: evalica.Winner.Y, 0.5: evalica.Winner.Draw}
    return history.first.tolist(), history.second.tolist(), [words[score] for score in history.score.tolist()]


def centred(rating: np.ndarray) -> np.ndarray:
    return np.asarray(rating - rating.mean() + 1500)


def gap(ours: np.ndarray, theirs: np.ndarray) -> float:
    return float(np.abs(ours - theirs).max())


def installed(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def listed(history: Duels) -> list[tuple[int, int, float]]:
    """A history as the rows that Python packages loop over."""
    columns = history.first.tolist(), history.second.tolist(), history.score.tolist()
    return list(zip(*columns, strict=True))


def fastchat_elo(players: int, rows: list[tuple[int, int, float]]) -> np.ndarray:
    """compute_elo of FastChat's elo_analysis.py: the same loop."""
    rating = dict.fromkeys(range(players), 1000.0)
    for a, b, score in rows:
        ra, rb = rating[a], rating[b]
        ea = 1 / (1 + 10 ** ((rb - ra) / 400))
        eb = 1 / (1 + 10 ** ((ra - rb) / 400))
        rating[a] += 4 * (score - ea)
        rating[b] += 4 * (1 - score - eb)
    return np.array([rating[i] for i in range(players)])


def trueskill_duels(package: Any, history: Duels) -> np.ndarray:
    """mu after each duel by `rate_1vs1`."""
    env = package.TrueSkill()
    rating = [env.create_rating() for _ in range(history.players)]
    for a, b, score in listed(history):
        if score == 0:
            a, b = b, a
        rating[a], rating[b] = env.rate_1vs1(rating[a], rating[b], drawn=score == 0.5)
    return np.array([r.mu for r in rating])


def trueskill_games(package: Any, players: int, seated: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """mu after games between single players, by `rate`."""
    env = package.TrueSkill()
    rating = [env.create_rating() for _ in range(players)]
    for seats, places in zip(seated.tolist(), ranks.tolist(), strict=True):
        after = env.rate([(rating[i],) for i in seats], ranks=places)
        for i, (new,) in zip(seats, after, strict=True):
            rating[i] = new
    return np.array([r.mu for r in rating])


def openskill_games(model: Any, players: int, seated: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """mu after games between single players, by a model of openskill."""
    rating = [model.rating() for _ in range(players)]
    for seats, places in zip(seated.tolist(), ranks.tolist(), strict=True):
        after = model.rate([[rating[i]] for i in seats], ranks=places)
        for i, (new,) in zip(seats, after, strict=True):
            rating[i] = new
    return np.array([r.mu for r in rating])


def glicko2_periods(package: Any, history: Duels, edges: np.ndarray) -> np.ndarray:
    """Ratings after rating periods with these edges."""
    players = [package.Player() for _ in range(history.players)]
    rows = listed(history)
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


def leaderbot_votes() -> Duels | None:
    """The votes that leaderbot's wheel counts by pair, both kinds of tie included, in a seeded order."""
    data = installed("leaderbot.data")
    if data is None:
        return None
    found = data.load(tie="both")
    pairs, counts = np.array(found["X"]), np.array(found["Y"], np.int64)
    rows = np.repeat(np.arange(len(pairs)), counts.sum(axis=1))
    score = np.repeat(np.tile([1.0, 0.0, 0.5], len(pairs)), counts.ravel())
    order = np.random.default_rng(4).permutation(len(rows))
    a, b = pairs[rows[order]].T
    return duels(len(found["models"]), a, b, score[order])
