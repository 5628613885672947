"""The SQLite ledger and the world around it: other files, other versions, full and unwritable disks."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest
from bench.sample import sample
from tests.ledger.on_servers import NEWER

from peerage.ledger import Batch, FixtureRow, IntentRow, Ledger, LedgerError, ReplyRow, Summary, open_ledger
from peerage.ledger.forms import schema
from peerage.ledger.forms.rows import SCHEMA
from peerage.ledger.opening import prepare
from peerage.ledger.stores.sql import SqlTransaction
from peerage.ledger.stores.sqlite import SqliteStore
from peerage.standings.verify import verify


@pytest.fixture(autouse=True, scope="module")
def unsynced_ledgers() -> None:
    """Here ledgers are synced, as arenas' are."""


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = open_ledger("sqlite:///arena.db", tmp_path, create=True)
    assert isinstance(opened, Ledger)
    yield opened
    opened.close()


def fails(address: str, folder: Path, create: bool = False) -> str:
    with pytest.raises(LedgerError) as caught:
        open_ledger(address, folder, create=create)
    return str(caught.value)


# --------------------------------------------------------------------------------------------- addresses


@pytest.mark.parametrize("address", ["arena.db", "mysql://me:pass@host", "oracle://x"])
def test_other_addresses_say_what_to_write(address: str, tmp_path: Path) -> None:
    message = fails(address, tmp_path, create=True)
    assert address.replace("me:pass@", "") in message
    assert "sqlite:///arena.db" in message
    assert "this kind of address is unknown" in message
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("address", ["sqlite://", "sqlite:///", "sqlite:///:memory:"])
def test_an_address_without_a_file(address: str, tmp_path: Path) -> None:
    assert "names no file" in fails(address, tmp_path, create=True)


