"""What only a ledger on MongoDB does: long bodies, secondaries, rights; on a real server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.ledger.on_servers import NEWER, fails, fixture

from peerage.ledger import Batch, FixtureRow, IntentRow, Ledger, LedgerError, RecordRow, ReplyRow, open_ledger
from peerage.ledger.stores import access

if TYPE_CHECKING:
    from tests.servers.mongo import MongoServer


@pytest.fixture
def ledger(mongo: MongoServer) -> Iterator[Ledger]:
    with closing(open_ledger(mongo.address(), Path(), create=True)) as opened:
        yield opened


@pytest.mark.usefixtures("plain_bodies")
def test_a_body_beyond_the_limit_of_a_document(ledger: Ledger) -> None:
    body, reply = b"r" * 40_000_000, bytes(range(256)) * 80_000
    with ledger.runner():
        ledger.write(Batch(fixtures=[FixtureRow(1, 1, b"{}")], intents=[IntentRow(1, "k", 1, "p", b"{}", 1)]))
        ledger.write(Batch(replies=[ReplyRow(1, "k", 1, reply, 1, 1)]))
        ledger.write(Batch(records=[RecordRow(1, body, b"c" * 32, 4)]))
    stored = ledger.as_stored()  # no record that anybody chained
    assert next(stored.records()).body == body
    found = stored.match(1)
    assert found is not None
    assert found.record is not None
    assert (found.record.body, found.exchanges[0].reply) == (body, reply)


def test_sums_and_counts_are_asked_again_where_the_line_broke(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pymongo.collection import Collection
    from pymongo.errors import AutoReconnect

    with ledger.runner():
        ledger.write(Batch(fixtures=[FixtureRow(1, 1, b"{}")], intents=[IntentRow(1, "k", 1, "p", b"{}", 1)]))
    expected = ledger.topics(), ledger.spent_by(), ledger.heads()
    broken: list[str] = []

    def breaks_once(name: str) -> None:
        real = getattr(Collection, name)

        def asked(*given: Any, **how: Any) -> Any:
            if name not in broken:
                broken.append(name)
                raise AutoReconnect("the line broke")
            return real(*given, **how)

        monkeypatch.setattr(Collection, name, asked)

    for name in ("aggregate", "find_one"):
        breaks_once(name)
    assert (ledger.topics(), ledger.spent_by(), ledger.heads()) == expected
    assert sorted(broken) == ["aggregate", "find_one"]


def test_a_server_that_is_no_replica_set() -> None:
    from tests.servers.mongo import MongoServer
    from tests.servers.own_server import Missing

    try:
        server = MongoServer(alone=True)
    except Missing as why:
        pytest.skip(str(why))
    try:
        message = fails(server.address(), create=True)
        assert "is no replica set" in message
        assert "start mongod with --replSet NAME and initiate it once (rs.initiate())" in message
        with server.client() as client:
            assert set(client.list_database_names()) == {"admin", "config", "local"}
    finally:
        server.stop()


def test_a_secondary_is_read_and_not_written(ledger: Ledger, mongo: MongoServer) -> None:
    with ledger.runner():
        ledger.write(fixture(1))
    with (
        closing(open_ledger(f"{ledger.address}?directConnection=true", Path(), create=False)) as there,
        mongo.client() as client,
    ):
        client.admin.command("replSetStepDown", 60, force=True)
        assert there.heads() == (1, 0)
        with pytest.raises(LedgerError, match="only reads, as a secondary does"), there.runner():
            pass
        client.admin.command("replSetFreeze", 0)
        while not client.admin.command("hello")["isWritablePrimary"]:
            pass
    with ledger.runner():
        ledger.write(fixture(2))


def test_a_newer_ledger_and_no_ledger_at_all(ledger: Ledger, mongo: MongoServer) -> None:
    assert list(ledger.integrity()) == []
    with mongo.client() as client:
        base = client[ledger.address.rpartition("/")[2]]
        base["meta"].update_one({"_id": "schema"}, {"$set": {"value": "7 9.1"}})
        assert NEWER in fails(ledger.address)
        base["meta"].drop()
        base["replies"].drop_index("replies_once")
        base["more"].insert_one({})
        assert "not a ledger of Peerage" in fails(ledger.address)
    told = "\n".join(ledger.integrity())
    assert "a table more, which" in told
    assert "replies lacks its index replies_once" in told


@pytest.mark.parametrize("gap", [False, True])
def test_rows_of_no_match_or_request_are_counted(ledger: Ledger, mongo: MongoServer, gap: bool) -> None:
    numbers = range(1, 6)
    asked = [IntentRow(number, "k", 1, "p", b"{}", 1) for number in numbers]
    replied = [ReplyRow(number, "k", 1, b"{}", 1, 1) for number in numbers]
    with ledger.runner():
        ledger.write(Batch(fixtures=[FixtureRow(number, 1, b"{}") for number in numbers], intents=asked))
        ledger.write(Batch(replies=replied))
    assert list(ledger.integrity()) == []
    with mongo.client() as client:
        base = client[ledger.address.rpartition("/")[2]]
        base["replies"].update_one({"_id": 5}, {"$set": {"intent": 77}})
        base["replies"].update_one({"_id": 4}, {"$set": {"intent": "none"}})
        if gap:
            base["intents"].delete_one({"_id": 2})
    (told,) = ledger.integrity()
    rows = f"{2 + gap} rows of no match or request, the first with intent {2 if gap else 77}"
    assert told == f"the table replies holds {rows}"


def test_a_name_that_is_none_of_a_database() -> None:
    assert "is no name of a database" in fails("mongodb://127.0.0.1:1/")


def test_passwords_and_rights(tmp_path: Path) -> None:
    pytest.importorskip("pymongo")
    from tests.servers.mongo import MongoServer
    from tests.servers.own_server import Missing

    try:
        server = MongoServer(login=True)
    except Missing as why:
        pytest.skip(str(why))
    try:
        with server.client() as client:
            client.admin.command("createUser", "boss", pwd="right", roles=["root"])
        boss = server.address("boss:right", "x", "?authSource=admin")
        wrong = fails(boss.replace(":right", ":hunter2"), create=True)
        assert "refused the password of boss" in wrong
        assert "hunter2" not in wrong
        (tmp_path / ".env").write_text(f"MONGODB_URI={boss}\n")
        with closing(open_ledger("$MONGODB_URI", tmp_path, create=True)) as opened:
            assert "right" not in opened.address
            assert access(opened.address) == {"PEERAGE_MONGODB_PASSWORD": "right"}
            with opened.runner():
                opened.write(fixture(1))
            base = opened._store.base  # type: ignore[attr-defined]
            base.command("createUser", "guest", pwd="guests", roles=["read"])
        guest = server.address("guest:guests", "x")
        with closing(open_ledger(guest, tmp_path, create=True)) as theirs:
            assert theirs.heads() == (1, 0)
            with pytest.raises(LedgerError, match="guest lacks a right"), theirs.runner():
                pass
    finally:
        server.stop()
