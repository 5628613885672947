"""What was not played here, on pages: imported results in a table of their own, answers judged again."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.engine.again.test_rejudge import again
from tests.engine.arenas import play, write_arena
from tests.site.pages.test_pages import Read
from typer.testing import CliRunner

from peerage.cli.main import app
from peerage.site.addresses import pair_page, player_page
from peerage.site.api.answers import answer
from peerage.site.pages.router import page, paths
from peerage.site.reading import Site
from peerage.values.texts import visible

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


def link(shown: Read, text: str) -> str:
    """The address behind a link of a page at the root."""
    return next(address for address in shown.addresses if text in address)


def test_the_first_page_counts_them_and_names_their_files(site: Site) -> None:
    shown = read(site, "index.html")
    assert "after 3 votes and 6 matches." in shown.text
    assert "3 votes and 6 decided matches of tasks among 8 players" in shown.text
    for words in (EVIL, "strange", "third", "Where the outside results come from", "b.csv", "3 votes"):
        assert words in shown.text
    assert not any(tag == "img" for tag, _ in shown.elements)
    assert shown.text.count("in outside results alone") >= 3
    assert "outside results left out" in shown.text, "the chart of ratings over the matches"
    for path in ("leaderboard/bt.html", "leaderboard/trueskill.html"):
        assert "strange" in read(site, path).text
    cost = read(site, "leaderboard/cost.html").text
    assert "strange" not in cost
    assert "3 votes of others are not counted: Cost Elo rates matches played here alone" in cost


def test_each_kind_has_a_table_of_its_own(site: Site) -> None:
    home = read(site, "index.html")
    outside = read(site, link(home, "source-outside"))
    assert "3 votes among 3 players" in outside.text
    assert "not played here" in outside.text
    played = read(site, link(home, "source-played")).text
    assert "strange" not in played.partition("Leaderboard")[2].partition("3 votes of others")[0]
    assert "6 decided matches of tasks among 5 players" in played
    assert {link(home, "source-outside"), link(home, "source-played")} <= {*paths(site)}
    made = page(site, "data/leaderboard-strength.csv")
    assert made is not None
    lines = {line["player"]: line for line in csv.DictReader(io.StringIO(made.body.decode()))}
    assert [lines[EVIL][key] for key in ("wins", "draws", "losses", "cost_usd")] == ["2", "0", "0", ""]


def test_their_players_have_pages_and_are_compared(site: Site) -> None:
    shown = read(site, player_page("strange"))
    assert "0–1–1" in shown.text
    assert EVIL in shown.text
    assert "$" not in shown.text
    pair = read(site, pair_page("strange", "third"))
    assert "tied 1" in pair.text
    assert "b.csv" in pair.text
    assert "strange" in read(site, "head-to-head.html").text


def test_the_api_takes_a_source(site: Site) -> None:
    def asked(**query: str) -> tuple[int, dict[str, Any]]:
        found = answer(site, "api/leaderboard", tuple(query.items()))
        return found.status, json.loads(found.body)

    status, both = asked()
    assert (status, both["verdict"]["outside"], both["verdict"]["matches"]) == (200, {"vote": 3}, 6)
    for source in ("outside", "b.csv"):
        status, outside = asked(source=source)
        assert (status, len(outside["rows"]), outside["verdict"]["matches"]) == (200, 3, 0)
    assert asked(source="played")[1]["verdict"]["outside"] == {}
    for wrong in ({"source": "c.csv"}, {"source": "outside", "track": "cost"}):
        status, found = asked(**wrong)
        assert (status, found["error"].startswith("source: ")) == (404, True)
    told = json.loads(answer(site, "api/arena", ()).body)
    assert told["results"] == {"vote": 3, "match": 6}


def test_an_arena_of_imports_alone_is_a_leaderboard(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text(BATTLES, "utf-8")
    assert CliRunner().invoke(app, ["import", str(tmp_path / "b.csv"), "--dir", str(tmp_path)]).exit_code == 0
    with closing(Site.open(tmp_path)) as site:
        assert site.tracks == ("strength", "bt", "trueskill", "glicko2")
        shown = read(site, "index.html")
        every = [read(site, path).text for path in paths(site) if path.endswith(".html")]
    assert "after 3 votes." in shown.text
    assert "3 votes among 3 players." in shown.text
    assert not any("source-" in address for address in shown.addresses)
    assert not any(name in shown.addresses for name in ("matches.html", "judges.html", "costs.html"))
    assert len(every) > 10
    for text in every:
        assert "No match has been decided" not in text
        assert "$ per 100" not in text
    assert "peerage run plays them" not in shown.text
    assert any("3 votes on a ledger that anyone can check" in text for text in every)
    assert any("Each outside result counts once" in text for text in every)


def test_without_them_there_is_no_such_page(pages: Site) -> None:
    shown = read(pages, "index.html")
    assert not any("source-" in address for address in shown.addresses)
    assert "utside results" not in shown.text
    assert "Each outside result" not in read(pages, "method.html").text


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
