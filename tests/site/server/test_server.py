"""The server as browsers and programs meet it: pages, headers, the door, votes, and what is refused."""

from __future__ import annotations

import asyncio
import re
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.testclient import TestClient
from starlette.types import Message
from tests.engine.arenas import statuses
from tests.site.arenas import MATCHES_SERVED, eventually

from peerage.ledger.topics.votes import PeopleVotes
from peerage.site.http.frame import Refused, body_of
from peerage.site.http.guard import ClientHeader
from peerage.site.pages.router import page
from peerage.site.people import voting_pages
from peerage.site.people.voting import Sessions, VotingService
from peerage.site.reading import Site
from peerage.site.server import cache
from peerage.site.server.cache import menu
from peerage.site.server.server import ArenaServer
from peerage.standings.verify import verify

HERE = "http://localhost"
TOKEN = "a-token-of-some-length"


@pytest.fixture(scope="module")
def client(played: Path) -> Iterator[TestClient]:
    """A server on which nobody may vote."""
    with TestClient(ArenaServer(played, voting=False, token=None).app, HERE) as made:
        yield made


@pytest.fixture(scope="module")
def voted(played: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(played, tmp_path_factory.mktemp("voted") / "arena"))


@pytest.fixture(scope="module")
def voting(voted: Path) -> Iterator[TestClient]:
    """A server on which people may vote."""
    with TestClient(ArenaServer(voted, voting=True, token=None).app, HERE, follow_redirects=False) as made:
        yield made


def test_asking_for_the_stream_s_head_takes_nobody_s_place(client: TestClient) -> None:
    answer = client.head("/events")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")


@pytest.fixture
def booth(voting: TestClient) -> TestClient:
    """The same, seen by somebody who has not been here yet."""
    voting.cookies.clear()
    return voting


@pytest.fixture
def strict(folder: Path) -> Iterator[TestClient]:
    """A server on which nobody has voted yet."""
    with TestClient(ArenaServer(folder, voting=True, token=None).app, HERE, follow_redirects=False) as made:
        yield made


def votes_in(folder: Path) -> int:
    return PeopleVotes("sqlite:///arena.db", folder).count()


def ticket(body: str) -> str:
    found = re.search(r'name="ticket" value="([^"]+)"', body)
    assert found is not None
    return found[1]


# ------------------------------------------------------------------------------------------------ pages


def test_pages_are_those_of_the_export(client: TestClient, played: Path) -> None:
    site = Site.open(played, menu(voting=False))
    for path in ("ledger.html", "match/1.html", "assets/site.css"):
        expected = page(site, path)
        assert expected is not None
        found = client.get(f"/{path}")
        assert (found.status_code, found.content) == (200, expected.body)
        assert found.headers["content-type"] == expected.content_type
        assert found.headers["content-encoding"] == "gzip"
    site.close()


