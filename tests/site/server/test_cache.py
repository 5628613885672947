"""Pages that a server keeps: when they are made anew, by which process, and what becomes of one that dies."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.engine.arenas import ledger_of, play
from tests.site.arenas import MATCHES_SERVED, eventually

from peerage.engine.record.challenges import pool, retire
from peerage.site.server import cache
from peerage.site.server.cache import Busy, Job, PageCache
from peerage.site.server.events import Version
from peerage.site.server.server import ArenaServer
from peerage.values.parallel import Processes


async def test_what_is_kept_is_given_at_once_renewed_behind_and_bounded(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = ledger_of(folder)
    registered = ledger.topics()
    version = Version(MATCHES_SERVED, 0, registered)
    shelf = cache.PageCache(folder, False, lambda: version)
    job = Job("api/arena")
    try:
        first = await shelf.get(job)
        assert await shelf.get(job) is first
        await asyncio.to_thread(play, folder, MATCHES_SERVED + 2)
        version = Version(MATCHES_SERVED + 2, 0, registered)
        shelf._kept[job].at -= 100.0
        assert await shelf.get(job) is first
        assert shelf._renewing is not None
        await shelf._renewing
        renewed = await shelf.get(job)
        assert renewed.version == version
        assert renewed.body != first.body
        monkeypatch.setattr(cache, "KEPT_BYTES", 20_000)
        for number in range(20):
            await shelf.get(Job(f"api/nothing{number}"))
        assert 0 < shelf._bytes <= 20_000
        assert shelf._bytes == sum(cache._size(kept.made) for kept in shelf._kept.values())
    finally:
        await shelf.close()
        ledger.close()


async def test_a_worker_that_dies_is_replaced(folder: Path) -> None:
    shelf = PageCache(folder, False, lambda: Version(0, 0, {}))
    try:
        assert (await shelf.get(Job("api/arena"))).status == 200
        for process in shelf._workers._started:
            process.kill()
        assert (await shelf.get(Job("api/players"))).status == 200
        assert (await shelf.get(Job("api/matches"))).status == 200
    finally:
        await shelf.close()


@pytest.mark.parametrize(("path", "kind"), [("api/arena", "application/json"), ("costs.html", "text/plain")])
def test_what_no_process_can_make_is_told_in_the_words_of_whoever_asked(
    folder: Path, monkeypatch: pytest.MonkeyPatch, path: str, kind: str
) -> None:
    start = Processes._start

    def dead(workers: Processes) -> subprocess.Popen[bytes]:
        process = start(workers)
        process.kill()
        return process

    monkeypatch.setattr(Processes, "_start", dead)
    with TestClient(ArenaServer(folder, voting=False, token=None).app, "http://localhost") as client:
        found = client.get(f"/{path}")
    assert found.status_code == 500
    assert found.headers["content-type"].startswith(kind)
    assert "the log says why" in found.text


def test_links_to_a_served_arena_are_shown_with_a_picture_of_its_table(folder: Path) -> None:
    url = "https://example.org/arena/"
    server = ArenaServer(folder, voting=False, token=None, url=url.rstrip("/"))
    with TestClient(server.app, "http://localhost") as client:
        assert f'<meta property="og:image" content="{url}index.png">' in client.get("/").text
        other = client.get("/leaderboard/trueskill.html").text
        assert f'<meta property="og:url" content="{url}leaderboard/trueskill.html">' in other
        assert f'<meta property="og:image" content="{url}leaderboard/trueskill.png">' in other
        found = client.get("/index.png")
        assert found.headers["content-type"] == "image/png"
        assert found.content.startswith(b"\x89PNG")
        play(folder, MATCHES_SERVED + 4)
        eventually(lambda: client.get("/index.png").content != found.content)
    with TestClient(ArenaServer(folder, voting=False, token=None).app, "http://localhost") as client:
        home = client.get("/").text
        assert "og:image" not in home  # nobody said where it is
        assert '<a href="index.png">a picture to share</a>' in home


def test_what_becomes_of_a_challenge_is_shown_without_another_match(sealed: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(sealed, tmp_path / "arena"))
    with (
        TestClient(ArenaServer(folder, voting=False, token=None).app, "http://localhost") as client,
        closing(ledger_of(folder)) as ledger,
    ):
        assert "published at last" not in client.get("/challenges.html").text
        retire(ledger, next(iter(pool(ledger).entries)), "published at last", 1)
        eventually(lambda: "published at last" in client.get("/challenges.html").text)


def test_pages_know_no_query_and_corrections_are_asked_of_the_api(folder: Path) -> None:
    with TestClient(ArenaServer(folder, voting=False, token=None).app, "http://localhost") as client:
        assert client.get("/?correct=own&k=3").text == client.get("/").text
        rows = client.get("/api/corrected?correct=own,position").json()
        assert [row["corrections"] for row in rows] == [["position", "own"]] * len(rows)
        wrong = client.get("/api/corrected?correct=owm")
        assert wrong.status_code == 404
        assert wrong.json() == {"error": "correct: there is no correction 'owm'; did you mean 'own'?"}
        assert client.get("/api/corrected?topic=none").status_code == 404


async def test_corrections_and_searches_are_made_one_at_a_time_and_leave_the_other_pages_a_worker(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once, most, go_on = 0, 0, asyncio.Event()

    async def made(self: PageCache, job: Job) -> cache.Made:
        nonlocal at_once, most
        if job.rereads:
            at_once, most = at_once + 1, max(most, at_once + 1)
            await go_on.wait()
            at_once -= 1
        return cache.Made(200, "text/html", "", b"", b"", Version(0, 0, {}), 0.0)

    monkeypatch.setattr(PageCache, "_by_worker", made)
    shelf = PageCache(folder, False, lambda: Version(0, 0, {}))
    jobs = [
        Job("api/corrected", (("correct", f"own,{number}"),)) for number in range(cache.MOST_READINGS + 1)
    ]
    jobs[:3] = [
        Job("match/2.html", (("q", "owl"),)),
        Job("match/2.html", (("only", "split"),)),
        Job("matches.html", (("only", "flipped"),)),
    ]
    waiting = [asyncio.create_task(shelf.get(job)) for job in jobs[:-1]]
    await asyncio.sleep(0)
    with pytest.raises(Busy):
        await shelf.get(jobs[-1])
    assert (await asyncio.wait_for(shelf.get(Job("costs.html")), 5)).status == 200
    go_on.set()
    await asyncio.gather(*waiting)
    assert most == 1
    await shelf.close()
