"""The log: what derived data is held by, and how a run refuses what is not as it was."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any, cast
from unittest.mock import patch
from zlib import crc32

import pytest
from bench.sample import sample
from tests.engine.arenas import SMALL, head, house, ledger_of, play, write_arena
from tests.ledger.everything import everything
from typer.testing import CliRunner

from peerage.arena import open_arena
from peerage.cli.main import app
from peerage.ledger import Amendment, Batch, FixtureRow, IntentRow, LedgerError, amend, open_ledger
from peerage.ledger.forms.log import linked
from peerage.ledger.forms.schema import TABLES
from peerage.ledger.out.disclosure import write_redacted
from peerage.ledger.writer import Writer
from peerage.standings.verify import verify

pytestmark = pytest.mark.usefixtures("plain_bodies")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_arena(tmp_path_factory.mktemp("log"), house(6), rules=SMALL)
    play(folder, 70)
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "copy"))


def changed(folder: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(folder / "arena.db")) as db, db:
        assert db.execute(statement, values).rowcount > 0


def forged_snapshot(folder: Path) -> int:
    """Raise one player's rating in the newest snapshot, with the checksum that goes with it."""
    with closing(sqlite3.connect(folder / "arena.db")) as db, db:
        [(number, body)] = db.execute("SELECT max(number), body FROM snapshots").fetchall()
        snapshot = json.loads(body)
        snapshot["raw"][2] += 500
        snapshot["accounts"][snapshot["players"][2]]["wins"] += 5
        forged = json.dumps(snapshot, separators=(",", ":")).encode()
        row = (forged, crc32(forged), number)
        db.execute("UPDATE snapshots SET body = ?, checksum = ? WHERE number = ?", row)
    return int(number)


def relogged(folder: Path, about: str, digest: bytes) -> None:
    """Forge an entry of the log, and the chain from it on."""
    with closing(sqlite3.connect(folder / "arena.db")) as db, db:
        chain = bytes(32)
        for position, said, held in db.execute("SELECT position, about, digest FROM log").fetchall():
            held = digest if said == about else held
            chain = linked(chain, said, held)
            db.execute("UPDATE log SET digest = ?, chain = ? WHERE position = ?", (held, chain, position))


def problems(folder: Path) -> list[str]:
    with closing(ledger_of(folder)) as ledger:
        return [str(problem) for problem in verify(ledger).problems]


def board(folder: Path, track: str) -> list[dict[str, object]]:
    with open_arena(folder, create=False) as arena:
        return arena.leaderboard(track)


@pytest.mark.parametrize("logged", ["as it was", "forged too"])
def test_a_forged_snapshot_rules_nothing(whole: Path, folder: Path, logged: str) -> None:
    number = forged_snapshot(folder)
    if logged == "forged too":
        with closing(ledger_of(folder)) as ledger:
            body = next(body for at, body, _ in ledger.snapshots() if at == number)
        relogged(folder, f"snapshot {number}", sha256(body).digest())
    told = problems(folder)
    assert told
    assert all(f"match {number}: the snapshot after it" in one for one in told)
    if logged != "forged too":  # then everything is of one piece, and only a fold of all matches tells
        for track in ("raw", "cost"):
            assert board(folder, track) == board(whole, track)
    before = head(folder)
    with pytest.raises(LedgerError, match=rf"match {number}: the snapshot after it.*replay --repair"):
        play(folder, 75)
    assert head(folder) == before
    assert CliRunner().invoke(app, ["replay", "--repair", "--dir", str(folder)]).exit_code == 0
    assert problems(folder) == []
    play(folder, 75)
    assert problems(folder) == []


def test_a_ledger_that_lost_its_log_is_refused(folder: Path) -> None:
    changed(folder, "DELETE FROM log")
    forged_snapshot(folder)
    assert "the whole log is missing" in problems(folder)
    with pytest.raises(LedgerError, match="is not as it was written"):
        play(folder, 75)


