"""What recovery folds from the rows of a ledger, held against the rows themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest
from tests.engine.arenas import SMALL, head, house, ledger_of, paced, patience, play_stopping_at, write_arena

from peerage.engine.again.recovery import (
    Recovered,
    all_ended,
    decided,
    ended,
    histories,
    read_budget_voids,
    recover,
    spent,
)
from peerage.engine.match.under_way import Mismatch
from peerage.engine.record.probed import ProbeCost
from peerage.game.match import Fixture
from peerage.ledger import Ledger, Summary, amend
from peerage.ledger.forms.codec import by_hex, read_fixture
from peerage.scheduling.standing import EndedMatch
from peerage.settings import Rating
from peerage.standings.fold import NOBODY, after_all, elo_settings

ELO = elo_settings(Rating())


def summary(number: int, status: str = "done") -> Summary:
    scores, costs = (1.0, 0.0), (0.5, None)
    return Summary(number, number, "duel", "t", ("a", "b"), status, scores, costs, 2_500_000_000, (), (), 0)


class Rows:
    """A ledger as the folds of finished matches need it."""

    def __init__(self, *statuses: str) -> None:
        self.rows: Sequence[Summary] = [summary(at, status) for at, status in enumerate(statuses, 1)]

    def summaries(self, first: int = 1, last: int | None = None) -> Iterator[Summary]:
        return iter(self.rows[first - 1 : last])

    def meta(self) -> dict[str, str]:
        return {}


def rows(*statuses: str) -> Ledger:
    return cast(Ledger, Rows(*statuses))


def test_a_match_without_a_result_has_no_scores_for_pairing() -> None:
    assert ended(summary(1), 7) == EndedMatch("duel", ("a", "b"), (1.0, 0.0), 7, (0.5, None), 2.5)
    assert ended(summary(1), 0, ("a",)).costs == (0.0, None), "what was paid for an earlier match"
    assert ended(summary(1, "failed: down"), 0) == EndedMatch("duel", ("a", "b"), (), 0, (0.5, None), 2.5)


def test_what_matches_were_played_for_is_a_result_or_a_report() -> None:
    assert decided(rows("done", "development", "match_budget", "failed: down")) == 2
    assert decided(rows()) == 0


def test_each_match_ended_in_the_round_that_went_on() -> None:
    found = Recovered(round_ends=[(2, 0), (2, 0), (4, 1)])
    assert [found.round_of(place) for place in (1, 2, 3, 4, 5)] == [1, 1, 3, 3, 4]
    listed = list(all_ended(found, rows("done", "done", "failed", "done")))
    assert [(round, bool(one.scores), one.series) for round, one in listed] == [
        (1, True, 0), (1, True, 0), (3, False, 0), (3, True, 0),
    ]  # fmt: skip


def test_who_ran_out_of_money_is_retired_and_the_last_matches_that_could_not_be_paid_are_counted() -> None:
    every = rows("player_budget: ada", "done", "match_budget", "player_budget: ada", "player_budget: bob")
    found = Recovered(round_ends=[(3, 0)])
    read_budget_voids(found, every, 0)
    assert (found.retired, found.unaffordable) == ({"ada": 1, "bob": 2}, 3)
    since = Recovered(round_ends=[(3, 0)])
    read_budget_voids(since, every, 4)
    assert (since.retired, since.unaffordable) == ({"bob": 2}, 1)
    read_budget_voids(since, rows("match_budget", "done"), 0)
    assert since.unaffordable == 0


def test_probes_count_what_they_were_billed_and_what_they_may_have_been() -> None:
    found = Recovered(billed_nano=100, possibly_nano=10, spent_by={"ada": 110})
    ada, bob = ProbeCost(probes=2, billed_nano=5, possibly_nano=3), ProbeCost(probes=1, possibly_nano=7)
    found.charge({"ada": ada, "bob": bob})
    assert (found.billed_nano, found.possibly_nano, found.spent_nano) == (105, 20, 125)
    assert found.spent_by == {"ada": 118, "bob": 7}


def test_a_mismatch_names_match_request_and_game() -> None:
    fixture = Fixture(7, 1, "duel", 3, "5", (), {}, {})
    assert str(Mismatch(fixture, "judge/1")) == (
        "match 7, request 'judge/1': the recorded request is not what duel version 3 asks now. Was the "
        "ledger edited, or the game changed without a new version? `peerage verify` shows which"
    )


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An arena that was given up in the middle, with matches in play and some without a result."""
    folder = tmp_path_factory.mktemp("stopped")
    failing = house(6, price={"input": 1.0, "output": 10.0}, faults={"failing": 0.3})
    engine: dict[str, Any] = {"concurrency": 4, "retries": 0}
    write_arena(folder, failing, rules=SMALL, pairing={"window": 6}, engine=engine)
    with patience(BENCH_AFTER=1000):
        play_stopping_at(folder, 60, 60.0, paced())
    probe = {"status": "ok", "cost_nano": 40}
    lost = {"status": "void", "cost_nano": None, "worst_nano": 7}
    held = {"host": "gpu", "started_ms": 0, "stopped_ms": 3_600_000, "why": "done", "nano_per_hour": 1_000}
    with closing(ledger_of(folder)) as ledger, ledger.runner():
        amend(ledger, "probes", [{"found": {"p0": probe}}, {"found": {"p0": lost}}], 1)
        amend(ledger, "uptimes", [held | {"used": {"p0": {}}}], 2)
    return folder


