"""What pages tell of a provider that names another model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.arenas import play, write_arena
from tests.engine.record.test_model_watch import NEW, OLD, WATCHED, on_record, served
from tests.site.pages.test_pages import Read, body

from peerage.site.addresses import player_page
from peerage.site.export.report import report
from peerage.site.reading import Site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = write_arena(tmp_path_factory.mktemp("models"), 5, engine={"concurrency": 1})
    play(folder, 24, clients=served(lambda call, count: OLD if count <= 40 else NEW))
    found = Site.open(folder)
    yield found
    found.close()


def folder_of(site: Site) -> Path:
    return Path(site.ledger.address.removeprefix("sqlite:///")).parent


def test_the_page_of_a_player_tells_it_and_marks_its_curve(site: Site) -> None:
    change = on_record(folder_of(site))[-1]
    page = body(site, player_page(WATCHED))
    told = f"From match {change.match:,} on the provider names {NEW} (before: {OLD})."
    assert f"{told} The rating counts all its matches." in Read(page).text
    assert "Dashed: its provider names another model." in Read(page).text
    assert f"<title>{change.in_words}</title></path>".encode() in page
    other = body(site, player_page("p0"))
    assert b"provider names" not in other
    assert b"stroke-dasharray" not in other


def test_nothing_is_named_where_it_is_what_the_player_is_said_to_be(tmp_path: Path) -> None:
    folder = write_arena(tmp_path, 4)
    play(folder, 2)
    assert [one.model for one in on_record(folder)] == ["house"] * 4
    house = Site.open(folder)
    assert b"provider names" not in body(house, player_page("p0"))
    house.close()


def test_the_report_tells_it(site: Site) -> None:
    change = on_record(folder_of(site))[-1]
    assert f"{WATCHED}: {change.in_words}; the rating counts all its matches" in Read(report(site)).text


def test_the_leaderboard_page_tells_it(site: Site) -> None:
    assert f"from match {on_record(folder_of(site))[-1].match}" in Read(body(site, "index.html")).text