@pytest.mark.parametrize("name", ["arena.db", "a b?c#d%41.db", "münchen 🦚.db", "sub/../x.db"])
def test_relative_and_absolute_files(name: str, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    relative = open_ledger(f"sqlite:///{name}", tmp_path, create=True)
    absolute = open_ledger(f"sqlite:///{(tmp_path / name).resolve()}", Path("/nowhere"), create=False)
    with relative.runner():
        relative.write(Batch(meta={"a": "b"}))
    assert absolute.meta()["a"] == "b"
    assert (tmp_path / name).exists()
    relative.close()
    absolute.close()


# ------------------------------------------------------------------------------------------ the file itself


def test_the_file_is_as_decided(ledger: Ledger, tmp_path: Path) -> None:
    with ledger.runner():
        for batch in sample(20):
            ledger.write(batch)
        assert ledger.heads() == (20, 20)
        assert (tmp_path / "arena.db-wal").stat().st_size > 0
    # A reader's connection is still open; all the same the file alone is complete.
    assert (tmp_path / "arena.db-wal").stat().st_size == 0
    file = sqlite3.connect(tmp_path / "arena.db")
    assert file.execute("PRAGMA page_size").fetchone() == (16_384,)
    assert file.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    file.close()


def test_the_page_about_the_format_lists_every_table_and_column() -> None:
    page = (Path(__file__).parents[3] / "docs" / "ledger.md").read_text("utf-8")
    listed = {}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 5 and cells[1].startswith("`"):
            listed[cells[1].strip("`")] = [column.strip("`") for column in cells[2].split(", ")]
    assert listed == {table.name: list(table.columns) for table in schema.TABLES}


def test_commits_are_synced_in_full(ledger: Ledger) -> None:
    with ledger._store.lock() as transaction:
        connection = cast(SqlTransaction, transaction).connection
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_of_a_file_that_is_made_in_one_go_no_commit_waits_for_the_disk(tmp_path: Path) -> None:
    with closing(SqliteStore("sqlite:///copy.db", tmp_path, durable=False)) as store:
        prepare(store, create=True)
        with store.lock() as transaction:
            connection = cast(SqlTransaction, transaction).connection
            assert connection.execute("PRAGMA synchronous").fetchone() == (0,)


def test_a_duel_of_two_kilobyte_replies_takes_sixty_kilobytes_at_most(ledger: Ledger, tmp_path: Path) -> None:
    duels, step = 150, 60
    keys = [f"judge/{judge}/ab" for judge in range(18)]
    request, answer = b"q" * 400, b"r" * 2200
    with ledger.runner():
        for start in range(1, duels + 1, step):
            matches = range(start, min(start + step, duels + 1))
            for key in keys:
                intents = [
                    IntentRow(match, key, 1, "some-provider/some-model", request, 5_000_000)
                    for match in matches
                ]
                replies = [ReplyRow(match, key, 1, answer, 123_456, 1_767_225_600_000) for match in matches]
                ledger.write(Batch(intents=intents))
                ledger.write(Batch(replies=replies))
        for batch in sample(duels, reply_chars=1):
            batch.intents, batch.replies = [], []
            ledger.write(batch)
    assert (tmp_path / "arena.db").stat().st_size / duels <= 60_000


def test_a_damaged_snapshot_is_passed_over(ledger: Ledger, tmp_path: Path) -> None:
    with ledger.runner():
        ledger.write(Batch(snapshots=[(10, b"ten"), (20, b"twenty")]))
    with sqlite3.connect(tmp_path / "arena.db") as file:
        file.execute("UPDATE snapshots SET body = ? WHERE number = 20", [b"twentz"])
    file.close()
    assert ledger.snapshot() == (10, b"ten")


# ------------------------------------------------------------------------------------------------- versions


def test_a_newer_ledger_is_refused(ledger: Ledger, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "arena.db") as file:
        file.execute("UPDATE meta SET value = '7 9.1' WHERE key = 'schema'")
    file.close()
    assert NEWER in fails("sqlite:///arena.db", tmp_path)


@pytest.mark.parametrize("fact", ["1", "7", "0 9.1", "1 0.2.00", "7 ", "7 '; rm -r ~", "x 9.1", 7])
def test_a_schema_that_nobody_writes_is_damage(fact: object, ledger: Ledger, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "arena.db") as file:
        file.execute("UPDATE meta SET value = ? WHERE key = 'schema'", [fact])
    file.close()
    message = fails("sqlite:///arena.db", tmp_path)
    assert "is damaged: the schema version" in message
    assert f"expected {SCHEMA!r}" in message


# ----------------------------------------------------------------------------------------- what is no ledger


def test_no_file(tmp_path: Path) -> None:
    message = fails("sqlite:///arena.db", tmp_path)
    assert str(tmp_path / "arena.db") in message
    assert "peerage run" in message
    assert not list(tmp_path.iterdir())


def test_an_empty_file_is_no_ledger_but_may_become_one(tmp_path: Path) -> None:
    (tmp_path / "arena.db").touch()
    assert "is empty" in fails("sqlite:///arena.db", tmp_path)
    open_ledger("sqlite:///arena.db", tmp_path, create=True).close()


@pytest.mark.parametrize("create", [True, False])
@pytest.mark.parametrize(
    "content", [b"once upon a time " * 2000, b"PK\x03\x04", b"SQLite format 3\x00" + b"\xff" * 9000]
)
def test_a_file_of_something_else_is_left_alone(content: bytes, create: bool, tmp_path: Path) -> None:
    (tmp_path / "arena.db").write_bytes(content)
    assert str(tmp_path / "arena.db") in fails("sqlite:///arena.db", tmp_path, create)
    assert (tmp_path / "arena.db").read_bytes() == content


@pytest.mark.parametrize("create", [True, False])
def test_another_database_is_left_alone(create: bool, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "arena.db") as file:
        file.execute("CREATE TABLE recipes (name TEXT)")
    file.close()
    before = (tmp_path / "arena.db").read_bytes()
    message = fails("sqlite:///arena.db", tmp_path, create)
    assert "recipes" in message
    assert "not a ledger" in message
    assert (tmp_path / "arena.db").read_bytes() == before


@pytest.mark.parametrize("create", [True, False])
def test_a_file_whose_maker_was_killed_is_taken_back_and_made_anew(create: bool, tmp_path: Path) -> None:
    making = tmp_path / "making"
    making.mkdir()
    with closing(sqlite3.connect(making / "arena.db", isolation_level=None)) as maker:
        maker.execute("PRAGMA cache_size=1")
        maker.execute("BEGIN IMMEDIATE")
        maker.execute("CREATE TABLE some (body)")
        maker.executemany("INSERT INTO some VALUES (?)", [(bytes(10_000),)] * 20)
        for path in making.iterdir():  # as it lies there when the process dies now
            shutil.copy(path, tmp_path)
    assert (tmp_path / "arena.db-journal").stat().st_size > 0
    if not create:
        assert "`peerage run` makes a ledger of it" in fails("sqlite:///arena.db", tmp_path)
    with closing(open_ledger("sqlite:///arena.db", tmp_path, create=True)) as ledger:
        assert list(ledger.fixtures()) == []


def test_a_folder_where_the_file_should_be(tmp_path: Path) -> None:
    (tmp_path / "arena.db").mkdir()
    assert f"{tmp_path / 'arena.db'} is a folder" in fails("sqlite:///arena.db", tmp_path, create=True)


def test_no_folder(tmp_path: Path) -> None:
    message = fails("sqlite:///none/arena.db", tmp_path, create=True)
    assert f"no folder {tmp_path / 'none'}" in message
    assert not list(tmp_path.iterdir())


# ------------------------------------------------------------------------------------- disks and permissions


def limit_pages(ledger: Ledger, pages: int) -> None:
    assert ledger._writer is not None
    connection = cast(SqlTransaction, ledger._writer.transaction).connection
    connection.execute(f"PRAGMA max_page_count = {pages}")
    connection.rollback()


def test_a_full_disk_loses_nothing(ledger: Ledger) -> None:
    written = 0

    def fill() -> None:
        nonlocal written
        while True:
            ledger.write(Batch(fixtures=[FixtureRow(written + 1, 1, bytes(9000))]))
            written += 1

    with ledger.runner():
        limit_pages(ledger, 40)
        with pytest.raises(LedgerError, match=r"full.*Free some space"):
            fill()
        assert written > 5
        assert ledger.heads() == (written, 0)
        limit_pages(ledger, 1000)
        ledger.write(Batch(fixtures=[FixtureRow(written + 1, 1, b"{}")]))
    assert [row.number for row in ledger.fixtures()] == list(range(1, written + 2))


AS_NOBODY = """
import os, sys
from pathlib import Path
import filelock, peerage.ledger.ledger, peerage.ledger.stores.sqlite, sqlite3
from peerage.ledger import LedgerError, open_ledger
os.setgid(65534)
os.setuid(65534)
try:
    ledger = open_ledger("sqlite:///arena.db", Path(sys.argv[1]), create=sys.argv[2] == "create")
    print(ledger.heads())
    with ledger.runner():
        print("held")
except LedgerError as error:
    print(error)
"""


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="becomes another user, so must be root")
@pytest.mark.parametrize("what", ["create", "open"])
def test_a_folder_that_is_not_ours_to_write(what: str, ledger: Ledger, tmp_path: Path) -> None:
    for folder in [tmp_path, *tmp_path.parents[:3]]:
        folder.chmod(0o755)
    if what == "create":
        ledger.close()
        (tmp_path / "arena.db").unlink()
    said = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, str(tmp_path), what], capture_output=True, text=True
    )
    assert said.stderr == ""
    lines = said.stdout.splitlines()
    if what == "open":
        assert lines.pop(0) == "(0, 0)"
    assert lines[0].startswith(f"cannot lock {tmp_path / 'arena.db'}")


