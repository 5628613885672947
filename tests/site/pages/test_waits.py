"""An arena in which matches wait, on its pages: links lead where matches stand, and live pages say so."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import closing
from pathlib import Path

import pytest
from tests.engine.arenas import ledger_of, play, write_arena
from tests.engine.run.test_waits import MATCHES, Clock, sleepers, third

from peerage.game.blocks import Sentence
from peerage.ledger.topics.votes import PeopleVotes
from peerage.ledger.topics.waits import TOPIC as WAITS
from peerage.players.client import Call
from peerage.playing import run as playing
from peerage.site.addresses import match_page
from peerage.site.pages.router import body, paths
from peerage.site.reading import Site
from peerage.site.server.events import Feed
from peerage.site.server.events import playing as in_play
from peerage.values.figures import moment
from peerage.views.match.under_way import blocks, under_way


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(playing, "now_ms", clock)
    return clock


def test_links_lead_to_the_page_on_which_a_match_stands(tmp_path: Path, clock: Clock) -> None:
    write_arena(tmp_path, engine={"concurrency": 8})
    last = play(tmp_path, MATCHES, clients=sleepers(third, clock)).settled
    site = Site.open(tmp_path)
    moved = [number for number in range(1, last + 1) if site.moment.place(number) != number]
    assert moved
    pages = {path: (body(site, path) or b"").decode() for path in paths(site) if path.endswith(".html")}
    for number in range(1, last + 1):
        assert f"<span>Match {number}" in pages[match_page(number)]
    told = re.findall(r"match/\d+\.html", pages["matches.html"])
    assert len(set(told)) == last
    assert set(told) == {match_page(number) for number in range(1, last + 1)}
    rows = json.loads((body(site, "data/matches-1.js") or b"").decode().partition(",")[2].rstrip(")\n"))
    assert set(re.findall(r"match/\d+\.html", rows)) == set(told)
    site.close()


def test_live_pages_say_that_a_match_waits_and_not_for_whom(tmp_path: Path, clock: Clock) -> None:
    write_arena(tmp_path, engine={"concurrency": 8})
    report = play(tmp_path, MATCHES, clients=sleepers(lambda name, call: 20 * third(name, call), clock))
    site = Site.open(tmp_path)
    flight = in_play(site.ledger)
    assert [one.number for one in flight] == sorted(one.match for one in report.waiting)
    for one, wait in zip(flight, sorted(report.waiting, key=lambda wait: wait.match), strict=True):
        assert (one.since_ms, one.until_ms, one.waiting) == (wait.since_ms, wait.until_ms, 0)
        shown = under_way(site.ledger, one.number)
        assert shown is not None
        assert (shown.since_ms, shown.until_ms) == (wait.since_ms, wait.until_ms)
        assert wait.player not in repr(shown).replace("".join(shown.sent), "")
        sentences = [block.text for block in blocks(one.number, shown) if isinstance(block, Sentence)]
        assert f", until {moment(wait.until_ms)} at the latest; other matches go on." in sentences[0]
    site.close()


async def test_who_holds_a_hidden_role_is_not_told_by_a_match_that_waits_for_it(
    tmp_path: Path, clock: Clock
) -> None:
    write_arena(tmp_path, game="werewolf", rules={"seats": 5}, players=5, engine={"concurrency": 8})

    def asleep(name: str, call: Call) -> float:
        return 5.0 if "/look/" in call.key and third("p1", call) else 0.0

    report = await asyncio.to_thread(play, tmp_path, 12, clients=sleepers(asleep, clock))
    away = {one.match for one in report.waiting}
    assert away
    with closing(ledger_of(tmp_path)) as ledger:
        flight = in_play(ledger)
        assert away <= {one.number for one in flight}
        assert [one.number for one in flight] == sorted(one.number for one in flight)
        assert {(one.waiting, one.since_ms, one.until_ms) for one in flight} == {(None, None, None)}
        for number in away:
            shown = under_way(ledger, number)
            assert shown is not None
            assert (shown.answered, shown.waiting, shown.since_ms, shown.until_ms) == (None,) * 4
        feed = Feed(ledger, PeopleVotes(ledger.address, tmp_path))
        await feed.look()
        stream = feed.follow()
        await anext(stream)
        known = feed.version
        feed.version = known._replace(amended={**known.amended, WAITS: 0, "players": 0})
        await feed.look()
        assert b'amended\ndata: ["players"]' in await anext(stream)
        await stream.aclose()  # type: ignore[attr-defined]
