"""What a runner reads from a ledger: the same without snapshots, every open call accounted for once."""

from __future__ import annotations

import dataclasses
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.engine.arenas import (
    head,
    house,
    ledger_of,
    paced,
    patience,
    play,
    play_stopping_at,
    total_spent,
    write_arena,
)

from peerage.arena import open_arena
from peerage.engine.again.recovery import Recovered, recover
from peerage.ledger import LedgerError
from peerage.settings import Rating
from peerage.standings.fold import elo_settings
from peerage.views.ending import ending

PRICE = {"input": 1.0, "output": 10.0}


def recovered(folder: Path) -> Recovered:
    ledger = ledger_of(folder)
    try:
        return recover(ledger, int(ledger.meta()["lag"]), elo_settings(Rating()))
    finally:
        ledger.close()


def without_snapshots(folder: Path) -> Recovered:
    with sqlite3.connect(folder / "arena.db") as connection:
        connection.execute("DELETE FROM snapshots")
    connection.close()
    return recovered(folder)


def fields(found: Recovered) -> dict[str, object]:
    return {
        field.name: getattr(found, field.name)
        for field in dataclasses.fields(found)
        if field.name != "histories"
    } | {"met": [(game, one._met, one._played, one._on) for game, one in found.histories.items()]}


@pytest.mark.parametrize("stopped", [0.0, 4.0, 30.0, 200.0])
def test_snapshots_are_derived(tmp_path: Path, stopped: float) -> None:
    write_arena(tmp_path, 6, engine={"concurrency": 8}, pairing={"window": 9})
    play_stopping_at(tmp_path, 150, stopped, paced())
    with_them = fields(recovered(tmp_path))
    assert with_them == fields(without_snapshots(tmp_path))
    if stopped == 200.0:
        assert with_them["standings"].number > 64  # type: ignore[attr-defined]


def test_an_empty_ledger_stands_at_the_beginning(tmp_path: Path) -> None:
    play(write_arena(tmp_path), 0)
    found = recovered(tmp_path)
    assert (found.next_number, found.next_round, found.pending, found.spent_nano) == (1, 1, [], 0)


def test_each_open_call_is_reported_by_the_next_run_alone_and_stays_reserved(tmp_path: Path) -> None:
    players = house(6, price=PRICE)
    opened: list[int] = []
    for run in range(4):
        write_arena(tmp_path, players, engine={"concurrency": 8})
        before = total_spent(tmp_path) if run else 0
        report = play_stopping_at(tmp_path, 100, 6.0, paced(run))
        assert report.possibly_paid_twice == (opened[-1] if opened else 0)
        found = recovered(tmp_path)
        assert found.spent_nano == total_spent(tmp_path) >= before
        assert found.spent_nano == sum(found.spent_by.values())
        opened.append(len(found.left_open))
        assert all(lost.worst_nano for lost in found.left_open)
        assert opened[-1] > 0
    report = play(tmp_path, 40)
    assert report.possibly_paid_twice == opened[-1]
    assert report.possibly_paid_nano > 0
    with open_arena(tmp_path) as arena:
        words = "\n".join(ending(arena.ledger, report, [], None, str))
    assert f"an earlier run was cut off with {opened[-1]} calls in flight; asking them again pays" in words
    assert recovered(tmp_path).left_open == []
    assert play(tmp_path, 41).possibly_paid_twice == 0


@patience(BENCH_AFTER=100)
def test_what_pending_matches_have_cost_is_known_by_match_and_player(tmp_path: Path) -> None:
    failing = house(6, price=PRICE, faults={"failing": 0.2})
    write_arena(tmp_path, failing, engine={"concurrency": 8})
    play_stopping_at(tmp_path, 100, random.Random(0).uniform(8, 9), paced())
    found = recovered(tmp_path)
    failed = 0
    pending = {fixture.number for fixture, _ in found.pending}
    assert set(found.begun) <= pending
    ledger = ledger_of(tmp_path)
    for match, nano in found.begun.items():
        replied = sum(row.cost_nano or 0 for row in ledger.exchanges(match, match))
        mine = [row for row in ledger.exchanges(match, unanswered=True) if row.match == match]
        failed += sum(row.failure is not None for row in mine)
        unanswered = sum(row.lost_nano or 0 for row in mine)
        assert nano == replied + unanswered
    ledger.close()
    assert failed, "calls that failed and cost nothing"


def test_a_run_does_not_begin_where_replies_were_made_cheaper(tmp_path: Path) -> None:
    players = house(7, price={"input": 1.0, "output": 4.0})
    play(write_arena(tmp_path, players, budget={"arena": 5.0}), 8)
    with closing(sqlite3.connect(tmp_path / "arena.db")) as db, db:
        cheaper = "UPDATE replies SET cost_nano = cost_nano - 1 WHERE id = (SELECT min(id) FROM replies)"
        assert db.execute(cheaper).rowcount == 1
    before = head(tmp_path)
    with pytest.raises(LedgerError, match=r"match 6: attempts, costs"):
        play(tmp_path, 12)
    assert head(tmp_path) == before
