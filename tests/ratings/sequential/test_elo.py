"""Elo on two tracks: against a twin written straight from the formulas, and its rules at the edges."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from peerage.ratings.columns.compiled import installed, kernel
from peerage.ratings.columns.history import duels
from peerage.ratings.sequential import elo
from peerage.ratings.sequential import elo_kernels as kernels
from peerage.ratings.sequential.elo import DuelResult, EloSettings, EloState

PLAIN = EloSettings(propagation_width=None)


def history(players: int, many: int, seed: int = 1) -> list[DuelResult]:
    rng = random.Random(seed)
    results = []
    for _ in range(many):
        a, b = rng.sample(range(players), 2)
        cost_a = None if rng.random() < 0.1 else rng.random()
        results.append(DuelResult(a, b, rng.choice([0.0, 0.5, 1.0]), cost_a, rng.random()))
    return results


def adjusted(score: float, cost: float, other: float, tau: float) -> tuple[float, float]:
    """Both contestants' scores after their costs."""
    return (
        kernels.adjusted_score(score, cost, other, tau),
        kernels.adjusted_score(1 - score, other, cost, tau),
    )


def twin(players: int, results: list[DuelResult], settings: EloSettings) -> EloState:
    """UNER stages 6 and 7 as they are printed, one sum at a time."""

    def expect(own: float, other: float) -> float:
        return 1 / (1 + 10 ** ((other - own) / 400))

    raw, cost = [settings.initial] * players, [settings.initial] * players
    for r in results:
        change_raw, change_cost = [0.0] * players, [0.0] * players
        change_raw[r.a] = settings.k_factor * (r.score - expect(raw[r.a], raw[r.b]))
        change_raw[r.b] = settings.k_factor * (1 - r.score - expect(raw[r.b], raw[r.a]))
        if r.cost_a is not None and r.cost_b is not None:
            a, b = adjusted(r.score, r.cost_a, r.cost_b, settings.cost_sensitivity)
            change_cost[r.a] = settings.k_factor * (a - expect(cost[r.a], cost[r.b]))
            change_cost[r.b] = settings.k_factor * (b - expect(cost[r.b], cost[r.a]))
        if settings.propagation_width is not None:
            before = list(cost)
            for ratings, change in ((raw, change_raw), (cost, change_cost)):
                for m in range(players):
                    row = [
                        math.exp(-((before[m] - before[n]) ** 2) / (2 * settings.propagation_width**2))
                        for n in range(players)
                    ]
                    spread = sum(g * c for g, c in zip(row, change, strict=True)) / sum(row)
                    share = settings.propagation_share
                    ratings[m] += (1 - share) * change[m] + share * spread
        else:
            raw = [r + c for r, c in zip(raw, change_raw, strict=True)]
            cost = [r + c for r, c in zip(cost, change_cost, strict=True)]
    return EloState(tuple(raw), tuple(cost))


@pytest.mark.parametrize("width", [None, 20.0, 50.0])
@pytest.mark.parametrize("share", [0.5, 1.0])
def test_fold_follows_the_printed_formulas(width: float | None, share: float) -> None:
    settings = EloSettings(propagation_width=width, propagation_share=share)
    results = history(7, 300)
    ours, theirs = elo.fold(7, results, settings), twin(7, results, settings)
    assert ours.raw == pytest.approx(theirs.raw, abs=1e-9)
    assert ours.cost == pytest.approx(theirs.cost, abs=1e-9)


def test_one_by_one_in_batches_and_at_once_give_the_same_bits() -> None:
    settings, results = EloSettings(), history(9, 400)
    at_once = elo.fold(9, results, settings)
    state = elo.fold(9, (), settings)
    for result in results:
        state = elo.update(state, result, settings)
    batched = elo.fold(9, results[150:], settings, elo.fold(9, results[:150], settings))
    assert state == batched == at_once


