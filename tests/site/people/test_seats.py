"""A person's seat in a browser: its own requests, by its own link, each replied to once."""

from __future__ import annotations

import html
import logging
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.engine.arenas import house, write_arena

from peerage.cli.share.site import _welcome
from peerage.formats import Choice, Code, Format, Integer, Scores, Text
from peerage.players.people.requests import LONGEST, People, Request
from peerage.site.people.seats import KEY, SeatLinks
from peerage.site.server.server import ArenaServer

HERE = "http://localhost"
HOUR = 3_600_000
TOKEN = "the-token-of-the-arena-itself"


def now_ms() -> int:
    return time.time_ns() // 1_000_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_arena(tmp_path, [*house(4), "human:me", "human:you"], seed=None)


@pytest.fixture
def seat(folder: Path) -> Iterator[TestClient]:
    with TestClient(
        ArenaServer(folder, voting=False, token=None).app, HERE, follow_redirects=False
    ) as client:
        yield client


@pytest.fixture
def mine(folder: Path) -> str:
    return f"/{SeatLinks.of(folder).path('me')}"


def ask(folder: Path, expects: Format, prompt: str = "What?", key: str = "k", name: str = "me") -> Request:
    request = Request.of("seed", key, name, "judge", [("user", prompt)], expects, HOUR)
    People(folder).ask(request, now_ms())
    return request


def said(folder: Path, request: Request) -> tuple[str, str]:
    told = People(folder).ask(request, now_ms())
    return told.state, told.text


def test_a_seat_shows_its_own_request_and_takes_one_reply(seat: TestClient, folder: Path, mine: str) -> None:
    asked = ask(folder, Choice("verdict", ("A", "B")), "Which is better?")
    ask(folder, Text(), "A secret of yours.", name="you")
    page = seat.get(mine)
    assert (page.status_code, page.headers["cache-control"]) == (200, "no-store")
    assert "Which is better?" in page.text
    assert "secret of yours" not in page.text
    assert "index.html" not in page.text, "it leads nowhere else"
    sent = {"request": asked.id, "reason": "Longer.", "verdict": "B"}
    taken = seat.post(mine, data=sent)
    assert (taken.status_code, seat.get(mine).status_code) == (303, 200)
    assert f"/seat/{taken.headers['location']}" == mine
    assert said(folder, asked) == ("replied", '{"reason":"Longer.","verdict":"B"}')
    second = seat.post(mine, data={**sent, "verdict": "A", "reason": "From another tab."})
    assert second.status_code == 409
    assert "was not taken" in second.text
    assert "From another tab." in second.text, "what was written is given back"
    assert said(folder, asked)[1] == '{"reason":"Longer.","verdict":"B"}'


def test_a_bad_reply_comes_back_with_what_was_written(seat: TestClient, folder: Path, mine: str) -> None:
    ask(folder, Scores(2), key="a")
    request = People(folder).turn("me", now_ms())
    assert request is not None
    sent = {"request": request.request.id, "scores.1.score": "8", "scores.2.score": "11"}
    page = seat.post(mine, data=sent)
    assert page.status_code == 422
    beside = re.search(
        r"<p><label.*?scores.2.score.*?</p>", page.text[page.text.index("2. score</label>") - 40 :], re.DOTALL
    )
    assert beside is not None
    assert "&#39;11&#39; is not a number from 0 to 10" in beside[0]
    assert 'aria-invalid="true"' in beside[0]
    assert page.text.count("aria-invalid") == 1
    assert 'value="8"' in page.text
    assert 'value="11"' in page.text
    assert seat.post(mine, data={**sent, "scores.2.score": "10"}).status_code == 303


def test_own_words_come_back_as_they_were(seat: TestClient, folder: Path, mine: str) -> None:
    asked = ask(folder, Text(30))
    words = "\n</textarea><script>stolen=1</script> \U0001f468\u200d\U0001f469\u200d\U0001f467" + "x" * 30
    page = seat.post(mine, data={"request": asked.id, "reply": words}).text
    assert "<script>stolen" not in page
    found = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", page, re.DOTALL)
    assert found is not None
    assert html.unescape(found[1]) == words


