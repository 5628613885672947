"""Games as cards, challenges as rows: who leads and how sure that is, a match to watch, what to search."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing

import pytest
from msgspec.structs import replace
from tests.engine.arenas import play, write_arena

from peerage.site.addresses import match_page
from peerage.site.pages.router import body
from peerage.site.reading import Site
from peerage.values.figures import likely
from peerage.views.arena.challenges import NEWEST
from peerage.views.match.finder import telling


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("lists")
    rules = {"committee": 2, "judges": 3, "topics": ["bees", "tides"]}
    write_arena(folder, 4, games={"duel": {"rules": rules, "weight": 4}, "logic": {}}, rules={})
    play(folder, 30)
    with closing(Site.open(folder)) as opened:
        yield opened


def page(site: Site, path: str) -> str:
    return (body(site, path) or b"").decode()


def test_each_game_has_who_leads_how_sure_that_is_and_a_match_to_watch(site: Site) -> None:
    cards = page(site, "games.html").partition('<section class="cards">')[2].split("<h2")[1:]
    assert len(cards) == 2
    for card in cards:
        game = next(game for game in ("duel", "logic") if f">{game}</a>" in card)
        chances = site.board(game=game).chances
        assert chances.pick in card
        assert f"{likely(chances.best[chances.of(chances.pick)])} likely the best" in card
        watched = int(re.findall(r"Watch match ([0-9]+)", card)[0])
        rows = [row for row in site.summaries if row.game == game]
        assert telling(rows, chances)[0] == watched
        assert watched in [row.number for row in rows if row.status == "done"]
        assert match_page(watched) in card


def test_a_match_to_watch_is_an_upset_where_there_is_one(site: Site) -> None:
    chances = site.board().chances
    best, worst = (chances.players[place] for place in (chances.best.argmax(), chances.best.argmin()))
    rows = [row for row in site.summaries if {best, worst} <= {*row.players} and row.status == "done"]
    scores = tuple([1.0 if player == worst else 0.0 for player in rows[0].players])
    upset = replace(rows[0], scores=scores)
    assert telling([upset, *site.summaries[-1:]], chances) == (upset.number, "an upset")
    assert telling([], chances) == (0, "")


def test_challenges_are_twenty_rows_with_a_search_and_each_leads_to_its_match(site: Site) -> None:
    told = page(site, "challenges.html")
    rows = told.partition('<section class="matches">')[2].partition("</section>")[0]
    assert 0 < rows.count("<tr") - 1 <= NEWEST
    assert rows.count('<a href="match/') == rows.count('scope="row"')
    assert 'action="matches.html"><label class="text">' in told
    assert re.search(r"<h1>(Challenges on |What was asked in )", told)


def test_one_message_heads_each_page(site: Site) -> None:
    for path in ("games.html", "costs.html", "method.html", "ledger.html", "judges.html", "matches.html"):
        (heading,) = re.findall(r"<h1[^>]*>(.*?)</h1>", page(site, path), re.DOTALL)
        assert 2 < len(heading.split()) <= 14, path