@pytest.mark.parametrize("lag", [0, 1, 2, 50])
def test_a_run_goes_on_from_what_the_rows_say(stopped: Path, lag: int) -> None:
    with closing(ledger_of(stopped)) as ledger:
        found = recover(ledger, lag, ELO)
        issued, recorded = ledger.heads()
        fixtures, played = list(ledger.fixtures()), list(ledger.summaries())
        assert 0 < recorded < issued
        assert (found.next_number, found.next_to_fold) == (issued + 1, recorded + 1)
        assert found.next_round == max(row.round for row in fixtures) + 1
        assert [fixture.number for fixture, _ in found.pending] == [*range(recorded + 1, issued + 1)]
        assert {*found.exchanges} == {row.match for row in ledger.exchanges(recorded + 1)}
        assert (recorded, found.chain.hex()) == head(stopped)
        void = [one for one in played if one.status != "done"]
        assert found.without_result == len(void) > 0
        texts, on = by_hex(ledger.texts()), Counter[tuple[str, str]]()
        for row in fixtures:
            one = read_fixture(row.body, texts)
            on.update([(one.topic, seat.player) for seat in one.seats])
        assert all(topic for topic, _ in on)
        assert found.histories["duel"]._on == on
        again = histories(ledger)
        assert found.histories["duel"]._met == again["duel"]._met
        assert found.histories["duel"]._played == again["duel"]._played
        assert sum(found.open.values()) == len(found.pending)
        # Nothing waited, so rounds ended in order, each with the last of its matches.
        last = {row.round: row.number for row in fixtures}
        over = [round for round in last if last[round] <= recorded]
        assert [records for records, _ in found.round_ends] == [last[round] for round in over]
        assert [*found.after_round] == over[max(0, found.next_round - lag - 1) :]
        for round, standings in [*found.after_round.items(), (0, found.standings)]:
            end = last[round] if round else recorded
            assert standings == after_all(NOBODY, ledger.summaries(1, end), ELO)
        assert found.spent_nano == spent(ledger) == sum(found.spent_by.values())
        replies = sum(row.cost_nano or 0 for row in ledger.exchanges(1) if row.reply is not None)
        assert found.billed_nano == replies + 40 + 1_000, "with a probe and an hour that no call was billed"
        assert found.spent_by["p0"] == ledger.spent_by()["p0"] + 40 + 7 + 1_000
        assert [(round, one.players) for round, one in all_ended(found, ledger)] == [
            (one.round, one.players) for one in played
        ]
