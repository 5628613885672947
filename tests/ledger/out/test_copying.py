"""A ledger in another store: the same heads, whoever writes to the source meanwhile."""

from __future__ import annotations

from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.engine.arenas import SMALL, house, play, write_arena
from typer.testing import CliRunner

from peerage.arena import Arena, open_arena
from peerage.cli.main import app
from peerage.ledger import Batch, LedgerError, amend, open_ledger
from peerage.ledger.out.copying import copy
from peerage.ledger.tables import StoredRows
from peerage.ledger.topics.votes import PeopleVotes, Vote
from peerage.standings.verify import verify

pytestmark = pytest.mark.usefixtures("plain_bodies")

if TYPE_CHECKING:
    from tests.servers.mongo import MongoServer
    from tests.servers.postgres import PostgresServer

SETTINGS = "name: a\nseed: 5\ngame: text-metrics\nplayers: [house:0.9, house:0.7, house:0.5, house:0.3]\n"
MATCHES = 40
cli = CliRunner()


def arena(folder: Path, ledger: str = "sqlite:///arena.db") -> Arena:
    folder.mkdir(exist_ok=True)
    (folder / "arena.yaml").write_text(f"{SETTINGS}ledger: {ledger}\n")
    return open_arena(folder)


def test_through_all_stores_and_back_both_heads_stay(
    postgres: PostgresServer, mongo: MongoServer, tmp_path: Path
) -> None:
    server, other = postgres.address(), mongo.address()
    with arena(tmp_path / "one") as one:
        one.run(MATCHES)
        pictures = {sha256(body).hexdigest(): body for body in (b"\x89PNG" + bytes(9), b"RIFF" * 99)}
        with one.ledger.runner():
            one.ledger.write(Batch(media=[(bytes.fromhex(of), body) for of, body in pictures.items()]))
        record = one.ledger.match(1)
        assert record is not None
        PeopleVotes(one.ledger.address, one.folder).cast(Vote(1, "00", ("A", "B"), "tie", "v"), 7)
        due = one.verify()
    (tmp_path / "two").mkdir()
    back = f"sqlite:///{tmp_path}/two/arena.db"
    for source, target in ((str(tmp_path / "one"), server), (server, other), (other, back)):
        done = cli.invoke(app, ["copy", source, target])
        assert f"play head: {due.head}\nlog root: {due.log_root}\n" in done.stdout, done.stderr
        assert f"copied {MATCHES} matches, 0 under way and 1 vote" in done.stdout
    with arena(tmp_path / "two", back) as two:
        found = two.verify()
        assert (found.streams, found.ended) == (due.streams, True)
        assert list(map(str, found.problems)) == list(map(str, due.problems))
        with arena(tmp_path / "one") as one:
            assert list(two.ledger.exchanges(1)) == list(one.ledger.exchanges(1))
            assert list(two.ledger.snapshots()) == list(one.ledger.snapshots())
            assert two.ledger.meta() == one.ledger.meta()
            assert two.ledger.media(two.ledger.media_digests()) == pictures
            assert [row.matches for row in map(_report, (one, two))] == [MATCHES + 5] * 2
            assert one.verify().head == two.verify().head


def _report(opened: Arena) -> Any:
    opened.run(MATCHES + 5)
    return opened.verify()