def test_a_page_that_a_reader_has_is_not_sent_again(client: TestClient) -> None:
    found = client.get("/matches.html")
    again = client.get("/matches.html", headers={"if-none-match": found.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert found.headers["peerage-behind"] == again.headers["peerage-behind"] == "no"
    plain = client.get("/matches.html", headers={"accept-encoding": "identity"})
    assert plain.content == found.content
    assert "content-encoding" not in plain.headers
    head = client.head("/matches.html")
    assert (head.status_code, head.content) == (200, b"")


@pytest.mark.parametrize(
    "path",
    [
        "nothing.html",
        "match/0",
        "match/0.html",
        "match/99999.html",
        "match/99999?step=2",
        "players/nobody-00000000.html",
        "assets/nothing.js",
        "assets/../server.py",
        "assets/%2e%2e/server.py",
        "..%2f..%2farena.yaml",
        "arena.yaml",
        "arena.db",
        "live/999.html",
        "live/x.html",
        "live/99999999999999999999999999.html",
        "vote.html",
        "voted.html",
        "%00",
        "<script>alert(1)</script>",
        "a" * 3_000,
        "%ff%fe",
    ],
)
def test_what_is_not_there_is_a_clean_404(client: TestClient, path: str) -> None:
    found = client.get(f"/{path}")
    assert found.status_code == 404
    assert "<script>alert" not in found.text
    assert "Traceback" not in found.text


@pytest.mark.parametrize("path", ["matches/7", "matches/7.html"])
def test_a_match_at_another_address_is_linked(client: TestClient, path: str) -> None:
    found = client.get(f"/{path}")
    assert found.status_code == 404
    assert '<a href="../match/7.html">Match 7</a> has another address' in found.text
    assert "another address" not in client.get("/match/99999").text


def test_a_match_has_an_address_of_its_own_that_keeps_the_step_and_the_filter(client: TestClient) -> None:
    assert client.get("/match/7").text == client.get("/match/7.html").text
    step = client.get("/match/7?step=3&only=x", follow_redirects=False)
    assert (step.status_code, step.headers["location"]) == (303, "7?only=x#step-3")
    assert client.get("/match/7?step=x").status_code == 200
    plain = client.get("/match/7").text
    topic = re.findall(r"<span>Match 7, on (.*?) · <a", plain)[0]
    among = client.get("/match/7", params={"topic": topic}).text
    [other, *_] = re.findall(r'<a href="(\d+)\.html\?topic=[^"]+" rel=', among)
    assert f"Match {other}, on {topic} · <a" in client.get(f"/match/{other}").text
    assert 'rel="prev"' in plain
    assert (
        "rel="
        not in client.get("/match/7?topic=nothing")
        .text.partition('<nav class="pager')[2]
        .partition("</nav>")[0]
    )


def test_the_api_speaks_json_also_of_what_is_not_there(client: TestClient, played: Path) -> None:
    assert client.get("/api/arena").json()["settled"] == len(statuses(played))
    for path in ("api/nothing", "api/ballot", "api/matches/999"):
        found = client.get(f"/{path}")
        assert found.status_code == 404
        assert found.json()["error"]
    assert client.get("/api/matches?limit=x").status_code == 400
    overview = client.get("/api")
    assert overview.headers["content-type"].startswith("text/html")
    assert "api/leaderboard" in overview.text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_everything_is_read_only(client: TestClient, method: str) -> None:
    for path in ("/", "/api/votes", "/api/matches/1", "/events", "/live.html"):
        found = client.request(method, path, content=b"{}")
        assert found.status_code == 405
        assert "GET" in found.headers["allow"]


@pytest.mark.parametrize("path", ["/", "/api/arena", "/nothing", "/live.html", "/assets/live.js", "/api/x"])
def test_every_answer_carries_its_policy(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in headers


def test_an_address_as_long_as_none_of_ours_is_refused(client: TestClient) -> None:
    assert client.get(f"/api/matches?player={'x' * 5_000}").status_code == 414


def test_live_pages(client: TestClient, played: Path) -> None:
    found = client.get("/live.html")
    assert f'href="live/{len(statuses(played))}.html"' in found.text
    assert "No match is running" in found.text
    match = client.get("/live/1.html")
    assert match.status_code == 200
    assert 'href="../match/1.html"' in match.text


# ------------------------------------------------------------------------------------------------ the door


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "", "[::2]"])
def test_a_name_that_is_not_this_machines_is_refused(client: TestClient, host: str) -> None:
    found = client.get("/", headers={"host": host})
    assert found.status_code == 421
    assert "localhost" in found.text


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "127.0.0.1:1", "[::1]:8000", "[::1]"])
def test_names_of_this_machine_are_answered(client: TestClient, host: str) -> None:
    assert client.get("/api/arena", headers={"host": host}).status_code == 200


@pytest.fixture(scope="module")
def guarded(played: Path) -> Iterator[TestClient]:
    app = ArenaServer(played, voting=False, token=TOKEN).app
    with TestClient(app, "http://arena.example", follow_redirects=False) as made:
        yield made


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer wrong"},
        {"authorization": f"Basic {TOKEN}"},
        {"cookie": f"peerage-token-80={TOKEN}x"},
        {"cookie": f"peerage-token-8000={TOKEN}"},
        {"cookie": f"other={TOKEN}"},
        {"authorization": f"Bearer {TOKEN}\u00e9".encode("latin-1")},
    ],
)
def test_a_network_needs_the_token(guarded: TestClient, headers: Any) -> None:
    guarded.cookies.clear()
    for path in ("/", "/api/arena", "/events", "/live.html", "/?token=wrong", "/assets/live.js"):
        found = guarded.get(path, headers=headers)
        assert found.status_code == 401
        assert found.headers["www-authenticate"].startswith("Bearer")