@pytest.mark.parametrize("table", [table.name for table in TABLES])
@pytest.mark.parametrize("command", ["verify", "leaderboard", "stats", "status", "replay"])
def test_a_ledger_that_lost_a_table_is_said_to_lack_it(folder: Path, table: str, command: str) -> None:
    with closing(sqlite3.connect(folder / "arena.db")) as db:
        db.execute(f"DROP TABLE {table}")
    done = CliRunner().invoke(app, [command, "--dir", str(folder)])
    assert done.exit_code in (1, 2)
    lost = (
        "no schema version"
        if table == "meta"
        else f"lacks the table {table}: it was made by a development version"
    )
    assert lost in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        (
            "UPDATE summaries SET scores = '[0.25,0.75]' WHERE number = 9",
            "match 9: the narrow table says scores",
        ),
        ("UPDATE records SET at_ms = at_ms + 1 WHERE number = 9", "match 9: the narrow table says at_ms"),
        (
            "UPDATE meta SET value = '7' WHERE key = 'lag'",
            "the fact 'lag' in the table meta is not as it was",
        ),
        ("DELETE FROM meta WHERE key = 'window'", "the fact 'window' is missing"),
        (
            "UPDATE records SET body = CAST(replace(body, '\"number\":9', '') AS BLOB) WHERE number = 9",
            "match 9: its record changed",
        ),
        (
            "UPDATE entries SET at_ms = 1 WHERE topic = 'players'",
            "of the log, about players, is not as it was",
        ),
        ("DELETE FROM log", "the whole log is missing"),
    ],
)
def test_a_run_does_not_begin_on_what_is_not_as_it_was(folder: Path, statement: str, told: str) -> None:
    changed(folder, statement)
    before = (folder / "arena.db").read_bytes()
    done = CliRunner().invoke(app, ["run", "--dir", str(folder), "--max-matches", "75", "--yes"])
    assert done.exit_code == 1
    held = "its narrow table is not what was logged" in done.output  # read before anything else is checked
    assert told in done.output or held
    assert "Nothing was written" in done.output or held
    assert (folder / "arena.db").read_bytes() == before
    assert any(told in one for one in problems(folder))


def test_tables_hold_the_narrow_table_against_the_log(folder: Path) -> None:
    changed(folder, "UPDATE summaries SET scores = '[0.25,0.75]' WHERE number = 9")
    with pytest.raises(LedgerError, match=r"narrow table is not what was logged.*replay --repair"):
        board(folder, "bt")


def test_what_a_run_begins_and_does_not_end_is_no_fault(folder: Path) -> None:
    """The log of a run that was killed ends without what is in play; the next one goes on from there."""
    with closing(ledger_of(folder)) as ledger, ledger.runner():
        ledger.write(Batch(meta={"budget": "[1.0,null]", "budget_since": "70"}))
        assert verify(ledger).problems == ()
        assert not verify(ledger).ended
        shutil.copytree(folder, folder.parent / "killed", ignore=shutil.ignore_patterns("*-shm", "*.lock"))
        assert ledger.meta()["budget"] == "[1.0,null]"
    killed = folder.parent / "killed"
    assert problems(killed) == []
    play(killed, 72)
    with closing(ledger_of(killed)) as ledger:
        report = verify(ledger)
    assert (report.ok, report.ended) == (True, True)


def test_nothing_is_logged_beside_what_changed_in_play(folder: Path) -> None:
    """Whoever writes next, as who annotates or imports, would say of it that it is as it was."""
    changed(folder, "UPDATE fixtures SET round = round + 1 WHERE number = (SELECT max(number) FROM fixtures)")
    with closing(ledger_of(folder)) as ledger:
        before = [*ledger.log()]
        with ledger.runner(), pytest.raises(LedgerError, match="what is in play after match 70 changed"):
            ledger.write(Batch(meta={"budget": "[1.0,null]"}))
        assert [*ledger.log()] == before
    assert problems(folder) != []


def test_what_another_thread_has_still_to_write_does_not_come_after_the_end(tmp_path: Path) -> None:
    class Yielding:
        """A lock that others have as soon as they can."""

        def __init__(self, lock: Any) -> None:
            self._lock = lock

        def __enter__(self) -> None:
            self._lock.acquire()

        def __exit__(self, *_: object) -> None:
            self._lock.release()
            sleep(0.05)

    refused: list[str] = []

    def late() -> None:
        try:
            ledger.write(Batch(intents=[IntentRow(1, "k", 1, "p", b"{}", 0)]))
        except LedgerError as error:
            refused.append(str(error))

    with closing(open_ledger("sqlite:///arena.db", tmp_path, create=True)) as ledger:
        thread, end = Thread(target=late), Writer.end

        def ends(writer: Writer) -> None:
            thread.start()
            end(writer)

        ledger._writing = cast(Any, Yielding(ledger._writing))
        with patch.object(Writer, "end", ends), ledger.runner():
            ledger.write(Batch(fixtures=[FixtureRow(1, 1, b"{}")]))
        thread.join()
        (told,) = refused
        assert "is written only inside" in told
        rows = ledger.match(1)
        assert rows is not None
        assert rows.exchanges == []


def test_the_log_depends_on_no_time_of_its_own(whole: Path) -> None:
    with closing(ledger_of(whole)) as ledger:
        entries = list(ledger.log())
    assert [entry.position for entry in entries] == list(range(1, len(entries) + 1))
    kinds = {entry.about.rpartition(" ")[0].partition(" ")[0] for entry in entries}
    assert kinds == {"run", "fact", "", "record", "narrow", "snapshot", "in"}