@pytest.mark.parametrize("kind", ["sqlite", "postgres", "mongo"])
def test_a_run_goes_on_while_its_ledger_is_copied(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = "sqlite:///arena.db" if kind == "sqlite" else request.getfixturevalue(kind).address()
    with arena(tmp_path / "calm") as calm:
        calm.run(MATCHES)
        due = calm.verify().head
    (tmp_path / "copy").mkdir()
    with (
        arena(tmp_path / "live", address) as live,
        closing(open_ledger("sqlite:///arena.db", tmp_path / "copy", create=True)) as target,
    ):
        pins: list[Any] = []

        def observe(*_: object) -> None:
            pins.append(live.ledger.moment(StoredRows.pin))
            if len(pins) == 30:  # as if so much had been written since the copy began
                monkeypatch.setattr(StoredRows, "pin", lambda rows: pins[9])
                votes = (
                    PeopleVotes(live.ledger.address, live.folder),
                    PeopleVotes(target.address, tmp_path / "copy"),
                )
                copy(live.ledger, target, votes)
                monkeypatch.undo()

        live.run(MATCHES, observe=observe)
        assert live.verify().head == due
    with arena(tmp_path / "copy") as copied:
        found = copied.verify()
        assert found.problems == ()
        assert found.matches >= 10
        rows = list(copied.ledger.exchanges(1))
        assert max(row.id for row in rows) == pins[9].intents
        assert max(row.reply_id or 0 for row in rows) == pins[9].replies
        assert copied.run(MATCHES).reason == "limit"
        assert copied.verify().head == due


@pytest.mark.parametrize("most", [1, 3])
def test_a_copy_is_the_same_in_parts_of_any_size(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MATCHES", "MOST_MATCHES", "BYTES", "ROWS", "MOST_TEXTS"):
        monkeypatch.setattr(f"peerage.ledger.out.copying.{name}", most)
    monkeypatch.setattr("peerage.engine.run.folding.SNAPSHOT_EVERY", 3)
    written: list[Batch] = []
    with arena(tmp_path) as played:
        played.run(10)
        with played.ledger.runner():  # statements about the arena, far from each other in the log
            for at in range(7):
                amend(played.ledger, "probes", [{"found": {}}] * at, at)
        with closing(open_ledger("sqlite:///copy.db", tmp_path, create=True)) as target:
            real = target.write

            def write(batch: Batch) -> None:
                written.append(batch)
                real(batch)

            monkeypatch.setattr(target, "write", write)
            votes = PeopleVotes(played.ledger.address, tmp_path), PeopleVotes(target.address, tmp_path)
            copy(played.ledger, target, votes)
            assert verify(target) == verify(played.ledger)
            assert list(target.amendments()) == list(played.ledger.amendments())
            assert list(target.snapshots()) == list(played.ledger.snapshots())
            assert target.texts() == played.ledger.texts()
            snapshots = len(list(target.snapshots()))
    assert snapshots > 2
    assert max(len(batch.log or ()) for batch in written) == most
    assert max(len(batch.fixtures) for batch in written) <= most
    assert sum(bool(batch.snapshots) for batch in written) == snapshots


def test_what_is_not_copied(tmp_path: Path) -> None:
    play(write_arena(tmp_path / "old", house(4), rules=SMALL), 2)
    address = f"sqlite:///{tmp_path}/old/arena.db"
    done = cli.invoke(app, ["copy", address, f"sqlite:///{tmp_path}/new.db"])
    assert done.exit_code == 0
    done = cli.invoke(app, ["copy", f"sqlite:///{tmp_path}/new.db", address])
    assert (done.exit_code, "holds an arena already" in done.stderr) == (1, True)
    done = cli.invoke(app, ["copy", str(tmp_path), address])
    assert (done.exit_code, "neither a folder with an arena.yaml" in done.stderr) == (2, True)


def test_a_damaged_source_is_refused(tmp_path: Path) -> None:
    import sqlite3

    with arena(tmp_path) as played:
        played.run(3)
        with closing(sqlite3.connect(tmp_path / "arena.db")) as file:
            file.execute("UPDATE replies SET body = CAST(body || ' ' AS BLOB) WHERE id = 2")
            file.commit()
        with closing(open_ledger("sqlite:///copy.db", tmp_path, create=True)) as target:
            votes = PeopleVotes(played.ledger.address, tmp_path), PeopleVotes(target.address, tmp_path)
            with pytest.raises(LedgerError, match="match 1 is damaged"):
                copy(played.ledger, target, votes)
            with target.runner():  # nobody takes it for the whole
                target.write(Batch(meta={"seed": "1"}))
            with pytest.raises(LedgerError, match="holds an arena already"):
                copy(played.ledger, target, votes)
