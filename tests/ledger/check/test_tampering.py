"""Whatever is done to a ledger's rows or bytes, `peerage verify` tells, or nobody sees any of it.

All of it is slow; the ordinary suite does a random part of it.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from itertools import chain
from pathlib import Path

import pytest
from tests.engine.arenas import SMALL, house, ledger_of, play, write_arena
from tests.ledger.tampered import Harm, bytes_harmed, duels, exchange, rows_harmed
from typer.testing import CliRunner

from peerage.arena import ArenaError
from peerage.cli.main import app
from peerage.ledger import LedgerError
from peerage.ledger.check.held import read_log
from peerage.ledger.forms.log import log_root
from peerage.settings import SettingsError

KINDS: dict[str, Callable[[Path], Path]] = {"duels": duels, "exchange": exchange}
FILES = ("arena.db", "arena.votes.db")
READING = (
    ("leaderboard", "--format", "json"),
    ("leaderboard", "--track", "raw", "--format", "json"),
    ("leaderboard", "--track", "cost", "--format", "json"),
    ("stats", "--format", "json"),
    ("judges", "--format", "json"),
    ("match", "2"),
    ("match", "10"),
    ("export",),
    ("export", "--format", "csv"),
    ("export", "--format", "outside"),
    ("players",),
    ("challenges", "list"),
    ("replay",),
)
cli = CliRunner()


def said(folder: Path, *words: str) -> tuple[int, str]:
    """The exit code and the output of a command."""
    done = cli.invoke(app, [*words, "--dir", str(folder)])
    for sign in ("Traceback", "Internal error"):
        assert sign not in done.output, f"{words}: {done.output}"
    return done.exit_code, done.output


def seen(folder: Path) -> list[tuple[int, str]]:
    """All that commands show of an arena, and where the next run ends that plays two matches more."""
    shown = [said(folder, *words) for words in READING]
    play(folder, 12)
    with closing(ledger_of(folder)) as ledger:
        return [*shown, (0, json.dumps([row.chain.hex() for row in ledger.records()]))]


def rows(folder: Path) -> list[list[str]]:
    """All rows of an arena's files."""
    found = []
    for file in (folder / name for name in FILES if (folder / name).exists()):
        with closing(sqlite3.connect(file)) as db:
            found.append(list(db.iterdump()))
    return found


