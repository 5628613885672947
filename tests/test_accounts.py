"""Sums over finished matches, for duels and for games of more."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from peerage.arena import open_arena
from peerage.game.match import Totals
from peerage.ledger import LedgerError, Summary
from peerage.players.client import Answer, Call, PlayerError
from peerage.standings.accounts import (
    NOTHING,
    Account,
    count,
    position,
    possibly_billed,
    read_snapshot,
    snapshot_body,
    spent_by,
)
from peerage.standings.fold import Skill, Standings, elo_settings
from tests.engine.arenas import play, write_arena
from tests.engine.clients import Cast


def summary(status: str, scores: dict[str, float], costs: tuple[float | None, ...]) -> Summary:
    played = tuple(scores.values()) if status == "done" else ()
    return Summary(1, 1, "g", "", tuple(scores), status, played, costs, 0, (), (), 0)


def test_a_match_of_four_has_one_winner_or_those_who_share_it() -> None:
    accounts: dict[str, Account] = {}
    asked = dict.fromkeys("abcd", Totals(1))
    count(accounts, summary("done", {"a": 0.2, "b": 1.0, "c": 1.0, "d": 0.9}, (1.0, None, 2.0, 0.0)), asked)
    assert [(accounts[p].wins, accounts[p].draws, accounts[p].losses) for p in "abcd"] == [
        (0, 0, 1),
        (0, 1, 0),
        (0, 1, 0),
        (0, 0, 1),
    ]
    count(accounts, summary("done", {"a": 0.2, "b": 1.0, "c": 0.0, "d": 0.9}, (3.0, 1.0, 2.0, 0.0)), asked)
    assert (accounts["b"].wins, accounts["b"].draws, accounts["b"].matches) == (1, 1, 2)
    assert accounts["a"].cost_per_match == 2.0
    assert accounts["b"].cost_per_match == 1.0, "over the matches whose cost is known"


def test_an_answer_that_was_given_before_is_not_paid_again() -> None:
    accounts: dict[str, Account] = {}
    won = summary("done", {"a": 1.0, "b": 0.0}, (3.0, 1.0))
    count(accounts, won, {"a": Totals(1), "b": Totals(1)})
    count(accounts, summary("done", {"a": 1.0, "c": 0.0}, (3.0, 5.0)), {"c": Totals(1)})
    count(accounts, won, {"judge": Totals(1)})
    assert (accounts["a"].matches, accounts["a"].answers_priced, accounts["a"].cost_per_match) == (3, 1, 3.0)
    assert (accounts["b"].answers_priced, accounts["c"].cost_per_match) == (1, 5.0)


def test_a_void_match_counts_as_void_and_costs_all_the_same() -> None:
    accounts: dict[str, Account] = {}
    totals = {"a": Totals(2, 10, 20, 5_000_000_000, 0), "judge": Totals(1, 1, 1, 0, 1)}
    count(accounts, summary("no_answer", {"a": 1.0, "b": 0.0}, (1.0, 1.0)), totals)
    assert (accounts["a"].void, accounts["a"].matches, accounts["a"].cost_usd) == (1, 0, 5.0)
    assert accounts["a"].cost_per_match is None
    assert accounts["judge"].cost_usd is None, "the cost of one call is unknown"
    assert (accounts["judge"].void, accounts["judge"].calls) == (0, 1)


def test_a_snapshot_reads_back() -> None:
    standings = Standings(3, ("a", "b"), (1500.1, 1499.9), (1.0, 2.0), {"c": Skill(26.5, 2.25)})
    accounts = {"a": Account(1, wins=1, cost_nano=7), "b": NOTHING}
    found = read_snapshot(snapshot_body(standings, accounts))
    assert found is not None
    assert found == (standings, accounts)


def test_rows_that_are_missing_are_told(tmp_path: Path) -> None:
    folder = write_arena(tmp_path)
    play(folder, 5)
    ledger = sqlite3.connect(folder / "arena.db", isolation_level=None)
    ledger.execute("DELETE FROM snapshots")
    ledger.execute("DELETE FROM records WHERE number = 2")
    ledger.close()
    with (
        open_arena(folder) as arena,
        pytest.raises(LedgerError, match=r"match 2: its record is missing; .*verify"),
    ):
        position(arena.ledger, elo_settings(arena.settings.rating))


def test_what_was_possibly_billed_is_what_all_rows_come_to_beyond_the_records(tmp_path: Path) -> None:
    rng = random.Random(1)

    def act(call: Call, _: int) -> Any:
        if rng.random() < 0.2:
            return PlayerError("dropped", maybe_paid=True)
        unreported = call.role == "committee" and rng.random() < 0.02
        text = '{"reason": "clear", "vote": "approve"}' if call.role == "committee" else "tie"
        return Answer(text, 0.1, *(() if unreported else (10, 10)))

    price = {"input": 1, "output": 2}
    players = [{"name": f"p{n}", "model": "house:0.5", "price": price} for n in range(7)]
    play(write_arena(tmp_path, players), 20, clients=Cast(act))
    with open_arena(tmp_path) as arena:
        elo = elo_settings(arena.settings.rating)
        known, rows = position(arena.ledger, elo).accounts, arena.ledger.spent_by(20)
        found = possibly_billed(arena.ledger, known)
        assert spent_by(arena.ledger) == arena.ledger.spent_by()
    assert found == {name: more for name, nano in rows.items() if (more := nano - known[name].cost_nano)}
    assert {known[name].unknown_costs > 0 for name in found} == {True, False}
