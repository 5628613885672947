from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau  # type: ignore[import-untyped]
from tests.engine.again.test_rejudge import again
from tests.engine.arenas import ledger_of, play, write_arena
from tests.engine.clients import Cast

from peerage.arena import open_arena
from peerage.players.client import Answer, Call
from peerage.views.judges.report import judges
from peerage.views.rejudge import RejudgeReport, kendall_tau, rejudge_report


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rejudged") / "first"
    rules = {"tasks": ["Say why.", "Say how."]}
    write_arena(folder, 7, game="tasks", rules=rules, judging={"judges": 3})
    play(folder, 42)
    return folder


def found(source: Path, folder: Path, *judges: str, clients: Any = None) -> RejudgeReport:
    count = again(source, folder, judges).fixtures
    play(folder, count, clients=clients)
    ledger = ledger_of(folder)
    try:
        return rejudge_report(ledger)
    finally:
        ledger.close()


def perverse(call: Call, attempt: int) -> Answer:
    """Prefers the worse answer, whichever stands first."""
    first, second = (answer["quality"] for answer in call.oracle.hidden)
    return Answer(f'{{"reason": "because", "verdict": "{"A" if first < second else "B"}"}}', 1.0)


def test_a_good_panel_confirms_the_ranking_and_a_perverse_one_turns_it_over(
    source: Path, tmp_path: Path
) -> None:
    good = found(source, tmp_path / "good", "house:0.97", "house:0.98", "house:0.99")
    bad = found(source, tmp_path / "bad", "house:0.97", "house:0.98", clients=Cast(perverse))
    for report in (good, bad):
        assert report.issued == report.judged >= report.decided >= report.compared > 30
        assert report.reversed <= report.changed <= report.compared
        assert sum(row.compared for row in report.players) == 2 * report.compared
        assert [row.rank_after for row in report.players] == sorted(row.rank_after for row in report.players)
        assert all(row.places == row.rank_before - row.rank_after for row in report.players)
    assert good.tau is not None
    assert bad.tau is not None
    assert good.agreement is not None
    assert bad.agreement is not None
    assert good.tau > 0.8
    assert bad.tau < -0.8
    assert good.agreement > 0.6
    assert bad.agreement < 0
    assert good.reversed < 5
    assert bad.reversed > 25


def test_the_report_on_judges_knows_whose_answers_they_were(source: Path, tmp_path: Path) -> None:
    report = found(source, tmp_path / "again", "house:0.5", "house:0.95")
    with open_arena(tmp_path / "again", create=False) as arena:
        told = judges(arena.reading)
    assert [row.judge for row in told.judges] == ["house:0.5", "house:0.95"]
    assert sum(row.marks for row in told.judges) <= 4 * report.judged
    assert {row.author for row in told.favours} <= {f"p{at}" for at in range(7)}
    assert any(measure.measure == "length_bias" and measure.value for measure in told.measures)


def test_nothing_judged_is_nothing_claimed(source: Path, tmp_path: Path) -> None:
    again(source, tmp_path / "again", limit=3)
    ledger = ledger_of(tmp_path / "again")
    try:
        report = rejudge_report(ledger)
    finally:
        ledger.close()
    assert (report.issued, report.judged, report.compared) == (3, 0, 0)
    assert report.tau is None
    assert report.agreement is None
    assert report.players == ()


def test_tau_by_hand() -> None:
    assert kendall_tau([1, 2, 3], [1, 2, 3]) == 1
    assert kendall_tau([1, 2, 3], [3, 2, 1]) == -1
    assert kendall_tau([1, 2, 3], [1, 3, 2]) == pytest.approx(1 / 3)
    assert kendall_tau([1, 1, 1], [1, 2, 3]) is None
    assert kendall_tau([], []) is None


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=9))
def test_tau_as_the_field_computes_it(pairs: list[tuple[int, int]]) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    ours = kendall_tau(a, b)
    if ours is None:
        assert len(set(a)) == 1 or len(set(b)) == 1
    else:
        assert ours == pytest.approx(float(kendalltau(a, b).statistic))
        assert kendall_tau(b, a) == pytest.approx(ours)
        assert all(
            kendall_tau(list(p), list(p)) == 1 for p in itertools.islice(itertools.permutations(range(3)), 3)
        )