def test_the_cookie_of_the_token_is_that_of_the_port(played: Path) -> None:
    """Browsers send cookies to every port: two arenas on one machine must not lock each other out."""
    for port in (8000, 8001):
        app = ArenaServer(played, voting=False, token=f"{TOKEN}-{port}").app
        with TestClient(app, f"http://arena.example:{port}", follow_redirects=False) as made:
            found = made.get(f"/?token={TOKEN}-{port}")
            assert found.headers["set-cookie"].startswith(f"peerage-token-{port}=")
            other = {"cookie": f"peerage-token-8000={TOKEN}-8000; peerage-token-8001={TOKEN}-8001"}
            assert made.get("/api/arena", headers=other).status_code == 200


def test_a_host_that_is_no_host_leads_nowhere(guarded: TestClient) -> None:
    bearer = {"authorization": f"Bearer {TOKEN}"}
    for host in ("x/../../etc/passwd?", "x/data/ledger.jsonl?", "x#", "[", "x:y"):
        for path in ("/data/matches.csv", "/api/nothing", "/nothing"):
            found = guarded.get(path, headers={**bearer, "host": host})
            assert found.status_code == (200 if path.startswith("/data") else 404)
            assert host not in found.text


def test_the_token_moves_from_the_address_into_a_cookie(guarded: TestClient) -> None:
    guarded.cookies.clear()
    found = guarded.get(f"/match/1.html?x=1&token={TOKEN}")
    assert (found.status_code, found.headers["location"]) == (303, "./1.html?x=1")
    cookie = found.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert guarded.get("/match/1.html").status_code == 200
    guarded.cookies.clear()
    assert guarded.get("/api/arena", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
    assert guarded.get(f"//evil.example/?token={TOKEN}").headers["location"] == "./."


# ------------------------------------------------------------------------------------------------ votes


def test_a_vote_in_a_browser(booth: TestClient, voted: Path) -> None:
    vote_count = votes_in(voted)
    shown = booth.get("/vote.html")
    assert shown.status_code == 200
    for name in (f"p{number}" for number in range(7)):
        assert not re.search(rf"\b{name}\b", shown.text), "a blind pair must not name its players"
    assert "match/" not in shown.text.partition("<main")[2]
    cookie = shown.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    taken = booth.post("/vote.html", data={"ticket": ticket(shown.text), "verdict": "first"})
    assert taken.status_code == 303
    told = booth.get(taken.headers["location"])
    assert told.status_code == 200
    site = Site.open(voted)
    vote = list(site.votes.votes())[-1]
    assert vote.verdict == vote.shown[0]
    assert re.search(r"You preferred p\d", told.text)
    assert verify(site.ledger, votes=site.votes).ok
    site.close()
    assert f"match={vote.match}" in taken.headers["location"]
    again = booth.post("/vote.html", data={"ticket": ticket(shown.text), "verdict": "second"})
    assert again.headers["location"] == "vote.html"
    assert votes_in(voted) == vote_count + 1


def test_a_voter_learns_how_often_it_agrees_with_the_peers(booth: TestClient, voted: Path) -> None:
    """Ties of either side are left out; each vote is held against the match's record."""
    booth.cookies.clear()
    agreed = compared = 0
    for verdict in ("first", "second", "tie", "both bad", "first"):
        shown = booth.get("/api/ballot").json()
        revealed = booth.post("/api/votes", json={"ticket": shown["ticket"], "verdict": verdict}).json()
        first, second = revealed["peers"]
        if verdict in ("first", "second") and first != second:
            compared += 1
            agreed += (first > second) == (verdict == "first")
        assert (revealed["verdict"], revealed["agreed"], revealed["compared"]) == (verdict, agreed, compared)
        page = booth.get("/voted.html", params={"match": revealed["match"]}).text
        assert (f"in {agreed} of {compared}" in page) == bool(compared)
    assert compared


def test_what_is_revealed_is_for_those_who_voted(booth: TestClient) -> None:
    shown = booth.get("/vote.html")
    taken = booth.post("/vote.html", data={"ticket": ticket(shown.text), "verdict": "tie"})
    booth.cookies.clear()
    assert booth.get(f"/{taken.headers['location']}").status_code == 404
    for match in ("", "x", "-1", "1e3", "9" * 400, "٣"):
        assert booth.get("/voted.html", params={"match": match}).status_code == 404


def test_nobody_votes_in_anothers_name(booth: TestClient, voted: Path) -> None:
    before = votes_in(voted)
    shown = booth.get("/vote.html")
    stolen = {"ticket": ticket(shown.text), "verdict": "first"}
    for foreign in (
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://evil.example"},
        {"origin": "http://["},
        {"origin": "null"},
    ):
        assert booth.post("/vote.html", data=stolen, headers=foreign).status_code == 403
    booth.cookies.clear()
    assert booth.post("/vote.html", data=stolen).headers["location"] == "vote.html"
    assert votes_in(voted) == before


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"", "application/x-www-form-urlencoded", 400),
        (b"verdict=first", "application/x-www-form-urlencoded", 400),
        (b"ticket=x&verdict=third", "application/x-www-form-urlencoded", 400),
        (b"\xff\xfe=\xff", "application/x-www-form-urlencoded", 400),
        (b"&".join([b"a=1"] * 100), "application/x-www-form-urlencoded", 400),
        (b"x" * 5_000, "application/x-www-form-urlencoded", 413),
        (b"{", "application/json", 400),
        (b'{"ticket":1,"verdict":"first"}', "application/json", 400),
    ],
)
def test_what_is_no_vote_is_refused(booth: TestClient, content: bytes, kind: str, status: int) -> None:
    booth.get("/vote.html")
    found = booth.post("/vote.html", content=content, headers={"content-type": kind})
    assert found.status_code == status


