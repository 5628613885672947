"""Every command holds what it prints against the log: no row that somebody changed is shown."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.engine.arenas import ledger_of
from tests.ledger.tampered import Harm, duels, rows_harmed
from typer.testing import CliRunner

from peerage.cli.main import app
from peerage.ledger import LedgerError

pytestmark = pytest.mark.usefixtures("plain_bodies")

COMMANDS = (
    *(
        ["match", "3"],
        ["match", "10"],
        ["stats"],
        ["leaderboard"],
        ["status"],
        ["stats", "--of", "judges"],
        ["verdict"],
    ),
    *(["export"], ["export", "--format", "csv"], ["plan"]),
)
"""Commands that print what is stored; match 10 is the last that ended."""
NOT_HELD = ("replies.id", "intents.id", "failures.id")
"""In which order rows were written is in no digest of a finished match."""
TABLES = ("entries", "failures", "fixtures", "intents", "meta", "records", "replies", "summaries", "texts")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return duels(tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def printed(whole: Path) -> dict[tuple[str, ...], str]:
    """What each command prints of the whole arena."""
    return {tuple(command): shown(whole, command)[1] for command in COMMANDS}


def shown(folder: Path, command: list[str]) -> tuple[int, str]:
    done = CliRunner().invoke(app, [*command, "--dir", str(folder)])
    assert done.exception is None or isinstance(done.exception, SystemExit), (command, done.exception)
    return done.exit_code, done.output.replace(str(folder), "")


def harms(whole: Path, table: str) -> Iterator[Harm]:
    """For each column of a table one change, then rows deleted and doubled."""
    done = set()
    for harm in rows_harmed(whole / "arena.db"):
        place = harm.name.split(" ")[0]
        if place.split(".")[0].rstrip(":") == table and place not in NOT_HELD:
            kind = place if "." in place else harm.name.split(" ", 4)[-1]
            if kind not in done:
                done.add(kind)
                yield harm


@pytest.mark.parametrize("of", [4, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("table", TABLES)
def test_no_command_prints_what_was_tampered_with(
    table: str, of: int, whole: Path, printed: dict[tuple[str, ...], str], tmp_path: Path
) -> None:
    """One command in four tries each change, another four the next."""
    refused = set()
    for place, harm in enumerate(harms(whole, table)):
        copy = tmp_path / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(whole, copy)
        if not harm.do(copy / "arena.db"):
            continue
        for command, before in [*printed.items()][place % of :: of]:
            code, after = shown(copy, [*command])
            if code == 0:
                assert after == before, (harm.name, command)
            else:
                refused.add(command)
    assert refused


def test_how_long_a_reply_took_is_held_too(whole: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(whole, tmp_path / "copy")
    with closing(ledger_of(copy)) as ledger:
        attempts = list(ledger.exchanges(1, 3))
        assert attempts == list(ledger.as_stored().exchanges(1, 3))
    with closing(sqlite3.connect(copy / "arena.db")) as db, db:
        db.execute("UPDATE replies SET latency_ms = latency_ms + 1 WHERE intent = ?", [attempts[0].id])
    with closing(ledger_of(copy)) as ledger:
        assert list(ledger.as_stored().exchanges(1, 3)) != attempts
        with pytest.raises(LedgerError, match=r"match 1: attempts, costs, times or failures changed"):
            list(ledger.exchanges(1, 3))
