"""The page on which an arena's owner reviews challenges."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from peerage.cli.main import app
from peerage.engine.record.challenges import pool
from peerage.ledger import open_ledger
from peerage.site.server.server import ArenaServer
from peerage.standings.verify import verify
from peerage.views.challenges import to_review

HERE = "http://localhost"


@pytest.fixture
def owner(sealed: Path, tmp_path: Path) -> Iterator[tuple[TestClient, Path]]:
    folder = Path(shutil.copytree(sealed, tmp_path / "arena"))
    made = ArenaServer(folder, voting=False, reviewing=True, token=None)
    with TestClient(made.app, HERE, follow_redirects=False) as client:
        yield client, folder


def fields(page: str) -> dict[str, str]:
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page))


def waiting(folder: Path) -> list[str]:
    ledger = open_ledger("sqlite:///arena.db", folder, create=False)
    found = [row.challenge_id for row in to_review(pool(ledger))]
    ledger.close()
    return found


@pytest.mark.parametrize(("verdict", "state"), [("approve", "in use"), ("object", "objected")])
def test_a_verdict_in_a_browser_is_an_entry_of_the_log(
    owner: tuple[TestClient, Path], verdict: str, state: str
) -> None:
    client, folder = owner
    before = waiting(folder)
    page = client.get("/review.html")
    assert page.headers["cache-control"] == "no-store"
    sent = fields(page.text)
    assert sent["challenge"] == before[0]
    assert "The author&#39;s answer:" in page.text or "The author's answer:" in page.text
    taken = client.post("/review.html", data={**sent, "verdict": verdict, "reason": "two readings"})
    assert (taken.status_code, taken.headers["location"]) == (303, "review.html")
    assert waiting(folder) == before[1:]
    ledger = open_ledger("sqlite:///arena.db", folder, create=False)
    said = [json.loads(row.body) for row in ledger.amendments("challenges")][-1]
    assert (said["action"], said["verdict"], said["reason"]) == ("review", verdict, "two readings")
    assert pool(ledger).entries[before[0]].state == state
    assert verify(ledger).ok
    ledger.close()
    assert "two readings" in client.get("/challenges.html").text


def test_one_that_is_skipped_comes_back_at_the_end(owner: tuple[TestClient, Path]) -> None:
    client, folder = owner
    names = waiting(folder)
    sent = fields(client.get("/review.html").text)
    there = client.post("/review.html", data={**sent, "verdict": "skip"}).headers["location"]
    assert fields(client.get(there).text)["challenge"] == names[1]
    assert fields(client.get(f"/review.html?after={names[-1]}").text)["challenge"] == names[0]
    assert waiting(folder) == names


def test_what_does_not_come_from_the_page_is_refused(owner: tuple[TestClient, Path]) -> None:
    client, folder = owner
    sent, names = fields(client.get("/review.html").text), waiting(folder)
    foreign = {**sent, "verdict": "object", "token": "another"}
    assert client.post("/review.html", data=foreign).status_code == 403
    unknown = {**sent, "verdict": "object", "challenge": "zz"}
    assert client.post("/review.html", data=unknown).status_code == 409
    long = {**sent, "verdict": "object", "reason": "x" * 20_000}
    assert client.post("/review.html", data=long).status_code == 413
    held = open_ledger("sqlite:///arena.db", folder, create=False)
    with held.runner():  # as while something is played
        busy = client.post("/review.html", data={**sent, "verdict": "object"})
    held.close()
    assert busy.status_code == 409
    assert waiting(folder) == names


def test_only_a_server_that_was_asked_to_has_the_page_and_never_on_a_network(
    sealed: Path, tmp_path: Path
) -> None:
    with TestClient(ArenaServer(sealed, voting=False, token=None).app, HERE) as client:
        assert client.get("/review.html").status_code == 404
    refused = CliRunner().invoke(app, ["serve", "--review", "--network", "--dir", str(sealed)])
    assert (refused.exit_code, "for this machine alone" in refused.stderr) == (1, True)
