"""Matches found by words, game, topic and what is notable: in Python, the terminal, on a server's page."""

from __future__ import annotations

import dataclasses
import html
import io
import json
from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest
from msgspec.structs import replace
from tests.engine.arenas import play, write_arena
from typer.testing import CliRunner

from peerage.cli.main import app
from peerage.render.html.writer import Html
from peerage.render.rows import shown
from peerage.render.terminal import text
from peerage.site.addresses import match_page
from peerage.site.pages.matches import filtered
from peerage.site.pages.router import QUERIED, body, document
from peerage.site.reading import Site
from peerage.site.server.cache import Job, menu
from peerage.views.match import finder
from peerage.views.match.finder import FoundMatches, MatchFilter, MatchLine, find, line_of, notable, table

MATCHES = 30
cli = CliRunner()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = write_arena(
        tmp_path_factory.mktemp("arena"),
        rules={"committee": 2, "judges": 3, "topics": ["bees", "100% “tides”"]},
    )
    play(folder, MATCHES)
    with closing(Site.open(folder, menu(voting=False))) as opened:
        yield opened


def found(site: Site, **wanted: object) -> FoundMatches:
    return find(site, site.summaries, site.board().chances, MatchFilter(**wanted))  # type: ignore[arg-type]


def numbers(found: FoundMatches) -> list[int]:
    return [line.number for line in found.lines]


def test_the_newest_come_first_a_page_at_a_time(site: Site) -> None:
    everything = numbers(found(site))
    assert everything == [row.number for row in reversed(site.summaries)]
    first = find(site, site.summaries, site.board().chances, MatchFilter(), most=12)
    then = found(site, before=first.older)
    assert numbers(first) + numbers(then) == everything
    assert then.older == 0
    row = site.summaries[4]
    (alone,) = find(site, [row], site.board().chances, MatchFilter()).lines
    assert (alone.number, alone.prompt) == (row.number, found(site).lines[-5].prompt)


def test_words_are_looked_for_in_names_topics_prompts_and_answers_and_nowhere_else(site: Site) -> None:
    for row in site.summaries[-5:]:
        match = site.match(row.number)
        spoken = [step.stored.words for step in match.steps if step.stored and step.role == "contestant"]
        words = max(spoken, key=len).split()[:6]
        phrase = " ".join(words).replace('"', "")
        assert row.number in numbers(found(site, text=f'"{phrase.upper()}"'))
        assert row.number in numbers(found(site, text=f"{row.players[0]} {row.topic[:4]}"))
    assert not found(site, text="zebra").lines
    assert not found(site, text='"bees tides"').lines
    judged = [
        step for match in site.matches() for step in match.steps if step.role == "judge" and step.stored
    ]
    assert judged
    assert not found(site, text="verdict").lines, "what judges say is no prompt or answer"


def test_games_topics_and_what_is_notable_are_filters(site: Site) -> None:
    chances = site.board().chances
    lines = [
        line_of(match, row, notable(row, chances))
        for match, row in zip(site.matches(), site.summaries, strict=True)
    ]
    seen = set()
    for name in finder.NOTABLE:
        wanted = [line.number for line in lines if name in line.notable][::-1]
        assert numbers(found(site, only=name)) == wanted
        seen |= {name} if wanted else set()
    assert {"tied", "flipped"} <= seen
    for line in lines:
        ballots = site.match(line.number).ballots
        assert ("flipped" in line.notable) == any(ballot.flipped for ballot in ballots)
        given = {ballot.vote for ballot in ballots} - {"tie", "abstain"}
        assert ("split" in line.notable) == (len(given) == 2)
        if "upset" in line.notable:
            winner, loser = sorted(line.players, key=lambda name: -line.scores[line.players.index(name)])
            assert chances.wins[chances.of(winner), chances.of(loser)] < finder.UPSET
    assert {line.topic for line in found(site, topic="bees").lines} == {"bees"}
    assert not found(site, game="chess").lines


@pytest.mark.parametrize(
    ("scores", "chance", "names"),
    [
        ((1.0, 0.0), 0.32, ("upset",)),
        ((1.0, 0.0), 0.35, ()),
        ((0.0, 1.0), 0.32, ()),
        ((0.0, 1.0), 0.68, ("upset",)),
        ((0.5, 0.5), 0.1, ("tied",)),
    ],
)
def test_an_upset_is_won_with_less_than_one_chance_in_three(
    site: Site, scores: tuple[float, ...], chance: float, names: tuple[str, ...]
) -> None:
    row = replace(site.summaries[0], players=("ada", "bob"), scores=scores, status="done")
    wins = np.array([[0.5, chance], [1 - chance, 0.5]])
    known = dataclasses.replace(site.board().chances, players=("ada", "bob"), wins=wins)
    assert notable(row, known) == names


