"""What was not played here, on pages: imported results in a table of their own, answers judged again."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.engine.again.test_rejudge import again
from tests.engine.arenas import play, write_arena
from tests.site.pages.test_pages import Read
from typer.testing import CliRunner

from peerage.cli.main import app
from peerage.site.pages.router import page, paths
from peerage.site.reading import Site
from peerage.values.texts import visible
from peerage.views.arena.leaderboard import OUTSIDE

EVIL = "<img src=x onerror=window.stolen=1>"
BATTLES = f"model_a,model_b,winner\n{EVIL},strange,model_a\nstrange,third,tie\nthird,{EVIL},model_b\n"


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Duels on one prompt, and an imported file beside them."""
    parent = tmp_path_factory.mktemp("first")
    folder = write_arena(
        parent / "arena", 5, game="tasks", rules={"tasks": ["Say why."]}, judging={"judges": 2}
    )
    play(folder, 6)
    (parent / "b.csv").write_text(BATTLES, "utf-8")
    said = CliRunner().invoke(app, ["import", str(parent / "b.csv"), "--dir", str(folder)])
    assert said.exit_code == 0, said.output
    return folder


@pytest.fixture(scope="module")
def site(first: Path) -> Iterator[Site]:
    with closing(Site.open(first)) as made:
        yield made


def read(site: Site, path: str) -> Read:
    made = page(site, path)
    assert made is not None
    return Read(made.body)


def test_outside_results_have_a_marked_table_of_their_own(site: Site) -> None:
    shown = read(site, OUTSIDE)
    for name in (EVIL, "strange", "third", "b.csv"):
        assert name in shown.text
    assert "not played here" in shown.text
    assert "3 players" in shown.text.partition("Outside results")[2].partition("Results that others")[0]
    assert not any(tag == "img" for tag, _ in shown.elements)
    made = page(site, "data/outside.csv")
    assert made is not None
    lines = list(csv.DictReader(io.StringIO(made.body.decode())))
    assert next((line["player"], line["wins"], line["draws"], line["losses"]) for line in lines) == (
        EVIL,
        "2",
        "0",
        "0",
    )
    assert not {row.player for row in site.table()} & {line["player"] for line in lines}


def test_every_leaderboard_leads_to_them_and_none_counts_them(site: Site) -> None:
    assert OUTSIDE in list(paths(site))
    for track in ("bt", "trueskill"):
        path = "index.html" if track == site.track else f"leaderboard/{track}.html"
        shown = read(site, path)
        assert any(address.endswith("outside.html") for address in shown.addresses)
        assert "strange" not in shown.text


def test_a_home_page_with_nothing_else_leads_to_them_and_shows_no_empty_table(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text(BATTLES, "utf-8")
    assert CliRunner().invoke(app, ["import", str(tmp_path / "b.csv"), "--dir", str(tmp_path)]).exit_code == 0
    with closing(Site.open(tmp_path)) as site:
        made = page(site, "index.html")
    assert made is not None
    shown = Read(made.body)
    assert "The table of outside results" in shown.text
    assert not any(tag == "table" for tag, _ in shown.elements)
    assert "peerage run plays them" not in shown.text
    assert "`" not in shown.text
    assert "$ per 100" not in shown.text


def test_without_them_there_is_no_such_page(pages: Site) -> None:
    assert page(pages, OUTSIDE) is None
    assert page(pages, "data/outside.csv") is None
    assert "Outside results" not in read(pages, "index.html").text


def test_a_match_of_recorded_answers_shows_what_is_judged_again(first: Path, tmp_path: Path) -> None:
    folder = tmp_path / "again"
    count = again(first, folder, ("house:0.9",)).fixtures
    play(folder, count)
    with closing(Site.open(folder)) as site:
        assert count
        for match in site.matches(1, count):
            shown = read(site, f"match/{match.number}.html").text
            drawn = match.fixture.drawn
            for label, answer in drawn["answers"].items():
                assert visible(answer) in shown
                assert drawn["authors"][label] in shown
            assert drawn["record"] in shown
        assert "among 1 player" in read(site, "index.html").text
        assert "1 players" not in read(site, "index.html").text
