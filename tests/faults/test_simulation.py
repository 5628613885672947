"""Arenas on a simulated machine, from one seed each, and what the simulation would find."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from typing import Any
from unittest.mock import patch

import pytest
from tests.faults.disk import missing
from tests.faults.simulation import KINDS, calm, simulate

from peerage.engine.calls.budget import Budget
from peerage.engine.calls.calls import Calls
from peerage.engine.record.journal import Journal
from peerage.engine.record.records import MatchTally
from peerage.engine.run.folding import Folding
from peerage.game.match import Fixture, Outcome
from peerage.ledger import Batch, LedgerError
from peerage.ledger.stores.sqlite import SqliteStore

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())
HOURS = 12


@pytest.fixture(autouse=True, scope="module")
def unsynced_ledgers() -> None:
    """Here what was not synced is lost."""


def test_half_a_day_of_faults(tmp_path: Path) -> None:
    seconds, seed = 0.0, 0
    while seconds < HOURS * 3600:
        seed += 1
        found = simulate(seed, tmp_path / str(seed))
        again = f"python -m tests.faults.simulation {seed}"
        assert not found.problem, f"{found.problem}; to see it again: {again}"
        seconds += found.seconds


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_thousand_seeds(tmp_path: Path) -> None:
    wrong = {}
    for seed in range(1, 1001):
        found = simulate(seed, tmp_path / str(seed))
        rmtree(tmp_path / str(seed), ignore_errors=True)
        if found.problem:
            wrong[f"python -m tests.faults.simulation {seed}"] = found.problem
    assert not wrong


def test_a_seed_says_all(tmp_path: Path) -> None:
    once, again = (simulate(12, tmp_path / name) for name in ("once", "again"))
    assert once == again


def _at_once(journal: Journal, callback: Callable[[], None]) -> None:
    callback()


def _no_intent(calls: Calls, pending: Any) -> None:
    pending.attempt += 1


def _unsynced(file: SqliteStore, work: Callable[[], None], *, again: bool) -> None:
    assert file._writing is not None
    file._writing.execute("PRAGMA synchronous=OFF")
    _commit(file, work, again=again)


@contextmanager
def _unlocked(file: SqliteStore) -> Iterator[None]:
    yield


def _taken_for_written(
    journal: Journal, batch: Batch, callbacks: list[Any], then: Callable[..., Any]
) -> None:
    with suppress(LedgerError):
        journal._ledger.write(batch)
    then(journal._written, callbacks)


def _as_they_end(
    folding: Folding, fixture: Fixture, digest: str, tally: MatchTally, outcome: Outcome
) -> None:
    _end(folding, fixture, digest, tally, outcome)
    if fixture.number in folding._ended:
        folding._late.append(folding._ended.pop(fixture.number))


def _nothing_held(budget: Budget, match: Any, player: str, nano: int) -> None:
    """As if every call were paid when it is sent."""


def _given_back_twice(
    budget: Budget, number: int, player: str, nano: int, reserved: int, **how: bool
) -> None:
    _pay(budget, number, player, nano, reserved, **how)
    budget._hold_for(player, -reserved)


def _new_budget(budget: Budget, limit: Any, per_match: Any, per_player: Any, *spent: Any) -> None:
    _budget(budget, limit, per_match, per_player)


def _left_open_is_free(
    budget: Budget, limit: Any, match: Any, player: Any, billed: int, possibly: int, *by: Any
) -> None:
    _budget(budget, limit, match, player, billed, 0, *by)


_end, _pay, _budget, _commit = Folding.end, Budget.pay, Budget.__init__, SqliteStore.commit

# Each with the seeds within which it is found; they begin shortly before the first that finds it.
BUGS = {
    "what waits for a row is done before it is durable": (Journal, "then", _at_once, range(1, 4)),
    "an intent is not written": (Calls, "_intend", _no_intent, range(1, 4)),
    "a commit is not synced": (SqliteStore, "commit", _unsynced, range(1, 4)),
    "the runner's lock is not taken": (SqliteStore, "_lock", _unlocked, range(1, 4)),
    "a write that failed is taken for done": (Journal, "_write", _taken_for_written, range(7, 12)),
    "matches are folded in the order they end": (Folding, "end", _as_they_end, range(1, 4)),
    "nothing is reserved for calls in flight": (Budget, "_hold", _nothing_held, range(14, 25)),
    "a reservation is given back twice": (Budget, "pay", _given_back_twice, range(1, 5)),
    "a budget begins anew with every process": (Budget, "__init__", _new_budget, range(1, 5)),
    "what a crash left open counts nothing": (Budget, "__init__", _left_open_is_free, range(1, 5)),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_put_back_is_found(bug: str, tmp_path: Path) -> None:
    where, name, wrong, seeds = BUGS[bug]
    for kind in KINDS:
        calm(kind)  # as it is without the bug
    with patch.object(where, name, wrong):
        assert any(simulate(seed, tmp_path / str(seed)).problem for seed in seeds)