@pytest.mark.skipif(not installed(), reason="Numba is not installed")
@pytest.mark.parametrize("width", [None, 50.0])
def test_numba_gives_the_same_bits(width: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    settings, results = EloSettings(propagation_width=width), history(23, 500)
    monkeypatch.setattr(elo, "ready", lambda module: False)
    plain = elo.fold(23, results, settings)
    monkeypatch.setattr(elo, "repays_compiling", lambda duels, players: True)
    assert kernel(kernels.elo_fold, long=True) is not kernels.elo_fold
    assert elo.fold(23, results, settings) == plain


def test_a_new_arena_moves_although_everybody_stands_at_one_place() -> None:
    win = DuelResult(0, 1, 1.0, 0.0, 0.0)
    to_the_letter = elo.update(elo.fold(4, (), PLAIN), win, EloSettings(propagation_share=1.0))
    ours = elo.update(elo.fold(4, (), PLAIN), win, EloSettings())
    assert to_the_letter.raw == (1500.0,) * 4
    assert ours.raw == (1504.0, 1496.0, 1500.0, 1500.0)


def test_bystanders_near_a_contestant_move_with_it_and_far_ones_do_not() -> None:
    state = EloState((1500.0,) * 4, (1500.0, 1900.0, 1510.0, 2900.0))
    after = elo.update(state, DuelResult(0, 1, 1.0, 1.0, 1.0), EloSettings())
    assert 1501.5 < after.raw[2] < 1508.0
    assert after.raw[3] == 1500.0


def test_the_cost_pool_sinks() -> None:
    results = history(5, 50)
    known = sum(r.cost_a is not None for r in results)
    assert sum(elo.fold(5, results, PLAIN).cost) == pytest.approx(5 * 1500 - known * 16 * 0.2)


def test_adjusted_scores_by_hand() -> None:
    assert adjusted(1.0, 1.0, 3.0, 0.2) == pytest.approx((0.95, -0.15))
    assert adjusted(0.0, 0.0, 0.0, 0.2) == pytest.approx((-0.1, 0.9))


def test_duels_alone_are_the_raw_track() -> None:
    results = history(5, 300)
    columns = zip(*[(r.a, r.b, r.score) for r in results], strict=True)
    alone = elo.in_order(duels(5, *columns), PLAIN)
    assert alone == pytest.approx(elo.fold(5, results, PLAIN).raw, abs=1e-9)


def test_a_weight_scales_k_and_zero_is_nothing() -> None:
    halved = elo.in_order(duels(2, [0], [1], [1], [0.5]), PLAIN)
    assert halved == pytest.approx(elo.in_order(duels(2, [0], [1], [1]), replace(PLAIN, k_factor=8.0)))
    assert elo.in_order(duels(2, [0], [1], [1], [0]), PLAIN).tolist() == [1500, 1500]


@pytest.mark.skipif(not installed(), reason="Numba is not installed")
def test_numba_gives_the_same_bits_of_duels_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(4)
    pairs = [rng.sample(range(5), 2) for _ in range(300)]
    played = duels(5, *zip(*pairs, strict=True), [rng.random() for _ in pairs])
    plain = elo.in_order(played, PLAIN)
    monkeypatch.setattr(elo, "_LONG_ALONE", 1)
    assert elo.in_order(played, PLAIN).tolist() == plain.tolist()


def test_an_unknown_cost_leaves_only_the_cost_track_alone() -> None:
    after = elo.update(elo.fold(2, (), PLAIN), DuelResult(0, 1, 1.0, None, 0.1), PLAIN)
    assert after == EloState((1508.0, 1492.0), (1500.0, 1500.0))


def test_players_may_join() -> None:
    state = EloState((1520.0, 1480.0), (1510.0, 1490.0))
    assert elo.extend(state, 3, PLAIN) == EloState((1520.0, 1480.0, 1500.0), (1510.0, 1490.0, 1500.0))
    with pytest.raises(ValueError, match="holds 2 players"):
        elo.extend(state, 1, PLAIN)


def test_an_empty_history_leaves_the_start() -> None:
    assert elo.fold(3, [], PLAIN) == EloState((1500.0,) * 3, (1500.0,) * 3)
    assert elo.fold(0, [], EloSettings()) == EloState((), ())


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: DuelResult(1, 1, 1.0, None, None), "meets itself"),
        (lambda: DuelResult(0, 1, math.nan, None, None), "score is nan"),
        (lambda: DuelResult(0, 1, 1.0, -0.1, None), "cost_a is -0.1"),
        (lambda: DuelResult(0, 1, 1.0, None, math.inf), "cost_b is inf"),
        (lambda: EloSettings(k_factor=0), "k_factor is 0"),
        (lambda: EloSettings(propagation_width=-1), "propagation_width is -1"),
        (lambda: EloSettings(propagation_share=1.5), "propagation_share is 1.5"),
        (lambda: EloSettings(cost_sensitivity=-0.1), "cost_sensitivity is -0.1"),
        (lambda: EloSettings(cost_sensitivity=math.nan), "cost_sensitivity is nan"),
        (lambda: elo.fold(2, [DuelResult(0, 2, 1.0, None, None)], PLAIN), "duel 0 names player 2"),
    ],
)
def test_bad_input_is_named(make: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()  # type: ignore[operator]
