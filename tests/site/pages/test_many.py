"""Pages of arenas in which more than two meet: places instead of scores, and what few matches do not say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Page
from tests.engine.arenas import house, play, write_arena
from tests.site.browsers import needed
from tests.site.pages.test_browser import until
from tests.site.pages.test_pages import Read

from peerage.site.addresses import player_page
from peerage.site.pages.router import ASSETS, body, paths
from peerage.site.reading import Site
from peerage.views.arena.leaderboard import judged
from peerage.views.match.finder import NAMED
from peerage.views.player import placed_in

RULES = {"questions": 2, "categories": ["logic"]}


@pytest.fixture(scope="module")
def quizzes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four matches of two games of four, after which a fifth player joined."""
    folder = tmp_path_factory.mktemp("quizzes")
    games = {"games": {"trivia": {}, "logic": {}}, "rules": {}}
    play(write_arena(folder, 4, **games), 4)
    return write_arena(folder, [*house(4), "house:0.55"], **games)


@pytest.fixture(scope="module")
def site(quizzes: Path) -> Iterator[Site]:
    with closing(Site.open(quizzes)) as opened:
        yield opened


@pytest.fixture(scope="module")
def built(quizzes: Path, site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("pages")
    for path in ("matches.html", "data/matches-1.js", *(f"assets/{name}" for name in ASSETS)):
        (out / path).parent.mkdir(exist_ok=True)
        (out / path).write_bytes(body(site, path) or b"")
    return out


def text(site: Site, path: str) -> str:
    return " ".join(Read(body(site, path) or b"").text.split())


def test_lists_and_heads_of_matches_give_places_the_first_first(site: Site) -> None:
    listed, told = text(site, "matches.html"), text(site, "match/1.html")
    for one in site.moment.summaries(1, site.number):
        placed = [f"{place}. {player}" for place, player, _ in placed_in(one.players, one.scores)]
        assert placed[0].startswith("1. ")
        assert f"{' · '.join(placed[:NAMED])} · {len(placed) - NAMED} more" in listed
    (match,) = site.matches(1, 1)
    winner = next(seat for seat in match.contestants if match.outcome.scores[seat.label] == match.best)
    assert f"1. {winner.player} {winner.label}" in told


def test_shares_that_say_nothing_yet_are_folded(site: Site) -> None:
    home = text(site, "index.html")
    assert "Shares of wins game by game so far: nobody has 10 matches of one game, too few to say" in home
    assert "Share of wins, %" in home, "what the ratings are"


def test_who_has_not_played_has_no_rating(site: Site) -> None:
    row = body(site, "index.html").decode().partition("house-0-55")[2].partition("</tr>")[0]
    assert 'class="n rating">–' in row
    skill = body(site, "leaderboard/trueskill.html").decode().partition("house-0-55")[2].partition("</tr>")[0]
    assert re.findall(r'class="n (mu|rating)">–', skill) == ["mu", "rating"], "neither μ nor μ - 3σ"


def test_first_places_are_not_called_points(site: Site) -> None:
    page = text(site, player_page("p3"))
    assert "W: first alone" in page
    row = next(row for row in site.table() if row.player == "p3")
    assert f"First – shared – other place{row.wins}–{row.draws}–{row.losses} " in page
    assert "Points" not in page.partition("By game")[2].partition("What it was asked")[0]
    assert "Points" in page.partition("Against each opponent")[2].partition("By game")[0]


def test_a_table_counts_first_places_and_no_losses(site: Site) -> None:
    home = text(site, "index.html")
    assert re.search(r"Matches\s*First\s*Shared", home)
    assert "W: first alone" not in home, "there is no W"
    compared = text(site, next(path for path in paths(site) if path.startswith("compare/")))
    assert re.search(r"Matches\s*First\s*Shared", compared)


def test_players_who_judge_each_other_are_judges_too(tmp_path: Path) -> None:
    with closing(Site.open(play_tournament(tmp_path))) as site:
        assert judged(site)
        judges = text(site, "judges.html")
        assert "Reliability" in judges
        assert "Flips" not in judges, "scores have no order"


def play_tournament(folder: Path) -> Path:
    play(write_arena(folder, 4, game="last-arena", rules=RULES), 1)
    return folder


@needed
def test_a_search_lists_matches_as_the_page_does(tab: Page, built: Path) -> None:
    tab.goto(f"file://{built}/matches.html")
    rows = tab.locator(".matches tbody tr > :is(:nth-child(2), :nth-child(3))")
    listed = rows.all_inner_texts()
    tab.locator("[name=q]").fill("p3")
    until(tab, "document.getElementById('found').textContent !== ''")
    assert rows.all_inner_texts() == listed
