"""Glicko-2: the paper's example, and its rules at the edges."""

from __future__ import annotations

import pytest

from peerage.ratings.columns.compiled import installed
from peerage.ratings.columns.history import duels
from peerage.ratings.sequential import glicko2 as ours
from peerage.ratings.sequential.glicko2 import Glicko2Settings, Glicko2Table, even_periods, rate

PAPER = Glicko2Table([1500, 1400, 1550, 1700], [200, 30, 100, 300], [0.06] * 4)


def test_the_papers_example_before_its_rounding() -> None:
    after = rate(duels(4, [0, 0, 0], [1, 2, 3], [1, 0, 0]), start=PAPER)
    assert after.rating[0] == pytest.approx(1464.0507, abs=5e-5)
    assert after.deviation[0] == pytest.approx(151.5165, abs=5e-5)
    assert after.volatility[0] == pytest.approx(0.05999598, abs=5e-9)


def test_against_the_package_over_periods() -> None:
    import glicko2 as package

    history = duels(3, [0, 1, 2, 0, 0, 1], [1, 2, 0, 2, 1, 2], [1, 0.5, 0, 1, 0, 0.5])
    theirs = [package.Player() for _ in range(3)]
    for bounds in ((0, 3), (3, 6)):
        before = [(player.rating, player.rd) for player in theirs]
        for i, player in enumerate(theirs):
            met, scores = [], []
            for row in range(*bounds):
                a, b, s = int(history.first[row]), int(history.second[row]), float(history.score[row])
                if i in (a, b):
                    met.append(before[b if i == a else a])
                    scores.append(s if i == a else 1 - s)
            player.update_player([r for r, _ in met], [d for _, d in met], scores)
    after = rate(history, bounds=[0, 3, 6])
    assert after.rating == pytest.approx([player.rating for player in theirs], abs=1e-4)
    assert after.deviation == pytest.approx([player.rd for player in theirs], abs=1e-4)


def test_who_does_not_play_grows_uncertain_up_to_a_newcomer() -> None:
    after = rate(duels(4, [0], [1], [1]), start=PAPER)
    assert after.rating[2] == 1550
    assert after.deviation[2] > 100
    idle = rate(duels(4, [], [], []), bounds=[0] + [0] * 5000 + [0], start=PAPER)
    assert idle.deviation == pytest.approx((350.0,) * 4)


def test_a_weight_of_two_is_two_games() -> None:
    twice = rate(duels(2, [0, 0], [1, 1], [1, 1]))
    heavy = rate(duels(2, [0], [1], [1], [2]))
    assert heavy.rating == pytest.approx(twice.rating)
    assert heavy.games == (1, 1)


def test_even_periods_cover_the_history() -> None:
    history = duels(4, [0] * 100, [1] * 100, [1] * 100)
    assert even_periods(history).tolist() == [0, 30, 60, 90, 100]
    row = rate(history, bounds=even_periods(history)).rows[0]
    assert row.rank == 1
    assert row.lower < row.rating < row.upper


@pytest.mark.skipif(not installed(), reason="Numba is not installed")
def test_numba_agrees(monkeypatch: pytest.MonkeyPatch) -> None:
    history = duels(4, [0, 1, 2, 3] * 20, [1, 2, 3, 0] * 20, [1, 0.5, 0, 1] * 20)
    plain = rate(history, bounds=even_periods(history))
    monkeypatch.setattr(ours, "_LONG", 1)
    assert rate(history, bounds=even_periods(history)).rating == pytest.approx(plain.rating, abs=1e-9)


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="tau is 0"):
        Glicko2Settings(tau=0)
    with pytest.raises(ValueError, match="bounds must rise from 0 to 1"):
        rate(duels(2, [0], [1], [1]), bounds=[0, 2])
    with pytest.raises(ValueError, match="holds 4 players"):
        rate(duels(2, [0], [1], [1]), start=PAPER)