def test_a_program_that_holds_the_file(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("peerage.ledger.stores.sqlite.PATIENCE_S", 0.05)
    other = sqlite3.connect(tmp_path / "arena.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError, match="another program"), ledger.runner():
        pass
    other.close()
    with ledger.runner():
        pass


def test_a_note_of_the_runner_that_makes_no_sense(ledger: Ledger, tmp_path: Path) -> None:
    with ledger.runner():
        note = tmp_path / "arena.db.runner"
        assert json.loads(note.read_text())["pid"] == os.getpid()
        note.write_text("{")
        with pytest.raises(LedgerError, match=r"another runner holds \S+arena.db;"), ledger.runner():
            pass
    assert not note.exists()


def test_a_page_of_garbage_is_named_as_damage(ledger: Ledger, tmp_path: Path) -> None:
    with ledger.runner():
        for batch in sample(50):
            ledger.write(batch)
    ledger.close()
    content = bytearray((tmp_path / "arena.db").read_bytes())
    for page in range(16_384 * 20, len(content), 16_384):
        content[page : page + 200] = b"\xee" * 200
    (tmp_path / "arena.db").write_bytes(content)
    damaged: Ledger = open_ledger("sqlite:///arena.db", tmp_path, create=False)
    with pytest.raises(LedgerError, match="is damaged"):
        list(damaged.exchanges(1))
    damaged.close()


def whole(ledger: Ledger) -> list[Summary]:
    """The narrow table, as far as records go."""
    return list(ledger.summaries(1, ledger.heads()[1]))


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("UPDATE records SET number = 9223372036854775807 WHERE number = 6", "records holds a match 92233"),
        (
            "UPDATE summaries SET at_ms = 253402300800000 WHERE number = 3",
            "narrow table is not what was logged",
        ),
        ("UPDATE summaries SET at_ms = -1 WHERE number = 3", "narrow table is not what was logged"),
    ],
)
def test_numbers_that_nobody_wrote_are_damage(
    ledger: Ledger, tmp_path: Path, statement: str, told: str
) -> None:
    with ledger.runner():
        for batch in sample(6):
            ledger.write(batch)
    with sqlite3.connect(tmp_path / "arena.db") as file:
        file.execute(statement)
    file.close()
    with pytest.raises(LedgerError, match=told):
        whole(ledger)