@pytest.fixture(scope="module", params=KINDS)
def whole(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return KINDS[request.param](tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def untouched(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[int, str]]:
    return seen(copied(whole, tmp_path_factory.mktemp("untouched") / "copy"))


def copied(whole: Path, to: Path) -> Path:
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(whole, to, ignore=shutil.ignore_patterns("*.lock", "*-shm"))
    return to


def missed(
    whole: Path,
    untouched: list[tuple[int, str]],
    work: Path,
    harms: Iterator[tuple[str, Harm]],
    *,
    read: bool,
) -> list[str]:
    """What was done and neither told nor without effect; no command that reads what was told falls over.

    Without `read`, a file that `verify` finds nothing wrong with and each of whose rows is as it was counts
    as one that nobody sees a difference in.
    """
    found: list[str] = []
    due = rows(copied(whole, work))
    for file, harm in harms:
        folder = copied(whole, work)
        if not harm.do(folder / file):
            continue
        try:
            code, output = said(folder, "verify")
            if code == 0:
                if (read or rows(folder) != due) and seen(folder) != untouched:
                    found.append(f"{harm.name}: not told")
            elif not output.strip().splitlines()[0].strip():
                found.append(f"{harm.name}: told without words")
            elif read:
                for words in READING:
                    said(folder, *words)
        except AssertionError as fault:
            found.append(f"{harm.name}: {fault}")
    return found


def every_row(whole: Path, seed: int = 0) -> Iterator[tuple[str, Harm]]:
    for file in FILES:
        if (whole / file).exists():
            yield from ((file, harm) for harm in rows_harmed(whole / file, seed))


def some(harms: Iterator[tuple[str, Harm]], every: int) -> Iterator[tuple[str, Harm]]:
    return (harm for at, harm in enumerate(harms) if at % every == 0)


def flipped(file: Path, times: int) -> Iterator[Harm]:
    return bytes_harmed(file, times) if file.exists() else iter(())


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An arena as a run leaves it that is killed: its newest transactions lie in the write-ahead log."""
    folder = write_arena(tmp_path_factory.mktemp("run"), house(5), rules=SMALL, pairing={"window": 6})
    left = tmp_path_factory.mktemp("killed") / "arena"

    async def kill(_: object) -> None:
        while True:
            await asyncio.sleep(0.5)
            with closing(ledger_of(folder)) as ledger:
                if ledger.heads()[1] >= 12:
                    break
        copied(folder, left)

    play(folder, 16, beside=kill)
    assert (left / "arena.db-wal").stat().st_size > 100_000
    return left


def not_before(killed: Path, work: Path, times: int) -> list[str]:
    """What was done to the write-ahead log after which `verify` neither told, nor found the ledger as it once
    was."""
    with closing(ledger_of(copied(killed, work))) as ledger:
        leaves = read_log(ledger).leaves
    once = {log_root(leaves[:size]) for size in range(len(leaves) + 1)}
    found: list[str] = []
    for harm in bytes_harmed(killed / "arena.db-wal", times):
        folder = copied(killed, work)
        assert harm.do(folder / "arena.db-wal")
        code, output = said(folder, "verify", "--format", "json")
        if code == 0 and json.loads(output)["log_root"] not in once:
            found.append(f"{harm.name}: not told")
    return found


def test_some_of_what_may_befall_the_newest_transactions(killed: Path, tmp_path: Path) -> None:
    assert not_before(killed, tmp_path / "copy", 8) == []


def test_an_untouched_arena_is_whole(whole: Path) -> None:
    code, output = said(whole, "verify")
    assert code == 0, output
    assert output.startswith("whole: ")


def test_some_of_what_may_befall_rows_and_bytes(
    whole: Path, untouched: list[tuple[int, str]], tmp_path: Path
) -> None:
    flips = ((file, harm) for file in FILES for harm in flipped(whole / file, 8))
    harms = chain(some(every_row(whole), 19), flips)
    assert missed(whole, untouched, tmp_path / "copy", harms, read=False) == []


@pytest.mark.parametrize(
    ("statement", "words", "told"),
    [
        (
            "UPDATE records SET body = CAST(replace(body, '\"challenge_id\"', '\"challenge_ib\"') AS BLOB)",
            ["challenges", "list"],
            "its record or the one before it changed",
        ),
        ("DELETE FROM fixtures", ["export"], "has a record and no fixture"),
    ],
)
@pytest.mark.usefixtures("plain_bodies")
def test_damage_is_told_in_words(tmp_path: Path, statement: str, words: list[str], told: str) -> None:
    folder = exchange(tmp_path)
    with closing(sqlite3.connect(folder / "arena.db")) as db, db:
        db.execute(statement)
    code, output = said(folder, *words)
    assert (code, told in output) == (1, True), output


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_whatever_befalls_a_row_is_told(
    whole: Path, untouched: list[tuple[int, str]], tmp_path: Path, seed: int
) -> None:
    assert missed(whole, untouched, tmp_path / "copy", every_row(whole, seed), read=True) == []


@pytest.mark.slow
def test_whatever_befalls_the_file_is_told(
    whole: Path, untouched: list[tuple[int, str]], tmp_path: Path
) -> None:
    harms = ((file, harm) for file in FILES for harm in flipped(whole / file, 300))
    assert missed(whole, untouched, tmp_path / "copy", harms, read=True) == []


@pytest.mark.slow
def test_whatever_befalls_the_newest_transactions_leaves_the_ones_before_them(
    killed: Path, tmp_path: Path
) -> None:
    assert not_before(killed, tmp_path / "copy", 400) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3])
def test_no_run_goes_on_from_what_was_told(
    whole: Path, untouched: list[tuple[int, str]], tmp_path: Path, seed: int
) -> None:
    """A run that begins either refuses, or what was changed is nothing that it builds on."""
    for file, harm in some(every_row(whole, seed), 3):
        folder = copied(whole, tmp_path / "copy")
        if file != "arena.db" or not harm.do(folder / file) or said(folder, "verify")[0] == 0:
            continue
        with suppress(LedgerError, SettingsError, ArenaError):
            play(folder, 12)
            with closing(ledger_of(folder)) as ledger:
                chain_now = json.dumps([row.chain.hex() for row in ledger.records()])
            assert chain_now == untouched[-1][1], harm.name
