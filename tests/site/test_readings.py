"""The recorded table read in another way, by the address of a server's page."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from peerage.site import readings, server_pages
from peerage.site.events import Version
from peerage.site.pages import document
from peerage.site.reading import Site
from peerage.site.rendering import View
from peerage.site.server import Server
from peerage.site.server_pages import Busy, Job, PageCache, Worker, menu
from peerage.tables.corrected import what_would_change
from peerage.tables.leaderboard import board
from peerage.tables.played import EVERYTHING, PlayedMatches, Scope
from peerage.tables.what_if import WhatIf


@pytest.fixture
def site(played: Path) -> Any:
    with closing(Site.open(played, menu(voting=False))) as site:
        yield site


def read(site: Site, path: str, *stated: tuple[str, str]) -> View:
    view = readings.view(site, path, readings.query_of(path, stated))
    assert view is not None
    return view


def test_a_reading_is_the_library_s_and_says_on_the_page_that_it_is_another(site: Site) -> None:
    judge = site.stats.judges[0].player
    view = read(site, "index.html", ("without", judge), ("weights", "equal"))
    asked = WhatIf((judge,), equal=True)
    told = board(site.ledger, site.settings, site.track, EVERYTHING, what_if=asked, people=site.votes)
    assert [line.row for line in view.values["lines"]] == list(told.rows)
    assert view.values["found"] != site.board()  # and what is kept stays as recorded
    page = document(site, "index.html", view).decode()
    assert f"Another reading of the record: without judge {judge}, every vote weighs the same." in page
    assert f"<title>What if: without judge {judge}" in page
    assert 'name="robots" content="noindex"' in page
    raw = read(site, "leaderboard/raw.html", ("k", "64"))
    ratings = {line.row.player: line.row.rating for line in raw.values["lines"]}
    assert ratings != {row.player: row.rating for row in site.board("raw").rows}


def test_corrections_are_the_library_s_and_any_page_of_theirs_answers_them(site: Site) -> None:
    for path, scope in (("index.html", Scope()), (_topic(site), Scope(topic=_decided_most(site)))):
        page = read(site, path, ("correct", "own, style"), ("correct", "position"))
        played = PlayedMatches(site.ledger, scope)
        told = what_would_change(site.ledger, site.settings, played, ("position", "style", "own"))
        assert page.values["rows"] == told
        shown = document(site, path, page).decode()
        assert "what judges said, corrected for position, style, own." in shown
        assert 'name="robots" content="noindex"' in shown
        assert 'value="own" checked' in shown
        assert 'value="family" checked' not in shown
        assert all(f"{row.corrected:,.0f}" in shown for row in told)


def _decided_most(site: Site) -> str:
    topics = site.board().topics
    return max(topics, key=lambda name: topics[name])


def _topic(site: Site) -> str:
    return readings.leaderboards.address(
        site, readings.leaderboards.Filter(site.track, topic=_decided_most(site))
    )


@pytest.mark.parametrize(
    ("path", "stated", "why"),
    [
        ("index.html", ("correct", "positon"), "there is no correction &#39;positon&#39;; did you mean"),
        (
            "index.html",
            ("correct", "zzz"),
            "there is no correction &#39;zzz&#39;; known: position",
        ),
        ("leaderboard/raw.html", ("correct", "own"), "what judges said is corrected by itself"),
        ("index.html", ("without", "<b>"), "nobody is called &#39;&lt;b&gt;&#39;"),
        ("index.html", ("weights", "heavy"), "weights=heavy means nothing; write weights=equal"),
        ("leaderboard/raw.html", ("k", "inf"), "k=inf is no number"),
        ("leaderboard/raw.html", ("k", "-1"), "what if K = -1"),
        ("index.html", ("tau_c", "1"), "τ_c does not enter track bt"),
    ],
)
def test_what_cannot_be_read_is_said(site: Site, path: str, stated: tuple[str, str], why: str) -> None:
    page = document(site, path, read(site, path, stated)).decode()
    assert f'<p class="lead bad">The record cannot be read so: {why}' in page


def test_what_asks_the_same_is_one_page_and_what_asks_nothing_is_the_page_as_recorded() -> None:
    one = readings.query_of("index.html", [("weights", "equal"), ("without", "a"), ("k", ""), ("utm", "x")])
    assert one == readings.query_of("index.html", [("without", "a"), ("weights", "equal"), ("without", "a")])
    words = readings.query_of("index.html", [("correct", "own, style"), ("correct", "style,position,")])
    assert words == (("correct", "own,position,style"),)
    assert readings.query_of("index.html", [("correct", " ,")]) == ()
    assert readings.query_of("matches.html", [("without", "a")]) == ()
    assert len(readings.query_of("index.html", [("without", str(n)) for n in range(999)])) < 20


def test_the_server_offers_and_answers_readings_and_a_folder_of_pages_does_neither(folder: Path) -> None:
    with TestClient(Server(folder, voting=False, token=None).app, "http://localhost") as client:
        home = client.get("/")
        assert '<form class="controls" method="get">' in home.text
        read = client.get("/?ties=&weights=equal")
        assert "Another reading of the record: every vote weighs the same." in read.text
        assert client.get("/?utm=1").text == home.text
        assert client.get("/leaderboard/raw.html?k=no").status_code == 400
        assert '<input type="checkbox" name="correct" value="position">' in home.text
        assert '<input type="checkbox" name="correct"' not in client.get("/leaderboard/raw.html").text
        corrected = client.get("/?correct=own&correct=position")
        assert corrected.status_code == 200
        assert "corrected for position, own." in corrected.text
        assert client.get("/?correct=own&ties=no").status_code == 400
        rows = client.get("/api/corrected?correct=own,position").json()
        assert [row["corrections"] for row in rows] == [["position", "own"]] * len(rows)
        wrong = client.get("/api/corrected?correct=owm")
        assert wrong.status_code == 404
        assert wrong.json() == {"error": "correct: there is no correction 'owm'; did you mean 'own'?"}
        assert client.get("/api/corrected?topic=none").status_code == 404
    with closing(Site.open(folder)) as site:
        static = readings.leaderboards.view(site, "index.html")
        assert static is not None
        assert "Read the record in another way" not in document(site, "index.html", static).decode()


async def test_readings_are_made_one_at_a_time_and_leave_the_other_pages_a_worker(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once, most, go_on = 0, 0, asyncio.Event()

    async def call(self: Worker, make: object, *arguments: Any) -> server_pages.Made:
        nonlocal at_once, most
        if arguments[-1].rereads:
            at_once, most = at_once + 1, max(most, at_once + 1)
            await go_on.wait()
            at_once -= 1
        return server_pages.Made(200, "text/html", "", b"", b"", Version(0, 0, {}), 0.0)

    monkeypatch.setattr(Worker, "call", call)
    shelf = PageCache(folder, False, lambda: Version(0, 0, {}))
    jobs = [Job("index.html", (("k", str(number)),)) for number in range(server_pages.MOST_READINGS - 1)]
    jobs += [Job("index.html", (("correct", "own"),)), Job("api/corrected", (("correct", "own"),))]
    waiting = [asyncio.create_task(shelf.get(job)) for job in jobs[:-1]]
    await asyncio.sleep(0)
    with pytest.raises(Busy):
        await shelf.get(jobs[-1])
    assert (await asyncio.wait_for(shelf.get(Job("costs.html")), 5)).status == 200
    go_on.set()
    await asyncio.gather(*waiting)
    assert most == 1
    await shelf.close()