TOO_LARGE = """
import resource, signal, sys
from hashlib import sha256
from pathlib import Path
from peerage.ledger import LedgerError, open_ledger
from peerage.ledger.forms.rows import Batch, FixtureRow
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
ledger = open_ledger("sqlite:///arena.db", Path(sys.argv[1]), create=False)
settings = sha256(b"{}").digest()
text = '{"number":%d,"round":1,"game":"duel","version":1,"seats":[],"seed":{},'
text += f'"settings":"{settings.hex()}"}}'


def fixture(number):
    return FixtureRow(number, 1, (text % number).encode().ljust(9000))


with ledger.runner():
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
    written = 1
    ledger.write(Batch(texts=[(settings, "{}")], fixtures=[fixture(1)]))
    try:
        while True:
            ledger.write(Batch(fixtures=[fixture(written + 1)]))
            written += 1
    except LedgerError as error:
        print(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert ledger.heads() == (written, 0), (ledger.heads(), written)
    ledger.write(Batch(fixtures=[fixture(written + 1)]))
    print(written)
"""


@pytest.mark.skipif(os.name != "posix", reason="needs limits of POSIX")
def test_a_disk_that_fails_in_the_middle_of_a_commit_loses_nothing(ledger: Ledger, tmp_path: Path) -> None:
    said = subprocess.run([sys.executable, "-c", TOO_LARGE, str(tmp_path)], capture_output=True, text=True)
    assert said.stderr == ""
    message, written = said.stdout.splitlines()
    assert message.startswith("the disk failed under") or "full" in message
    assert int(written) > 5
    assert [row.number for row in ledger.fixtures()] == list(range(1, int(written) + 2))
    assert verify(ledger).problems == ()
