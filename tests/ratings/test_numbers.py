"""The numbers of every rating method, as they are in `numbers.json`: see `tests.recorded`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from io import BytesIO
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench.pairs import Pair, fit
from tests import recorded

from peerage.ratings import overall
from peerage.ratings.claims.proven import proof
from peerage.ratings.columns.history import Duels, duels, games, met_by_pair
from peerage.ratings.fits.bradley_terry import fit_duels
from peerage.ratings.methods import Method, MethodReport, Options, rate
from peerage.ratings.read.answers import Answers
from peerage.ratings.read.histories import Battles, PlayedGames
from peerage.ratings.read.results import read
from peerage.ratings.sequential.elo import DuelResult, EloSettings, EloState, fold, update
from peerage.ratings.sequential.elo_error import elo_error
from peerage.ratings.strength.evidence import of_duels
from peerage.ratings.strength.evidence import of_games as as_rankings
from peerage.ratings.table import quantile

FILE = Path(__file__).with_name("numbers.json")


def lines(rows: list[dict[str, Any]]) -> BytesIO:
    return BytesIO("".join([json.dumps(row) + "\n" for row in rows]).encode())


@cache
def battles(ties: float = 0.15, weighted: bool = False) -> Battles:
    rng = np.random.default_rng(11)
    truth = np.linspace(0.8, -0.8, 5)
    rows: list[dict[str, Any]] = []
    for at in range(150):
        a, b = rng.permutation(5)[:2].tolist()
        chance = 1 / (1 + np.exp(truth[b] - truth[a]))
        said = [
            "tie" if luck < ties else "model_a" if won < chance else "model_b"
            for luck, won in rng.random((2, 2))
        ]
        rows.append(
            {
                "model_a": f"m{a}",
                "model_b": f"m{b}",
                "winner": said[0],
                "judge": f"j{at % 12}",
                "question": f"q{at // 6}",
                "timestamp": at // 10 * 86400,
                "length_a": int(rng.integers(50, 900)),
                "length_b": int(rng.integers(50, 900)),
                "cost_a": (a + 1) / 100,
                "cost_b": (b + 2) / 100 if at % 20 else None,
                **({"weight": float(rng.integers(1, 5) / 2)} if weighted else {}),
            }
        )
    found = read([("b.jsonl", lines(rows))], labels=("judge", "question"), controls=("length",))
    assert isinstance(found, Battles)
    return found


@cache
def played() -> PlayedGames:
    """Games of three to five, with ties, teams of two, weights and dates."""
    rng = np.random.default_rng(12)
    rows = []
    for at in range(60):
        who = [f"p{one}" for one in rng.permutation(7)[: 3 + at % 3].tolist()]
        teams: list[Any] = [who[:2], *who[2:]] if at % 4 == 0 else who
        places = [int(one[1:]) + rng.normal(0, 3) for one in who][-len(teams) :]
        ranks = np.round(places).astype(int).tolist()
        rows.append({"players": teams, "ranks": ranks, "weight": 1 + at % 2, "timestamp": at // 5 * 86400})
    found = read([("g.jsonl", lines(rows))])
    assert isinstance(found, PlayedGames)
    return found


def answers() -> Answers:
    rng = np.random.default_rng(14)
    solved = rng.random((5, 12)) < 1 / (1 + np.exp(np.linspace(-2, 2, 12) - np.linspace(1.5, -1, 5)[:, None]))
    rows = [
        {"player": f"p{one}", "challenge": f"c{at}", "solved": bool(solved[one, at])}
        for one in range(5)
        for at in range(12)
        if (one + at) % 7
    ]
    found = read([("a.jsonl", lines(rows))])
    assert isinstance(found, Answers)
    return found


def apart() -> Duels:
    """Two groups that never meet, and one who always wins."""
    first, second = [0, 0, 1, 3, 3, 4, 3], [1, 1, 2, 4, 5, 5, 4]
    return duels(6, first, second, [1.0, 1.0, 0.5, 1.0, 0.5, 0.0, 0.0], [1.0, 2.0, 0.5, 1.0, 1.0, 1.5, 1.0])


def by(method: Method, **options: Any) -> Callable[[], Any]:
    return lambda: without_chances(rate(battles(), Options(method, **options)))


def of_games(method: Method, **options: Any) -> Callable[[], Any]:
    return lambda: without_chances(rate(played(), Options(method, **options)))


def without_chances(report: MethodReport) -> MethodReport:
    """Chances come from draws, which other releases of NumPy may make otherwise."""
    rows = [{key: value for key, value in row.items() if key != "best"} for row in report.rows]
    return replace(report, rows=tuple(rows))


def elo_tracks() -> Any:
    data = battles()
    history, costs = data.duels, data.costs
    assert costs is not None
    settings = EloSettings(24.0, 1400.0, 0.3, 40.0, 0.6)
    known = [None if cost != cost else cost for cost in costs[1].tolist()]
    columns = history.first.tolist(), history.second.tolist(), history.score.tolist(), costs[0].tolist()

    def after(state: EloState, result: DuelResult) -> EloState:
        return update(state, result, settings)

    states = [*accumulate(map(DuelResult, *columns, known), after, initial=fold(5, (), settings))]
    trail = np.array([(state.raw, state.cost) for state in states[1:]])
    met = met_by_pair(history, history.weight)
    return [
        trail[::30],
        trail[-1],
        elo_error(trail[-1, 0], met, settings),
        elo_error(trail[-1, 1], met, settings),
    ]


def shares() -> Any:
    found = [overall.shares_of(np.random.default_rng(seed).normal(size=(200, 5))) for seed in (1, 2)]
    whole = overall.combined(found, [1.0, 2.0])
    return [whole.share, whole.bounds, whole.best, whole.better, whole.gives_up(2)]


def gaps() -> Any:
    history, matches = battles(weighted=True).duels, np.arange(150)
    evidence = of_duels(history), of_duels(history, matches // 2), as_rankings(games(7, played().games))
    return [proof(each).round(6) for each in evidence]


CASES: recorded.Cases = {
    **{f"{method}": by(method) for method in ("bt", "elo", "trueskill", "glicko2")},
    "judge-aware of battles": by("judge-aware"),
    "weighted": lambda: without_chances(rate(battles(weighted=True), Options("bt"))),
    "no ties": lambda: without_chances(rate(battles(ties=0.0), Options("bt", ties="davidson"))),
    "ties davidson": by("bt", ties="davidson"),
    "one cluster": by("bt", cluster=("judge",)),
    "two clusters": by("bt", cluster=("judge", "question"), ties="davidson"),
    "controls": by("bt", controls=("length",), cluster=("judge",)),
    "controls alone": by("bt", controls=("length",), anchor="m3"),
    "elo, settings": by("elo", k=20.0, initial=1000.0),
    "elo of cost": by("elo", track="cost"),
    "glicko2, settings": by("glicko2", initial=1600.0),
    **{f"{method} of games": of_games(method) for method in ("bt", "trueskill")},
    **{f"{method} of games": of_games(method, seats="each") for method in ("elo", "glicko2")},
    "trueskill, settings": of_games("trueskill", draw_probability=0.2, k=2.0),
    "bt of games, each seat": of_games("bt", seats="each", ties="davidson"),
    "answers": lambda: rate(answers(), Options()),
    "apart": lambda: [fit_duels(apart(), ties=ties) for ties in ("half", "davidson")],
    "pairs": lambda: fit([Pair(0, 1, 3, 1, 2), Pair(1, 2, 4, 2, 0), Pair(2, 0, 1, 3, 0)], 3, ties="davidson"),
    "elo tracks": elo_tracks,
    "shares": shares,
    "gaps": gaps,
    "student": lambda: [[quantile(c, f) for f in (1, 2, 3, 6, 12, 40, 300)] for c in (0.5, 0.9, 0.95, 0.999)],
}


@pytest.mark.parametrize("case", CASES)
def test_numbers_are_as_they_were(case: str) -> None:
    recorded.check(FILE, case, CASES[case]())


if __name__ == "__main__":
    recorded.write(FILE, CASES)
