"""Weng-Lin within 1e-12 of OpenSkill."""

from __future__ import annotations

import random
from typing import Literal

import numpy as np
import pytest

from peerage.ratings import weng_lin as ours
from peerage.ratings.compiled import installed
from peerage.ratings.history import Game, free_for_all, games
from peerage.ratings.trueskill import TrueSkillSettings, TrueSkillTable
from peerage.ratings.weng_lin import WengLinSettings, rate


@pytest.mark.parametrize("model", ["plackett-luce", "bradley-terry"])
def test_openskill_agrees(model: Literal["plackett-luce", "bradley-terry"]) -> None:
    from openskill import models

    theirs = {"plackett-luce": models.PlackettLuce, "bradley-terry": models.BradleyTerryFull}[model]()
    rng = random.Random(2)
    for _ in range(40):
        sizes = [rng.choice([1, 1, 2, 3]) for _ in range(rng.randint(2, 6))]
        bounds = np.cumsum([0, *sizes]).tolist()
        teams = tuple(tuple(range(a, a + size)) for a, size in zip(bounds, sizes, strict=False))
        ranks = tuple(rng.randint(1, 3) for _ in sizes)
        mu = [rng.gauss(25, 6) for _ in range(bounds[-1])]
        sigma = [rng.uniform(1, 9) for _ in range(bounds[-1])]
        rated = theirs.rate(
            [[theirs.rating(mu[i], sigma[i]) for i in team] for team in teams], ranks=list(map(float, ranks))
        )
        start = TrueSkillTable(TrueSkillSettings(), np.array(mu), np.array(sigma), np.zeros(len(mu)))
        table = rate(games(len(mu), [Game(teams, ranks)]), WengLinSettings(model=model), start)
        for team, after in zip(teams, rated, strict=True):
            for player, rating in zip(team, after, strict=True):
                assert table.mu[player] == pytest.approx(rating.mu, abs=1e-12)
                assert table.sigma[player] == pytest.approx(rating.sigma, abs=1e-12)


@pytest.mark.skipif(not installed(), reason="Numba is not installed")
def test_numba_agrees(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    seated = np.stack([rng.permutation(9)[:4] for _ in range(50)])
    played = free_for_all(9, seated, rng.integers(0, 4, (50, 4)))
    plain = rate(played)
    monkeypatch.setattr(ours, "_LONG", 1)
    assert rate(played).mu == pytest.approx(plain.mu, abs=1e-11)


def test_weights_and_shares_scale_the_step() -> None:
    whole = rate(games(2, [Game(((0,), (1,)), (1, 2))])).mu[0] - 25
    half = rate(games(2, [Game(((0,), (1,)), (1, 2), weight=0.5)])).mu[0] - 25
    part = rate(games(2, [Game(((0,), (1,)), (1, 2), ((0.5,), (1.0,)))])).mu[0] - 25
    assert half == pytest.approx(whole / 2)
    assert part == pytest.approx(whole / 2)


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="beta is 0"):
        WengLinSettings(beta=0)
    with pytest.raises(ValueError, match="model is 'x'"):
        WengLinSettings(model="x")  # type: ignore[arg-type]
