"""Arenas on PostgreSQL behind a line that breaks, stalls and loses answers, from one seed each."""

from __future__ import annotations

import logging
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from tests.engine.arenas import house, write_arena
from tests.faults.line import FATES, Line

from peerage.arena import open_arena
from peerage.ledger import LedgerError

if TYPE_CHECKING:
    from tests.servers.postgres import PostgresServer

    from peerage.engine.run.report import RunReport
    from peerage.ledger.stores.postgres import PostgresStore

MATCHES, FAULTS = 30, 8


@pytest.fixture(autouse=True, scope="module")
def unsynced_ledgers() -> None:
    """What is said to SQLite alone is not said here."""


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, "peerage")


@pytest.fixture(scope="module")
def due(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The play head of the arena where nothing happens, on SQLite."""
    with open_arena(_arena(tmp_path_factory.mktemp("calm"))) as arena:
        arena.run(MATCHES)
        return arena.verify().head


def _arena(folder: Path, address: str = "") -> Path:
    stated: dict[str, Any] = {"ledger": address} if address else {}
    return write_arena(folder, house(4), seed=5, game="transform", rules={"tasks": 3}, **stated)


def behind_a_line(seed: int, folder: Path, postgres: PostgresServer, due: str) -> tuple[str, Counter[str]]:
    """Play the arena over a line with faults, and look at it over one without: what is wrong, and what
    happened."""
    address = postgres.address()
    with tempfile.TemporaryDirectory(dir="/tmp") as here:
        line = Line(seed, Path(here), postgres.folder, FAULTS)
        with line.there():
            report, problem = _played(_arena(folder, address.replace(str(postgres.folder), here)))
    if report is None:
        return problem, line.struck
    with open_arena(_arena(folder, address)) as arena:
        verified = arena.verify()
        attempts = {row.attempt for row in arena.ledger.exchanges(1)}
        wrong = {
            "problems": [*verified.problems, *arena.replay().differences],
            "another head": verified.head != due,
            "asked again": attempts != {1} or report.possibly_paid_twice,
            "not played to the end": report.reason != "limit",
        }
    return ", ".join([what for what, is_so in wrong.items() if is_so]), line.struck


def _played(folder: Path) -> tuple[RunReport | None, str]:
    """Run until it is done: a server that is away when a run begins ends it, one lost later is waited for."""
    begun: list[object] = []
    away = "cannot be reached", "another runner holds"  # as long as the server has not seen the first one go
    while True:
        try:
            with open_arena(folder) as arena:
                return arena.run(MATCHES, observe=lambda *match: begun.append(match)), ""
        except LedgerError as error:
            if begun or not any(why in str(error) for why in away):
                return None, str(error)
            time.sleep(0.05)


@pytest.mark.parametrize("seed", range(1, 4))
def test_nothing_is_lost_or_asked_twice(
    seed: int, due: str, postgres: PostgresServer, tmp_path: Path
) -> None:
    problem, struck = behind_a_line(seed, tmp_path, postgres, due)
    assert problem == ""
    assert struck.total() == FAULTS


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_hundred_broken_lines(due: str, postgres: PostgresServer, tmp_path: Path) -> None:
    wrong, struck = {}, Counter[str]()
    for seed in range(1, 101):
        problem, happened = behind_a_line(seed, tmp_path / str(seed), postgres, due)
        struck += happened
        if problem:
            wrong[seed] = problem
    assert not wrong
    assert set(struck) == set(FATES)


def _written_again(
    place: PostgresStore, work: Callable[[], None], *, again: bool, last: bool = False
) -> None:
    """A lost transaction is written again without asking whether it is durable."""
    from psycopg import Error

    from peerage.ledger.stores.postgres_words import is_lost

    connection = place._line
    assert place._run is not None
    assert connection is not None
    with place.explained():
        while True:
            try:
                place._counted = False
                work()
                connection.commit()
                place._run.written += place._counted
                return
            except Error as error:
                if not is_lost(error):
                    raise
                connection.close()
                time.sleep(0.05)


def test_a_bug_put_back_is_found(due: str, postgres: PostgresServer, tmp_path: Path) -> None:
    store = pytest.importorskip("peerage.ledger.stores.postgres")
    uncounted = "UPDATE runner SET written = written + 1 WHERE fence = %s AND %s >= 0"
    with (
        patch.object(store.PostgresStore, "commit", _written_again),
        patch.object(store.PostgresStore, "_count", uncounted),
    ):
        assert any(behind_a_line(seed, tmp_path / str(seed), postgres, due)[0] for seed in range(1, 6))
