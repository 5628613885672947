"""Runs whose player is asked in batches: over a provider's wire format, through expiry, kill and budget."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.engine.arenas import SMALL, asked_again, house, ledger_of, write_arena
from tests.servers.anthropic_batches import PRICE, BatchServer
from tests.servers.other_batches import FileBatchServer, GoogleBatches, OpenAIBatches

from peerage.arena import open_arena
from peerage.engine.batches import sent_batches
from peerage.engine.dropping import drop
from peerage.engine.report import Progress, RunReport
from peerage.engine.runner import Runner
from peerage.ledger import open_ledger
from peerage.ledger.disclosure import write_redacted
from peerage.ledger.verify import verify
from peerage.ledger.waits import waits
from peerage.players import batches
from peerage.players.client import SentBatch

KEY = "sk-ant-very-secret-0123456789"
EACH = 2_000_000
"""What each reply costs, in 1e-9 dollars."""
RUN = """
import asyncio, sys
from pathlib import Path
from peerage.arena import open_arena
from peerage.players import batches
from peerage.players.client import SentBatch
batches.QUIET_S = batches.LOOK_S = 0.02
with open_arena(Path(sys.argv[1])) as arena:
    asyncio.run(arena.play(4))
"""


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[BatchServer]:
    monkeypatch.setattr(batches, "QUIET_S", 0.02)
    monkeypatch.setattr(batches, "LOOK_S", 0.02)
    async with BatchServer() as running:
        yield running


def arena_of(
    folder: Path, server: BatchServer, model: str = "anthropic:claude-haiku-4-5", **sections: Any
) -> Path:
    waiting = {
        "model": model,
        "name": "batched",
        "batch": True,
        "base_url": server.url,
        "key_env": "BATCH_KEY",
        "price": PRICE,
    }
    # Whatever the committee says, every match has a challenge, so all of them come to a result.
    rules = {**SMALL, "approval": 0.0}
    write_arena(folder, [*house(6), waiting], **{"rules": rules, **sections})
    (folder / ".env").write_text(f"BATCH_KEY={KEY}\n", "utf-8")
    return folder


@pytest.fixture(params=[(OpenAIBatches, "openai:gpt-5-mini"), (GoogleBatches, "google:gemini-2.5-flash")])
async def another(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[FileBatchServer, str]]:
    """A server of another provider, and a model of its."""
    monkeypatch.setattr(batches, "QUIET_S", 0.02)
    monkeypatch.setattr(batches, "LOOK_S", 0.02)
    made, model = request.param
    async with made() as running:
        yield running, model


async def play(folder: Path, matches: int = 4) -> RunReport:
    with open_arena(folder) as arena:
        return await arena.play(matches)


def sent_of(folder: Path) -> list[SentBatch]:
    """All batches on the log."""
    with closing(ledger_of(folder)) as ledger:
        return list(sent_batches(ledger))


def names_of(folder: Path) -> list[str]:
    """The requests of all batches on the log."""
    return [name for sent in sent_of(folder) for name in sent.requests]


async def test_matches_wait_for_a_batch_and_its_replies_cost_their_price(
    tmp_path: Path, server: BatchServer
) -> None:
    report = await play(arena_of(tmp_path, server))
    assert report.settled == 4
    assert server.batches
    assert not server.calls
    assert report.billed_nano == EACH * len(server.answered)
    assert report.possibly_nano == 0
    assert Counter(server.answered).most_common(1)[0][1] == 1
    assert sorted(names_of(tmp_path)) == sorted(server.answered)
    assert not asked_again(tmp_path)
    ledger = ledger_of(tmp_path)
    try:
        assert not verify(ledger).problems
        said = b"".join(row.body for row in ledger.amendments("batches"))
        write_redacted(ledger, tmp_path / "copy.db")
    finally:
        ledger.close()
    with closing(open_ledger("sqlite:///copy.db", tmp_path, create=False)) as copy:
        assert not verify(copy).problems
        told = b"".join(row.body for row in copy.amendments("batches"))
    assert b"msgbatch_0" in said
    assert KEY.encode() not in said
    assert b"msgbatch" not in told
    assert b"batched" not in told


async def test_what_an_expired_batch_left_is_asked_again_and_what_it_answered_is_used(
    tmp_path: Path, server: BatchServer
) -> None:
    server.left_undone.extend(["expired", "succeeded", "canceled", "errored"])
    report = await play(arena_of(tmp_path, server), 8)  # in four of them it may have no part
    assert report.decided == 8
    assert report.billed_nano == EACH * len(server.answered)
    assert set(Counter(server.answered).values()) == {1}
    assert {name: count for name, count in Counter(names_of(tmp_path)).items() if count > 1}


async def test_openais_and_googles_batches_too_are_used_as_far_as_they_came(
    tmp_path: Path, another: tuple[FileBatchServer, str]
) -> None:
    server, model = another
    server.left_undone.extend(["expired", "succeeded", "expired", "errored"])
    report = await play(arena_of(tmp_path, server, model))
    assert report.settled == 4
    assert not report.benched
    assert not server.calls
    assert report.billed_nano == EACH * len(server.answered)
    assert report.possibly_nano == 0
    assert set(Counter(server.answered).values()) == {1}
    again = {name for name, count in Counter(names_of(tmp_path)).items() if count > 1}
    assert len(again) >= 2
    assert again <= set(server.answered)
    assert KEY.encode() not in b"".join(server.files.values())
    with closing(ledger_of(tmp_path)) as ledger:
        assert not verify(ledger).problems


async def test_a_run_of_openai_or_google_that_was_stopped_collects_and_a_refusal_benches(
    tmp_path: Path, another: tuple[FileBatchServer, str]
) -> None:
    server, model = another
    server.ended = False

    async def look(runner: Runner) -> None:
        while not (now := runner.progress()).waiting or now.calls_in_flight:
            await asyncio.sleep(0.01)
        runner.stop()

    with open_arena(arena_of(tmp_path, server, model)) as arena:
        await arena.play(2, beside=look)
    sent = names_of(tmp_path)
    server.ended = True
    report = await play(tmp_path, 2)
    assert set(sent) <= set(server.answered)
    assert set(Counter(server.answered).values()) == {1}
    assert report.billed_nano == EACH * len(server.answered)
    server.refuse = 403
    refused = await play(tmp_path, 8)
    assert "access denied" in refused.benched["batched"]


async def test_a_killed_run_is_picked_up_with_nothing_paid_twice(tmp_path: Path, server: BatchServer) -> None:
    server.ended = False
    arena_of(tmp_path, server)
    run = await asyncio.create_subprocess_exec(sys.executable, "-c", RUN, str(tmp_path))
    await server.looked.wait()
    run.kill()
    await run.wait()
    sent = names_of(tmp_path)
    assert sent
    server.ended = True
    report = await play(tmp_path)
    assert report.settled == 4
    assert set(sent) <= set(server.answered)
    assert set(Counter(server.answered).values()) == {1}
    assert not asked_again(tmp_path)
    assert report.billed_nano == EACH * len(server.answered)


async def test_what_a_batch_may_cost_stays_reserved_while_matches_wait(
    tmp_path: Path, server: BatchServer
) -> None:
    server.ended = False
    seen: list[Progress] = []

    async def look(runner: Runner) -> None:
        while not (now := runner.progress()).waiting or now.calls_in_flight:
            await asyncio.sleep(0.01)
        seen.append(now)
        server.ended = True

    with open_arena(arena_of(tmp_path, server, budget={"arena": 0.08})) as arena:
        report = await arena.play(12, beside=look)
    under_way = {name: most for sent in sent_of(tmp_path) for name, most in sent.requests.items()}
    assert seen[0].held_nano > 0
    assert seen[0].held_nano <= sum(most or 0 for most in under_way.values())
    assert 0 < report.billed_nano <= 80_000_000
    assert report.billed_nano == EACH * len(server.answered)
    assert report.possibly_nano == 0


async def test_a_provider_that_refuses_benches_its_player(tmp_path: Path, server: BatchServer) -> None:
    server.refuse = 401
    report = await play(arena_of(tmp_path, server))
    assert "access denied" in report.benched["batched"]
    assert KEY not in json.dumps(dict(report.benched))
    assert not names_of(tmp_path)


async def stopped_in_a_batch(folder: Path, server: BatchServer) -> None:
    """An arena whose run was stopped while all that it asked lay in a batch."""
    arena_of(folder, server)
    with open_arena(folder) as arena:

        async def look(runner: Runner) -> None:
            server.ended = False
            while not (now := runner.progress()).waiting or now.calls_in_flight:
                await asyncio.sleep(0.01)
            runner.stop()

        await arena.play(4, beside=look)


async def test_what_a_removed_player_left_at_its_provider_counts_at_its_worst(
    tmp_path: Path, server: BatchServer
) -> None:
    await stopped_in_a_batch(tmp_path, server)
    most = sum(nano or 0 for one in sent_of(tmp_path) for nano in one.requests.values())
    assert most > 0
    settings = (tmp_path / "arena.yaml").read_text("utf-8")
    said = yaml.safe_load(settings)
    said["players"] = [one for one in said["players"] if "batch" not in one]
    del said["seed"]  # house players alone would follow it
    (tmp_path / "arena.yaml").write_text(yaml.safe_dump(said), "utf-8")
    without = await play(tmp_path, 6)
    assert without.waiting == ()
    assert without.billed_nano + without.possibly_nano == most
    with closing(ledger_of(tmp_path)) as ledger:
        assert sum(ledger.spent_by().values()) == most
        assert not verify(ledger).problems


async def test_a_dropped_match_counts_at_its_worst_and_then_what_its_batch_cost(
    tmp_path: Path, server: BatchServer
) -> None:
    await stopped_in_a_batch(tmp_path, server)
    with closing(ledger_of(tmp_path)) as ledger:
        for number in sorted(waits(ledger).now):
            drop(ledger, number, "not wanted", 1_800_000_000_000)
        most = sum(nano or 0 for one in sent_of(tmp_path) for nano in one.requests.values())
        assert sum(ledger.spent_by().values()) == most > 0
        assert not verify(ledger).problems
    assert not server.answered
    still = await play(tmp_path, 0)
    assert (still.billed_nano, still.possibly_nano) == (0, most)
    server.ended = True
    server.left_undone.append("expired")
    over = await play(tmp_path, 0)
    assert len(server.answered) == len(names_of(tmp_path)) - 1 > 0
    assert (over.billed_nano, over.possibly_nano) == (0, EACH * len(server.answered))
    assert (await play(tmp_path, 0)).possibly_nano == over.possibly_nano
    report = await play(tmp_path, 2)
    assert report.billed_nano + report.possibly_nano == EACH * len(server.answered)
    with closing(ledger_of(tmp_path)) as ledger:
        assert not verify(ledger).problems
        assert sum(ledger.spent_by().values()) == report.billed_nano + report.possibly_nano
