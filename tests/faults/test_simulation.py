"""Arenas on a simulated machine, from one seed each, and what the simulation would find."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from sqlalchemy import Connection
from tests.faults.disk import missing
from tests.faults.simulation import KINDS, calm, simulate

from peerage.engine.calls import Calls
from peerage.engine.journal import Journal
from peerage.ledger.sqlite import SqliteFile

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())
HOURS = 24


@pytest.fixture(autouse=True, scope="module")
def unsynced_ledgers() -> None:
    """Here what was not synced is lost."""


def test_a_day_of_faults(tmp_path: Path) -> None:
    seconds, seed = 0.0, 0
    while seconds < HOURS * 3600:
        seed += 1
        found = simulate(seed, tmp_path / str(seed))
        again = f"python -m tests.faults.simulation {seed}"
        assert not found.problem, f"{found.problem}; to see it again: {again}"
        seconds += found.seconds


def test_a_seed_says_all(tmp_path: Path) -> None:
    once, again = (simulate(12, tmp_path / name) for name in ("once", "again"))
    assert once == again


def _at_once(journal: Journal, callback: Callable[[], None]) -> None:
    callback()


def _no_intent(calls: Calls, pending: Any) -> None:
    pending.attempt += 1


def _unsynced(file: SqliteFile, connection: Connection, work: Callable[[], None], *, again: bool) -> None:
    connection.connection.cursor().execute("PRAGMA synchronous=OFF")
    with connection.begin():
        work()


@contextmanager
def _unlocked(file: SqliteFile) -> Iterator[None]:
    yield


# Each with the seeds within which it is found.
BUGS = {
    "what waits for a row is done before it is durable": (Journal, "then", _at_once, range(1, 4)),
    "an intent is not written": (Calls, "_intend", _no_intent, range(1, 4)),
    "a commit is not synced": (SqliteFile, "commit", _unsynced, range(1, 4)),
    "the runner's lock is not taken": (SqliteFile, "_lock", _unlocked, range(1, 4)),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_put_back_is_found(bug: str, tmp_path: Path) -> None:
    where, name, wrong, seeds = BUGS[bug]
    for kind in KINDS:
        calm(kind)  # as it is without the bug
    with patch.object(where, name, wrong):
        assert any(simulate(seed, tmp_path / str(seed)).problem for seed in seeds)
