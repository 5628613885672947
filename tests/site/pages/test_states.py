"""Pages of an arena in which nothing was played yet, and output that no locale changes."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.engine.arenas import write_arena
from tests.site.pages.test_pages import Read

from peerage.ledger import open_ledger
from peerage.site.pages.router import page, paths
from peerage.site.reading import Site
from peerage.site.server.server import ArenaServer


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_arena(tmp_path_factory.mktemp("empty"))
    open_ledger("sqlite:///arena.db", folder, create=True).close()
    return folder


def test_every_page_of_an_arena_without_a_match_says_so_and_the_first_what_to_do(empty: Path) -> None:
    with closing(Site.open(empty)) as site:
        made = {path: page(site, path) for path in paths(site)}
    assert all(made.values())
    texts = {path: Read(one.body).text for path, one in made.items() if one and path.endswith(".html")}
    home = texts["index.html"]
    assert "No match has been decided yet" in home
    assert "This page fills as matches end; peerage run plays them." in home
    assert "No match has been played yet." in texts["matches.html"]
    assert "There is no result yet." in texts["head-to-head.html"]
    assert "No judge has voted yet" in texts["judges.html"]
    assert not any("None" in text.replace("None yet", "") or "nan" in text.split() for text in texts.values())


def test_a_server_of_an_arena_without_a_match_answers_in_words(empty: Path) -> None:
    with TestClient(ArenaServer(empty, voting=False, token=None).app, "http://localhost") as client:
        assert "there is nobody to compare" in client.get("/compare").text
        missing = client.get("/nothing.html")
        assert missing.status_code == 404
        assert "is not a page of this arena" in missing.text


@pytest.mark.parametrize("shape", ["csv", "table"])
def test_no_locale_changes_what_is_written(played: Path, shape: str) -> None:
    words = [sys.executable, "-m", "peerage", "leaderboard", "--dir", str(played), "--format", shape]
    there = {key: value for key, value in os.environ.items() if not key.startswith(("LC_", "LANG"))}
    written = {
        subprocess.run(words, env={**there, "LC_ALL": name}, capture_output=True, check=True).stdout
        for name in ("C", "tr_TR.UTF-8")
    }
    assert len(written) == 1
    assert b"p6" in written.pop()