def test_who_leaves_in_the_middle_of_a_vote_is_no_fault() -> None:
    async def receive() -> Message:
        return {"type": "http.disconnect"}

    with pytest.raises(Refused):
        asyncio.run(body_of(Request({"type": "http", "headers": []}, receive), 10, "a vote"))


def test_a_skip_holds_nobody_up(booth: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits for the lock of whoever is just writing a vote: not in the loop that answers everybody."""
    skip = VotingService.skip

    def elsewhere(voting: VotingService, voter: str, ticket: str) -> None:
        with pytest.raises(RuntimeError, match="no running event loop"):
            asyncio.get_running_loop()
        skip(voting, voter, ticket)

    monkeypatch.setattr(VotingService, "skip", elsewhere)
    pair = booth.get("/api/ballot").json()
    skipped = booth.post("/api/votes", json={"ticket": pair["ticket"], "verdict": "skip"})
    assert (skipped.status_code, skipped.json()) == (200, None)


def test_votes_by_a_program(booth: TestClient, voted: Path) -> None:
    before = votes_in(voted)
    pair = booth.get("/api/ballot").json()
    assert pair.keys() == {"ticket", "topic", "challenge", "first", "second", "media"}
    assert booth.get("/api/ballot").json() == pair
    assert booth.post("/api/votes", data={"ticket": pair["ticket"], "verdict": "tie"}).status_code == 415
    skipped = booth.post("/api/votes", json={"ticket": pair["ticket"], "verdict": "skip"})
    assert (skipped.status_code, skipped.json()) == (200, None)
    other = booth.get("/api/ballot").json()
    assert other["ticket"] != pair["ticket"]
    told = booth.post("/api/votes", json={"ticket": other["ticket"], "verdict": "second"})
    assert told.status_code == 201
    assert told.json()["verdict"] == "second"
    assert sum(told.json()["peers"]) == 1
    assert booth.post("/api/votes", json={"ticket": other["ticket"], "verdict": "tie"}).status_code == 409
    assert votes_in(voted) == before + 1


def test_when_every_pair_is_judged_the_page_says_so(booth: TestClient) -> None:
    for _ in range(MATCHES_SERVED):
        found = booth.get("/api/ballot")
        if found.status_code == 404:
            break
        booth.post("/api/votes", json={"ticket": found.json()["ticket"], "verdict": "tie"})
    assert "no pair left" in booth.get("/vote.html").text


def test_a_session_that_this_arena_did_not_make_does_not_vote(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is shown a pair as somebody new; what it sends in its own name is no vote."""
    monkeypatch.setattr(voting_pages, "SESSIONS_A_MINUTE", 10_000)
    monkeypatch.setattr(voting_pages, "VOTES_A_MINUTE", 10_000)
    (tmp_path / "other").mkdir()
    with TestClient(ArenaServer(folder, voting=True, token=None).app, HERE) as made:
        made.get("/api/ballot")
        ((name, genuine),) = made.cookies.items()
        forged = [
            secrets.token_urlsafe(24),
            f"{secrets.token_urlsafe(24)}.{genuine.partition('.')[2]}",
            genuine.partition(".")[0],
            *[f"{genuine[:at]}{'b' if genuine[at] == 'a' else 'a'}{genuine[at + 1 :]}" for at in range(97)],
            Sessions.beside(tmp_path / "other" / "arena.votes.db").new(),
            "\u00e9" * 32,
            "",
        ]
        for cookie in forged:
            header = {"cookie": f"{name}={cookie}".encode()}
            made.cookies.clear()
            pair = made.get("/api/ballot", headers=header).json()
            made.cookies.clear()
            vote = {"ticket": pair["ticket"], "verdict": "tie"}
            assert made.post("/api/votes", json=vote, headers=header).status_code == 409
        assert votes_in(folder) == 0
        made.cookies.set(name, genuine)
        vote["ticket"] = made.get("/api/ballot").json()["ticket"]
        assert made.post("/api/votes", json=vote).status_code == 201


def test_forged_sessions_are_no_way_around_the_limit(strict: TestClient) -> None:
    """What is not signed is a new session, of which one address has only so many."""
    strict.get("/api/ballot")
    (name,) = strict.cookies.keys()
    statuses = []
    for _ in range(114):
        strict.cookies.clear()
        header = {"cookie": f"{name}={secrets.token_urlsafe(24)}"}
        statuses.append(strict.get("/api/ballot", headers=header).status_code)
    assert 429 in statuses


def test_a_session_outlives_the_server(folder: Path) -> None:
    cookies: dict[str, str] = {}
    tickets = set()
    for _ in range(2):
        with TestClient(ArenaServer(folder, voting=True, token=None).app, HERE, cookies=cookies) as made:
            pair = made.get("/api/ballot").json()
            made.post("/api/votes", json={"ticket": pair["ticket"], "verdict": "tie"})
            cookies = dict(made.cookies)
            tickets.add(pair["ticket"])
    voters = {vote.voter for vote in PeopleVotes("sqlite:///arena.db", folder).votes()}
    assert (len(voters), len(tickets), votes_in(folder)) == (1, 2, 2)


@pytest.mark.parametrize(
    ("header", "status"),
    [(None, 429), (ClientHeader("X-Forwarded-For"), 200), (ClientHeader("X-Real-IP"), 429)],
)
def test_limits_count_by_the_header_that_is_named(
    folder: Path, header: ClientHeader | None, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None is believed unless it is named; what a client adds before it does not count."""
    monkeypatch.setattr(voting_pages, "SESSIONS_A_MINUTE", 3)  # few, so that none is added meanwhile
    app = ArenaServer(folder, voting=True, token=None, header=header).app
    with TestClient(app, HERE) as made:
        for number in range(voting_pages.SESSIONS_A_MINUTE + 5):
            made.cookies.clear()
            found = made.get("/api/ballot", headers={"x-forwarded-for": f"10.0.0.{number}"})
        assert found.status_code == status
        statuses = set()
        for number in range(voting_pages.SESSIONS_A_MINUTE + 5):
            made.cookies.clear()
            said = {"x-forwarded-for": f"10.0.0.{number}, 192.0.2.1"}
            statuses.add(made.get("/api/ballot", headers=said).status_code)
        assert 429 in statuses


def test_too_many_at_once_have_to_wait(strict: TestClient) -> None:
    strict.get("/vote.html")
    statuses = [
        strict.post("/vote.html", data={"ticket": "x", "verdict": "tie"}).status_code
        for _ in range(voting_pages.VOTES_A_MINUTE + 3)
    ]
    assert statuses.count(429) >= 1
    late = strict.post("/api/votes", json={"ticket": "x", "verdict": "tie"})
    assert late.status_code == 429
    assert int(late.headers["retry-after"]) >= 1
    newcomers = []
    for _ in range(voting_pages.SESSIONS_A_MINUTE + 3):
        strict.cookies.clear()
        newcomers.append(strict.get("/api/ballot").status_code)
    assert set(newcomers) == {200, 429}


def test_the_audiences_table_is_a_page_that_follows_the_votes(strict: TestClient) -> None:
    pair = strict.get("/api/ballot").json()
    strict.post("/api/votes", json={"ticket": pair["ticket"], "verdict": "first"})
    eventually(lambda: "Bradley-Terry over the votes" in strict.get("/audience.html").text)


# ------------------------------------------------------------------------------------------------ faults


def test_a_ledger_that_is_deleted_replaced_or_put_back(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    pages = ("/", "/matches.html", "/api/arena", "/live.html", "/live/1.html", "/vote.html", "/data/arena.db")
    there, away = folder / "arena.db", tmp_path / "away.db"
    with TestClient(ArenaServer(folder, voting=True, token=None).app, HERE) as made:
        assert made.get("/").status_code == 200
        there.rename(away)
        for _ in range(2):
            eventually(lambda: made.get("/").status_code == 503)
            for path in pages:
                found = made.get(path)
                assert (found.status_code, "no longer there" in found.text) == (503, True)
                assert str(folder) not in found.text
            shutil.copy(away, there)
        assert f"{there} was deleted or replaced" in caplog.text
        away.rename(there)
        eventually(lambda: made.get("/").status_code == 200)
        for path in pages:
            assert made.get(path).status_code == 200
    assert "Traceback" not in caplog.text + capfd.readouterr().err


def test_settings_that_break_while_they_are_served_are_said_without_a_traceback(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with TestClient(ArenaServer(folder, voting=False, token=None).app, HERE) as made:
        (folder / "arena.yaml").write_text("players: [", "utf-8")
        for path in ("/matches.html", "/api/matches/3", "/data/arena.db"):
            found = made.get(path)
            assert found.status_code in (500, 503)
            assert "the log says why" in found.text
            assert str(folder) not in found.text
    said = capfd.readouterr().err
    assert "arena.yaml" in said
    assert "Traceback" not in said


def test_votes_that_cannot_be_read_are_said_without_a_traceback(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with TestClient(ArenaServer(folder, voting=True, token=None).app, HERE) as made:
        (folder / "arena.votes.db").write_bytes(b"no database" * 1_000)
        for path in ("/vote.html", "/api/ballot"):
            found = made.get(path)
            assert found.status_code == 503
            assert str(folder) not in found.text
    assert "Traceback" not in caplog.text
    assert "arena.votes.db is no database" in caplog.text


def test_when_too_much_is_asked_for_it_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with TestClient(ArenaServer(folder, voting=False, token=None).app, HERE) as made:
        assert made.get("/matches.html").status_code == 200
        monkeypatch.setattr(cache, "MOST_WAITING", 0)
        found = made.get("/players.html")
        assert (found.status_code, found.headers["retry-after"]) == (503, "5")
        assert made.get("/matches.html").status_code == 200


def test_a_download_that_a_reader_has_is_not_sent_again(client: TestClient) -> None:
    found = client.get("/data/matches.csv")
    for tag in (found.headers["etag"], f'"other", W/{found.headers["etag"]}', "*"):
        again = client.get("/data/matches.csv", headers={"if-none-match": tag})
        assert (again.status_code, again.content) == (304, b"")
    assert client.get("/data/matches.csv", headers={"if-none-match": '"other"'}).status_code == 200
    many = ",".join(f"{start}-{start}" for start in range(0, 2_000, 2))
    assert client.get("/data/matches.csv", headers={"range": f"bytes={many}"}).status_code in (200, 400, 416)
