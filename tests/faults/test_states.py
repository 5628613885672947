"""Bad states of an arena: two runners, foreign or broken ledgers, full disks, edited settings."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import resource
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from zlib import crc32

import pytest
from tests.engine.arenas import (
    SMALL,
    asked_again,
    head,
    house,
    ledger_of,
    paced,
    play,
    play_stopping_at,
    statuses,
    write_arena,
)

import peerage.playing.run
from peerage.arena import open_arena
from peerage.engine.match import plans
from peerage.engine.match.driver import GameError
from peerage.engine.match.under_way import Mismatch
from peerage.game.match import GameTable, Outcome
from peerage.game.protocol import Steps
from peerage.games.duel import GAME as DUEL
from peerage.ledger import LedgerBusy, LedgerError
from peerage.settings import SettingsError

pytestmark = pytest.mark.usefixtures("plain_bodies")


def sql(folder: Path, statement: str, *values: object) -> list[tuple[object, ...]]:
    with sqlite3.connect(folder / "arena.db") as connection:
        connection.create_function("crc32", 1, crc32)
        found = connection.execute(statement, values).fetchall()
    connection.close()
    return found


# --------------------------------------------------------------------------------------------- runners


def test_a_second_runner_is_refused_and_readers_are_admitted(tmp_path: Path) -> None:
    write_arena(tmp_path)

    async def intrude(_: object) -> None:
        await asyncio.sleep(5)
        with open_arena(tmp_path) as second:
            with pytest.raises(LedgerBusy, match=rf"another runner holds .*process {os.getpid()}"):
                await second.play(3)
            seen.append(len(list(second.ledger.records())))

    seen: list[int] = []
    play(tmp_path, 12, beside=intrude)
    assert seen
    assert play(tmp_path, 13).decided == 13


def test_another_process_is_refused_too(tmp_path: Path) -> None:
    write_arena(tmp_path)
    program = (
        "import sys\nfrom peerage.arena import open_arena\nfrom peerage.ledger import LedgerBusy\n"
        "try:\n    open_arena(sys.argv[1]).run(3)\n"
        "except LedgerBusy as busy:\n    print(busy)\n"
    )
    with open_arena(tmp_path) as first, first.ledger.runner():
        said = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
        ).stdout
    assert f"process {os.getpid()}" in said
    assert "Reading commands work meanwhile" in said


# --------------------------------------------------------------------------------------------- ledgers


def test_a_ledger_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    play(write_arena(tmp_path), 2)
    sql(tmp_path, "UPDATE meta SET value = '99 9.1' WHERE key = 'schema'")
    with pytest.raises(LedgerError, match=r"schema 99, written by peerage 9\.1"):
        open_arena(tmp_path)


def test_something_else_than_a_ledger_is_refused(tmp_path: Path) -> None:
    write_arena(tmp_path)
    (tmp_path / "arena.db").write_text("a diary, not a database, and long enough to be read as one" * 40)
    with pytest.raises(LedgerError, match="no database"):
        open_arena(tmp_path)
    (tmp_path / "arena.db").unlink()
    sql(tmp_path, "CREATE TABLE recipes (name TEXT)")
    with pytest.raises(LedgerError, match="not a ledger"):
        open_arena(tmp_path)


def test_a_missing_column_is_told_as_an_error_of_the_ledger(tmp_path: Path) -> None:
    play(write_arena(tmp_path), 2)
    sql(tmp_path, "ALTER TABLE records RENAME COLUMN chain TO chains")
    with open_arena(tmp_path) as arena, pytest.raises(LedgerError, match=r"arena\.db.*chain"):
        arena.run(4)


KILLED = "DELETE FROM log WHERE position = (SELECT max(position) FROM log) AND about LIKE 'in play %'"
"""As if the run had been killed, and no entry held what was in play."""


def test_a_changed_request_is_not_passed_over(tmp_path: Path) -> None:
    write_arena(tmp_path, engine={"concurrency": 4})
    play_stopping_at(tmp_path, 30, 8.0, paced())
    (recorded,) = sql(tmp_path, "SELECT count(*) FROM records")[0]
    changed = sql(
        tmp_path,
        'UPDATE intents SET body = CAST(replace(body, \'"to":"\', \'"to":"x\') AS BLOB), '
        'checksum = crc32(CAST(replace(body, \'"to":"\', \'"to":"x\') AS BLOB)) WHERE id = '
        "(SELECT i.id FROM intents i JOIN replies r ON r.intent = i.id WHERE i.match > ? LIMIT 1) "
        "RETURNING match, key",
        recorded,
    )
    assert changed
    with pytest.raises(LedgerError, match="not as it was written"):
        play(tmp_path, 30)
    sql(tmp_path, KILLED)
    with pytest.raises(Mismatch, match=rf"match {changed[0][0]}, request '{changed[0][1]}'"):
        play(tmp_path, 30)


def test_replies_that_the_game_no_longer_asks_for_are_not_passed_over(tmp_path: Path) -> None:
    write_arena(tmp_path, engine={"concurrency": 4})
    play_stopping_at(tmp_path, 30, 8.0, paced())
    (recorded,) = sql(tmp_path, "SELECT count(*) FROM records")[0]
    match = sql(
        tmp_path,
        "SELECT match FROM intents JOIN replies ON intent = intents.id WHERE match > ? LIMIT 1",
        recorded,
    )[0][0]
    sql(
        tmp_path,
        "INSERT INTO intents (match, key, attempt, player, body, worst_nano, checksum) "
        "SELECT match, 'another/key', 1, player, body, worst_nano, checksum FROM intents "
        "WHERE match = ? LIMIT 1",
        match,
    )
    sql(
        tmp_path,
        "INSERT INTO replies (intent, body, cost_nano, at_ms, latency_ms, checksum) "
        'SELECT last.id, CAST(\'{"status":"ok"}\' AS BLOB), 0, 1, 1, '
        'crc32(CAST(\'{"status":"ok"}\' AS BLOB)) '
        "FROM (SELECT max(id) AS id FROM intents) AS last",
    )
    with pytest.raises(LedgerError, match="not as it was written"):
        play(tmp_path, 30)
    sql(tmp_path, KILLED)
    with pytest.raises(Mismatch, match="'another/key'"):
        play(tmp_path, 30)


@pytest.mark.skipif(os.name == "nt" or os.getuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    play(write_arena(tmp_path), 2)
    tmp_path.chmod(0o500)
    try:
        with open_arena(tmp_path) as arena, pytest.raises(LedgerError, match="writ"):
            arena.run(4)
    finally:
        tmp_path.chmod(0o700)
    assert play(tmp_path, 4).settled == 4


# ---------------------------------------------------------------------------------------------- disks

FULL = """
import resource, signal, sys
from pathlib import Path
from peerage.arena import open_arena
from peerage.ledger import LedgerError
from tests.engine.arenas import paced
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    with open_arena(sys.argv[1]) as arena:
        arena.run(40, clients=paced(0, 0.01))