@pytest.mark.parametrize("engine", [{"concurrency": 1}, {"concurrency": 64, "calls": 5}])
def test_the_log_is_written_in_one_order(whole: Path, tmp_path: Path, engine: dict[str, int]) -> None:
    """However many matches are played at once, and however many records one transaction holds."""
    folder = write_arena(tmp_path / "arena", house(6), rules=SMALL, engine=engine)
    with open_arena(folder) as arena:
        arena.run(70)  # no virtual time: a thread writes what has gathered meanwhile
    with closing(ledger_of(folder)) as ledger, closing(ledger_of(whole)) as other:
        said = [entry.about for entry in ledger.log()]
        assert said == [entry.about for entry in other.log()]
    at = said.index("record 64")
    assert said[at : at + 4] == ["record 64", "narrow 64", "snapshot 64", "record 65"]


def test_what_rests_on_a_record_stands_after_it_in_the_log(tmp_path: Path) -> None:
    with closing(open_ledger("sqlite:///arena.db", tmp_path, create=True)) as ledger, ledger.runner():
        [batch] = sample(3, together=3)
        first, second, third = [Amendment("benches", b"%d" % number, 5) for number in range(3)]
        batch.amendments.append(first)
        records, batch.records = batch.records, []
        batch.records += records[:2]
        batch.amend(second)
        batch.records += records[2:]
        batch.amend(third)
        batch.snapshots.append((2, b"{}"))
        ledger.write(batch)
        said = [entry.about for entry in ledger.log()]
        filed = [(row.position, row.body) for row in ledger.amendments("benches")]
    due = "run 0,benches,record 1,record 2,benches,narrow 2,snapshot 2,record 3,benches"
    assert said == due.split(",")
    assert filed == [(2, b"0"), (5, b"1"), (9, b"2")]


def test_every_amendment_on_any_topic_is_logged_in_the_order_of_writing(whole: Path, folder: Path) -> None:
    with closing(ledger_of(folder)) as ledger, ledger.runner():
        for topic in ("challenges", "public", "outside", "probes", "anything"):
            amend(ledger, topic, [{"a": 1}, {"a": 2}], 5)
    with closing(ledger_of(folder)) as ledger:
        filed = [(row.position, row.topic) for row in ledger.amendments()]
        logged = [(entry.position, entry.about) for entry in ledger.log() if " " not in entry.about]
        assert {"arena", "players"} < set(ledger.topics())
    assert logged == filed


def test_matches_that_entered_the_log_in_another_order_are_told(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "arena.db")) as db, db:
        db.execute("UPDATE log SET about = 'record 0' WHERE about = 'record 5'")
        db.execute("UPDATE log SET about = 'record 5' WHERE about = 'record 6'")
        db.execute("UPDATE log SET about = 'record 6' WHERE about = 'record 0'")
    relogged(folder, "", b"")
    assert any(
        "match 6: it entered the log in place of match 5, at position" in one for one in problems(folder)
    )


def copied(folder: Path) -> Path:
    """A copy for others, which must verify."""
    to = folder.with_name(f"{folder.name}-shown")
    to.mkdir()
    with closing(ledger_of(folder)) as ledger:
        write_redacted(ledger, to / "arena.db")
        original = verify(ledger)
    with closing(ledger_of(to)) as ledger:
        report = verify(ledger)
    assert report.problems == ()
    assert (report.head, report.copy) == (original.head, True)
    return to


def test_the_script_without_peerage_checks_originals_and_copies(whole: Path, tmp_path: Path) -> None:
    script = Path(__file__).parents[2] / "examples" / "check" / "ledger.py"

    def checked(folder: Path) -> tuple[int, str]:
        command = [sys.executable, "-I", "-W", "error", script, folder / "arena.db"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    disclosed = everything(tmp_path / "disclosed")
    for folder in (whole, disclosed, copied(whole), copied(disclosed)):
        number, chain = head(folder)
        code, said = checked(folder)
        assert (code, said.splitlines()[0]) == (0, f"{number} matches, head {chain}")
        with closing(ledger_of(folder)) as ledger:
            root = verify(ledger).log_root
        assert said.splitlines()[1] == f"log root {root}"
    with closing(ledger_of(disclosed)) as ledger:
        first, second, *_ = [row.position for row in ledger.amendments()]
    for statement, named in (
        (f"UPDATE entries SET body = CAST(body || ' ' AS BLOB) WHERE position = {first}", f"entry {first}"),
        (f"UPDATE entries SET at_ms = at_ms + 1 WHERE position = {first}", f"entry {first}"),
        (f"DELETE FROM entries WHERE position = {second}", f"entry {second}"),
        ("UPDATE replies SET body = CAST(replace(body, 'ok', 'no') AS BLOB) WHERE id = 3", "match 1"),
        ("UPDATE log SET about = 'record 99' WHERE about = 'record 4'", "match 99"),
    ):
        damaged = Path(shutil.copytree(disclosed, tmp_path / "damaged", dirs_exist_ok=True))
        changed(damaged, statement)
        code, said = checked(damaged)
        assert code == 1
        assert named in said.splitlines()
