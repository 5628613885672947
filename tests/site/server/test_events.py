"""The stream of events: what a spectator is told while somebody plays, and one who is late or slow."""

from __future__ import annotations

import asyncio
import json
import shutil
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.engine.arenas import ledger_of, paced, play, play_stopping_at, write_arena

from peerage.ledger import Ledger, amend
from peerage.ledger.topics.votes import PeopleVotes, Vote
from peerage.site.server import events
from peerage.site.server.events import Feed, event, playing, settled

MATCHES = 20
PATIENCE_S = 60


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An arena that was left in the middle of a round."""
    folder = write_arena(tmp_path_factory.mktemp("events"))
    play_stopping_at(folder, MATCHES, 25, paced())
    return folder


@pytest.fixture
def folder(played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "arena"))


@pytest.fixture
def ledger(folder: Path) -> Iterator[Ledger]:
    opened = ledger_of(folder)
    yield opened
    opened.close()


def told(chunk: bytes) -> list[tuple[str, Any]]:
    """The events of a piece of the stream, as a browser would read it."""
    found = []
    for block in chunk.decode().split("\n\n"):
        lines = [line for line in block.split("\n") if line and not line.startswith(":")]
        fields = dict(line.split(": ", 1) for line in lines)
        if fields:
            found.append((fields["event"], json.loads(fields["data"])))
    return found


async def following(feed: Feed, after: int | None = None) -> tuple[AsyncIterator[bytes], list[Any]]:
    stream = feed.follow(after)
    return stream, told(await anext(stream))


def test_matches_in_flight_are_those_that_ask(ledger: Ledger) -> None:
    found = playing(ledger)
    recorded = ledger.heads()[1]
    assert found
    assert found[0].number == recorded + 1
    waiting = {one.match for one in ledger.exchanges(recorded + 1, unanswered=True) if not one.failure}
    assert waiting == {match.number for match in found if match.waiting}
    for match in found:
        assert match.game == "duel"
        asking = [
            one.key for one in ledger.exchanges(match.number, unanswered=True) if one.match == match.number
        ]
        assert match.waiting == len(set(asking))


def test_settled_tells_the_newest(ledger: Ledger) -> None:
    newest = ledger.heads()[1]
    assert newest > 2
    assert [match.number for match in settled(ledger, newest - 2, newest)] == [newest - 1, newest]
    assert [match.number for match in settled(ledger, newest - 2, newest - 1)] == [newest - 1]
    assert settled(ledger, newest, newest) == ()
    assert len(settled(ledger, 0, newest)) == min(newest, events.TOLD)


async def test_a_spectator_is_told_of_what_is_played(folder: Path, ledger: Ledger) -> None:
    feed = Feed(ledger, PeopleVotes(ledger.address, folder))
    await feed.look()
    before = feed.version.records
    stream, first = await following(feed)
    assert first[0] == ("settled", {"newest": before, "matches": []})
    assert first[1][0] == "playing"
    assert first[1][1]
    last = (await asyncio.to_thread(play, folder, MATCHES)).settled
    await feed.look()
    news = dict(told(await anext(stream)))
    assert news["settled"]["newest"] == last
    numbers = [match["number"] for match in news["settled"]["matches"]]
    assert numbers == list(range(max(before, last - events.TOLD) + 1, last + 1))
    assert news["playing"] == []
    await stream.aclose()  # type: ignore[attr-defined]
    assert feed.spectators == 0


async def test_whoever_comes_back_is_told_what_was_missed(folder: Path, ledger: Ledger) -> None:
    feed = Feed(ledger, PeopleVotes(ledger.address, folder))
    await feed.look()
    newest = feed.version.records
    stream, first = await following(feed, after=newest - 3)
    assert [match["number"] for match in first[0][1]["matches"]] == [newest - 2, newest - 1, newest]
    await stream.aclose()  # type: ignore[attr-defined]


async def test_what_happens_while_a_stream_opens_is_told(
    folder: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "HEARTBEAT_S", 0.01)
    begun, go_on = threading.Event(), threading.Event()

    def slow(ledger: Ledger) -> Any:
        if not begun.is_set():
            begun.set()
            go_on.wait(PATIENCE_S)
        return playing(ledger)

    monkeypatch.setattr(events, "playing", slow)
    votes = PeopleVotes(ledger.address, folder)
    feed = Feed(ledger, votes)
    await feed.look()
    stream = feed.follow()
    opening = asyncio.create_task(anext(stream))  # type: ignore[arg-type]
    await asyncio.to_thread(begun.wait, PATIENCE_S)
    votes.cast(Vote(1, "00", ("A", "B"), "A", "v"), at_ms=1)
    await feed.look()
    go_on.set()
    assert [name for name, _ in told(await opening)] == ["settled", "playing"]
    news = dict(told(await anext(stream)))
    assert news["votes"] == {"votes": 1}
    await stream.aclose()  # type: ignore[attr-defined]


async def test_spectators_who_come_together_see_the_same(folder: Path, ledger: Ledger) -> None:
    feed = Feed(ledger, PeopleVotes(ledger.address, folder))
    await feed.look()
    both = await asyncio.gather(following(feed), following(feed))
    assert both[0][1] == both[1][1]
    assert both[0][1][1] == ("playing", json.loads(msgspec.json.encode(playing(ledger))))
    for stream, _ in both:
        await stream.aclose()  # type: ignore[attr-defined]


async def test_votes_are_told(folder: Path, ledger: Ledger) -> None:
    votes = PeopleVotes(ledger.address, folder)
    feed = Feed(ledger, votes)
    await feed.look()
    stream, _ = await following(feed)
    votes.cast(Vote(1, "00", ("A", "B"), "A", "v"), at_ms=1)
    await feed.look()
    assert told(await anext(stream)) == [("votes", {"votes": 1})]
    await stream.aclose()  # type: ignore[attr-defined]


async def test_amendments_are_told(folder: Path, ledger: Ledger) -> None:
    feed = Feed(ledger, PeopleVotes(ledger.address, folder))
    await feed.look()
    stream, _ = await following(feed)
    with ledger.runner():
        amend(ledger, "challenges", [{"action": "note"}], 1)
    await feed.look()
    assert told(await anext(stream)) == [("amended", ["challenges"])]
    await stream.aclose()  # type: ignore[attr-defined]


async def test_nothing_new_is_not_told_but_the_stream_lives(
    folder: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "HEARTBEAT_S", 0.01)
    feed = Feed(ledger, PeopleVotes(ledger.address, folder))
    await feed.look()
    stream, _ = await following(feed)
    await feed.look()
    assert await anext(stream) == events.ALIVE
    await stream.aclose()  # type: ignore[attr-defined]


async def test_a_slow_spectator_misses_what_has_left_the_ring_and_no_more(
    folder: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "RING", 4)
    votes = PeopleVotes(ledger.address, folder)
    feed = Feed(ledger, votes)
    await feed.look()
    stream, _ = await following(feed)
    count = events.RING + 3
    for number in range(count):
        votes.cast(Vote(number, "00", ("A", "B"), "A", "v"), at_ms=1)
        await feed.look()
    numbers = [data["votes"] for _, data in told(await anext(stream))]
    assert numbers == list(range(count - events.RING + 1, count + 1))
    await stream.aclose()  # type: ignore[attr-defined]


async def test_much_is_told_piece_by_piece_so_that_a_slow_reader_holds_little(
    folder: Path, ledger: Ledger
) -> None:
    votes = PeopleVotes(ledger.address, folder)
    feed = Feed(ledger, votes)
    await feed.look()
    stream, _ = await following(feed)
    count = events.TOGETHER + 1
    for number in range(count):
        votes.cast(Vote(number, "00", ("A", "B"), "A", "v"), at_ms=1)
        await feed.look()
    for number in range(1, count + 1):
        assert told(await anext(stream)) == [("votes", {"votes": number})]
    await stream.aclose()  # type: ignore[attr-defined]


async def test_closing_ends_every_stream(folder: Path, ledger: Ledger) -> None:
    feed = Feed(ledger, PeopleVotes(ledger.address, folder))
    await feed.look()
    streams = [(await following(feed))[0] for _ in range(50)]
    ends = asyncio.gather(*[anext(stream, None) for stream in streams])
    await asyncio.sleep(0)
    feed.close()
    assert await asyncio.wait_for(ends, 120) == [None] * 50
    assert feed.spectators == 0


async def test_a_ledger_that_cannot_be_read_for_once_is_looked_at_again(
    folder: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "LOOK_S", 0.01)
    feed = Feed(ledger, PeopleVotes(ledger.address, folder))
    away, here = folder / "away.db", folder / "arena.votes.db"
    here.write_bytes(b"no database" * 100)
    watching = asyncio.create_task(feed.run())
    await asyncio.sleep(0.1)
    here.rename(away)
    for _ in range(500):
        if feed.version.records:
            break
        await asyncio.sleep(0.01)
    assert feed.version.records == ledger.heads()[1]
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)


@pytest.mark.parametrize("text", ["a\nevent: forged\ndata: {}\n\n", "\r\n\r\n", "\x85\u2028\u2029", "\x00"])
def test_no_text_can_begin_an_event(text: str) -> None:
    written = event("playing", [text])
    assert written.count(b"\n") == 3
    assert b"\r" not in written
    assert told(written) == [("playing", [text])]