def test_what_others_wrote_is_text(seat: TestClient, folder: Path, mine: str) -> None:
    ask(folder, Text(), "<script>stolen=1</script>\x1b[2J\u202e")
    page = seat.get(mine).text
    assert "<script>stolen" not in page
    assert "&lt;script&gt;" in page
    assert not {"\x1b", "\u202e"} & set(page)


def test_declining_is_on_record_as_that(seat: TestClient, folder: Path, mine: str) -> None:
    asked = ask(folder, Code())
    assert seat.post(mine, data={"request": asked.id, "reply": "", "decline": "yes"}).status_code == 303
    assert said(folder, asked) == ("declined", "")


def test_what_is_too_long_or_foreign_is_refused(seat: TestClient, folder: Path, mine: str) -> None:
    asked = ask(folder, Text(2 * LONGEST))
    long = seat.post(mine, data={"request": asked.id, "reply": "é" * (LONGEST + 1)})
    assert long.status_code == 422
    assert "200,001 characters; at most 200,000" in long.text
    assert seat.post(mine, content=b"reply=" + b"x" * (13 * LONGEST)).status_code == 413
    foreign = ({"sec-fetch-site": "cross-site"}, {"origin": "https://elsewhere.example"}, {"origin": "null"})
    for headers in foreign:
        there = seat.post(mine, data={"request": asked.id, "reply": "theirs"}, headers=headers)
        assert there.status_code == 403
    assert seat.post(mine, content=b"\xff\xfe").status_code == 400
    assert said(folder, asked)[0] == "open"
    assert seat.post(mine, data={"request": asked.id, "reply": "é" * LONGEST}).status_code == 303


def test_only_the_link_opens_a_seat_and_it_opens_nothing_else(folder: Path, mine: str) -> None:
    ask(folder, Integer())
    server = ArenaServer(folder, voting=False, token=TOKEN)
    with TestClient(server.app, "http://arena.example", follow_redirects=False) as person:
        assert person.get(mine).status_code == 200
        assert person.get(f"{mine}/now").json()["request"]
        for asset in ("site.css", "seat.css", "seat.js"):
            assert person.get(f"/assets/{asset}").status_code == 200
        for path in (
            "/",
            "/matches.html",
            "/api/arena",
            "/events",
            f"{mine}/more",
            "/seat/",
            "/assets/site.js",
        ):
            assert person.get(path).status_code == 401, path
    with TestClient(ArenaServer(folder, voting=False, token=None).app, HERE) as client:
        for wrong in (mine[:-1], f"{mine}x", "/seat/me", "/seat/%00", "/seat/é"):
            assert client.get(wrong).status_code == 404
            assert client.post(wrong, data={"reply": "1"}).status_code == 404


def test_links_hold_over_a_restart_and_stand_nowhere(
    folder: Path, mine: str, caplog: pytest.LogCaptureFixture
) -> None:
    token = mine.rpartition("/")[2]
    assert len(token) == 32
    assert SeatLinks.of(folder).path("me") == mine[1:]
    assert SeatLinks.of(folder).path("you") != mine[1:]
    with (
        caplog.at_level(logging.DEBUG),
        TestClient(ArenaServer(folder, voting=False, token=None).app, HERE) as client,
    ):
        for path in ("/", "/ledger.html", "/games.html", mine, f"{mine}/nothing"):
            assert token not in client.get(path).text or path.startswith(mine)
        (folder / "people.db").write_bytes(b"no database")
        assert client.get(mine).status_code == 503
    ours = [record for record in caplog.records if not record.name.startswith("httpx")]
    assert ours
    assert not [record for record in ours if token in record.getMessage()]
    files = [path for path in folder.iterdir() if path.is_file() and path.name != KEY]
    assert all(token.encode() not in path.read_bytes() for path in files)
    (folder / KEY).unlink()
    assert SeatLinks.of(folder).path("me") != mine[1:], "without the key the old links are void"


def test_a_link_is_for_a_terminal_and_for_no_file(
    folder: Path, mine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = ArenaServer(folder, voting=False, token=None)
    for terminal in (True, False):
        monkeypatch.setattr("sys.stdout.isatty", lambda terminal=terminal: terminal)
        told = "\n".join(_welcome(server, 8_000, None, vote=False, review=False))
        assert (f"me: http://127.0.0.1:8000{mine}" in told) is terminal
        assert (mine in told) is terminal
    assert "shown at a terminal alone" in told
