"""Live pages follow a ledger on a server by what that tells, and ask nothing while nothing happens."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import Any

import pytest
from tests.ledger.on_servers import fixture

from peerage.ledger import Ledger, LedgerError, open_ledger
from peerage.ledger.store import Batch, IntentRow, RecordRow, Summary
from peerage.ledger.votes import PeopleVotes, Vote
from peerage.site import events
from peerage.site.events import Feed

PATIENCE_S = 60


def settled(number: int) -> Batch:
    rated = (1500.0, 1500.0)
    row = Summary(
        number, 1, "duel", "art", ("a", "b"), "done", (1.0, 0.0), (None, None), 7, rated, rated, number
    )
    return Batch(
        fixtures=fixture(number).fixtures,
        records=[RecordRow(number, b"{}", b"c" * 32, 4)],
        summaries=[row],
    )


@asynccontextmanager
async def watched(stored: Ledger, folder: Path) -> AsyncIterator[Callable[[str], Any]]:
    """Waits for the next event of a name, and gives its data."""
    feed = Feed(stored, PeopleVotes(stored.address, folder))
    await feed.look()
    running = asyncio.create_task(feed.run())
    stream = feed.follow()

    async def told(name: str) -> Any:
        async with asyncio.timeout(PATIENCE_S):
            while True:
                for block in (await anext(stream)).decode().split("\n\n"):
                    found = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line)
                    if found.get("event") == name:
                        return json.loads(found["data"])

    await told("settled")
    try:
        yield told
    finally:
        feed.close()
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


def questions(store: str, store_server: Any) -> object:
    """What stays the same while this process asks the server for nothing."""
    if store == "postgres":
        return store_server.sql(
            "SELECT pid, state_change FROM pg_stat_activity "
            f"WHERE application_name = 'peerage {os.getpid()}' ORDER BY pid"
        )
    with store_server.client() as client:
        return client.admin.command("serverStatus")["opcounters"]["query"]


async def test_what_is_committed_is_told_at_once_and_nothing_is_asked_while_nothing_happens(
    store: str, store_server: Any, stored: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "LOOK_S", 0.05)
    async with watched(stored, tmp_path) as told:
        until = time.monotonic() + PATIENCE_S
        while True:  # until it listens
            before = await asyncio.to_thread(questions, store, store_server)
            await asyncio.sleep(0.5)
            if before == await asyncio.to_thread(questions, store, store_server):
                break
            assert time.monotonic() < until
        monkeypatch.setattr(events, "LOOK_S", 3600.0)

        def play() -> None:
            with stored.runner():
                stored.write(settled(1))

        await asyncio.to_thread(play)
        assert (await told("settled"))["newest"] == 1
        vote = Vote(1, "00", ("A", "B"), "tie", "v")
        await asyncio.to_thread(PeopleVotes(stored.address, tmp_path).cast, vote, 7)
        assert await told("votes") == {"votes": 1}


async def test_what_was_committed_while_the_line_was_lost_is_told(
    store_server: Any, stored: Ledger, tmp_path: Path
) -> None:
    def play_alone() -> None:
        store_server.kill()
        store_server.start()
        with closing(open_ledger(stored.address, tmp_path, create=False)) as other, other.runner():
            other.write(settled(1))

    async with watched(stored, tmp_path) as told:
        await asyncio.to_thread(play_alone)
        assert (await told("settled"))["newest"] == 1


def test_a_listener_hears_of_commits_alone(
    store: str, stored: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, most = {"mongo": ("HEARD_MS", 200), "postgres": ("HEARD_S", 0.2)}[store]
    monkeypatch.setattr(f"peerage.ledger.{store}.{name}", most)
    with stored.listening() as heard:
        assert heard is not None
        assert not heard()
        with stored.runner():
            stored.write(fixture(1))
            assert heard()
            while heard():  # the entries of the log that a run begins with
                pass
            with pytest.raises(LedgerError):
                stored.write(Batch(intents=[IntentRow(1, "k", 1, "p", b"{}", 1)] * 2))
            assert not heard()


def test_nobody_tells_of_a_file(tmp_path: Path) -> None:
    opened = closing(open_ledger("sqlite:///arena.db", tmp_path, create=True))
    with opened as stored, stored.listening() as heard:
        assert heard is None