except LedgerError as error:
    print(error)
    sys.exit(3)
"""


def test_a_full_disk_is_told_and_a_run_after_mending_goes_on(tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk. What was on record stays, and is not asked again."""
    calm = write_arena(tmp_path / "calm")
    play(calm, 40)
    folder = write_arena(tmp_path / "full", engine={"concurrency": 16})
    before = 0
    for size in (500_000, 900_000):
        done = subprocess.run(
            [sys.executable, "-c", FULL, str(folder), str(size)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 3, done.stderr
        assert "arena.db" in done.stdout
        assert "recorded" in done.stdout
        assert "safe" in done.stdout
        ledger = ledger_of(folder)
        replies = sum(row.reply is not None for row in ledger.exchanges(1))
        ledger.close()
        assert replies > before
        before = replies
    assert play(folder, 40).decided == 40
    assert head(folder) == head(calm)
    assert asked_again(folder) == 0
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_a_disk_that_is_full_when_a_run_resumes_costs_nothing_recorded(tmp_path: Path) -> None:
    """The first thing a run after a crash writes is what the crash left open; it must not need the room."""
    calm = write_arena(tmp_path / "calm")
    play(calm, 40)
    folder = write_arena(tmp_path / "full")
    play_stopping_at(folder, 40, 9.0, paced())
    ledger = ledger_of(folder)
    before = sum(row.reply is not None for row in ledger.exchanges(1))
    ledger.close()
    size = max(place.stat().st_size for place in folder.glob("arena.db*"))
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(folder), str(max(1, size // 2))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert "arena.db" in done.stdout
    ledger = ledger_of(folder)
    assert sum(row.reply is not None for row in ledger.exchanges(1)) >= before
    ledger.close()
    assert play(folder, 40).decided == 40
    assert head(folder) == head(calm)
    assert asked_again(folder) == 0


def test_a_clock_that_goes_backwards_changes_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calm = write_arena(tmp_path / "calm")
    play(calm, 30)
    folder = write_arena(tmp_path / "backwards")
    now = iter(range(2_000_000_000_000, 0, -86_400_000))
    monkeypatch.setattr(peerage.playing.run, "now_ms", lambda: next(now))
    play_stopping_at(folder, 30, 9.0, paced())
    play(folder, 30)
    assert head(folder) == head(calm)
    with open_arena(folder) as arena:
        assert arena.verify().ok
        assert arena.replay().ok
        assert len(arena.leaderboard()) == 7


# -------------------------------------------------------------------------------------------- settings


def interrupted(folder: Path) -> tuple[int, int]:
    """An arena with matches begun and fixtures pending: (fixtures, records)."""
    write_arena(folder, engine={"concurrency": 6})
    play_stopping_at(folder, 40, 9.0, paced())
    ledger = ledger_of(folder)
    heads = ledger.heads()
    ledger.close()
    assert heads[0] > heads[1] + 6
    return heads


def test_fixtures_keep_the_rules_they_were_issued_with(tmp_path: Path) -> None:
    fixtures, _ = interrupted(tmp_path / "edited")
    calm = write_arena(tmp_path / "calm")
    play(calm, fixtures)
    write_arena(tmp_path / "edited", rules={**SMALL, "judges": 2, "max_drafts": 1, "topics": ["other"]})
    play(tmp_path / "edited", fixtures + 3)
    with closing(ledger_of(calm)) as other:
        [alike] = other.records(fixtures, fixtures)
    ledger = ledger_of(tmp_path / "edited")
    assert [row.chain for row in ledger.records(fixtures, fixtures)] == [alike.chain]
    assert {summary.topic for summary in ledger.summaries(fixtures + 1)} == {"other"}
    ledger.close()


def test_a_withdrawn_player_voids_its_pending_matches_and_is_paired_no_more(tmp_path: Path) -> None:
    fixtures, records = interrupted(tmp_path)
    write_arena(tmp_path, house(7)[1:])
    report = play(tmp_path, fixtures + 15)
    assert report.decided == fixtures + 15
    ledger = ledger_of(tmp_path)
    for summary in ledger.summaries():
        withdrawn = "p0" in summary.players and summary.number > records
        assert (summary.status == "withdrawn: p0") == withdrawn
        assert not (withdrawn and summary.number > fixtures)
    asked = {row.player for row in ledger.exchanges(fixtures + 1)}
    assert asked == {f"p{place}" for place in range(1, 7)}
    ledger.close()
    assert asked_again(tmp_path) == 0


def test_a_player_added_later_is_paired_from_the_next_round_issued(tmp_path: Path) -> None:
    fixtures, _ = interrupted(tmp_path)
    newcomer = {"name": "new", "model": "house:0.99"}
    write_arena(tmp_path, [*house(7), newcomer])
    play(tmp_path, fixtures + 20)
    ledger = ledger_of(tmp_path)
    matches = [summary.number for summary in ledger.summaries() if "new" in summary.players]
    ledger.close()
    assert matches
    assert min(matches) > fixtures


def test_another_seed_or_rating_is_refused_for_an_arena_with_matches(tmp_path: Path) -> None:
    interrupted(tmp_path)
    for section in ({"seed": 9}, {"rating": {"k_factor": 99}}):
        write_arena(tmp_path, **section)
        with pytest.raises(SettingsError, match="arena was made with"):
            play(tmp_path, 3)


# ----------------------------------------------------------------------------------------------- faults


def test_a_fault_in_an_observer_ends_the_run_at_once_and_loses_nothing(tmp_path: Path) -> None:
    write_arena(tmp_path)

    def observe(record: object, summary: object) -> None:
        raise ZeroDivisionError("a view broke")

    with open_arena(tmp_path) as arena, pytest.raises(ZeroDivisionError, match="a view broke"):
        arena.run(20, observe=observe)
    assert head(tmp_path)[0] > 0
    calm = write_arena(tmp_path / "calm")
    play(calm, 20)
    play(tmp_path, 20)
    assert head(tmp_path) == head(calm)
    assert set(statuses(tmp_path)) <= {"done", "no_challenge", "inconclusive"}


def test_a_game_that_breaks_ends_the_run_with_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not a fault of any player: the run stops at once rather than hang."""

    def breaks(table: GameTable) -> Steps[Outcome]:
        steps = DUEL.play(table)
        raise LookupError((yield next(steps)))

    monkeypatch.setattr(plans, "GAMES", {"duel": dataclasses.replace(DUEL, play=breaks)})
    write_arena(tmp_path)
    for clients in (paced(0, 0.01), None):
        with (
            open_arena(tmp_path) as arena,
            pytest.raises(GameError, match=r"game 'duel', match \d+ raised"),
        ):
            asyncio.run(arena.play(20, clients=clients))