def test_beside_a_match_are_the_nearest_that_a_filter_lets_pass(site: Site) -> None:
    wanted = numbers(found(site, topic="bees"))[::-1]
    for row in site.summaries:
        page = filtered(site, match_page(row.number), {"topic": "bees", "before": "9"})
        assert page is not None
        before = [number for number in wanted if number < row.number]
        after = [number for number in wanted if number > row.number]
        beside = max(before, default=0), min(after, default=0)
        assert (page.values["before"], page.values["after"]) == beside
        assert page.values["query"] == "?topic=bees"


def test_a_search_ends_in_time_and_says_where_to_go_on(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finder, "BLOCK", 10)
    clock = iter([0.0, 1.0, 1.5, 3.0])
    stopped = find(site, site.summaries, site.board().chances, MatchFilter("zebra"), now=lambda: next(clock))
    assert (stopped.older, stopped.searched) == (site.number - 20 + 1, 20)
    assert "20 matches fits so far. Search older ones" in finder.outcome(stopped, MatchFilter("zebra"))


HOSTILE = [
    "<script>alert(1)</script>",
    "%' OR 1=1 --",
    '"',
    '""',
    "100% “tides”",
    "\u202e\x00",
    "a" * 9_000,
    '"' * 3_000,
    "[",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_server_takes_any_search(site: Site, text: str) -> None:
    query = {"q": text, "topic": text, "only": text, "before": text}
    for asked in (query, {"q": text}):
        page = document(site, "matches.html", QUERIED["matches.html"](site, asked)).decode()
        assert "<script>alert" not in page
        assert "\u202e" not in page
        assert len(page) < 200_000
    if text == "100% “tides”":
        page = document(site, "matches.html", QUERIED["matches.html"](site, {"q": text})).decode()
        assert "matches fit." in page
        assert f'value="{html.escape(text)}"' in page


def test_a_page_without_scripts_is_a_form_that_keeps_what_was_chosen(site: Site) -> None:
    page = document(
        site, "matches.html", QUERIED["matches.html"](site, {"topic": "bees", "only": "tied"})
    ).decode()
    assert 'method="get" action="matches.html"' in page
    assert '<input type="radio" name="topic" value="bees" checked>' in page
    assert '<input type="radio" name="only" value="tied" checked>' in page
    assert "matches.js" not in page
    nothing = document(site, "matches.html", QUERIED["matches.html"](site, {"q": "zebra"})).decode()
    assert "No match fits. Try fewer words or another topic, or clear a filter." in nothing
    assert Job("matches.html", (("q", "zebra"),)).rereads
    assert not Job("matches.html", (("only", "upset"),)).rereads


def test_a_static_page_filters_by_script_and_says_what_it_searches(site: Site) -> None:
    site.menu = ()
    try:
        page = (body(site, "matches.html") or b"").decode()
        assert "matches.js" in page
        assert "peerage serve" in page
        rows = (body(site, "data/matches-1.js") or b"").decode()
        assert rows.count("<tr ") == rows.count("data-topic=") == site.number
    finally:
        site.menu = menu(voting=False)


def test_a_medium_says_once_what_is_notable() -> None:
    for votes, heads in (((), ["Notable"]), (("first",), ["Judges", "Notable"])):
        line = MatchLine(
            number=1,
            game="trivia",
            topic="",
            status="done",
            players=("a", "b"),
            scores=(0.5, 0.5),
            result="a ½ · b ½",
            cost_usd=None,
            at_ms=0,
            prompt="",
            votes=votes,
            notable=("tied",),
        )
        block = table([line])
        assert [column.title for column in shown(block) if column.title in ("Judges", "Notable")] == heads
        assert Html().blocks([block]).count("tied</") == 1
        assert "tied" in text([block], io.StringIO())


def test_a_terminal_lists_the_same(site: Site) -> None:
    where = ["--dir", str(site.folder)]
    told = json.loads(cli.invoke(app, ["match", *where, "--only", "tied", "--format", "json"]).stdout)
    assert [row["number"] for row in told] == numbers(found(site, only="tied"))[: finder.LISTED]
    shown = cli.invoke(app, ["match", *where, "--search", "zebra %"])
    assert (shown.exit_code, "No match fits." in shown.stdout) == (0, True)
    for wrong in (["match", "1", "--search", "bees"], ["match", "--full"], ["match", "--as", "A"]):
        assert cli.invoke(app, [*wrong, *where]).exit_code == 2
