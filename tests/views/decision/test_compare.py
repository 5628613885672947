"""Two players next to each other: in the library, in the terminal, on a page of the server."""

from __future__ import annotations

import html
import json
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest
from typer.testing import CliRunner

from peerage.arena import Arena
from peerage.cli.main import app
from peerage.reading.results.played import PlayedMatches
from peerage.reading.scope import EVERYTHING, ScopeError
from peerage.site.addresses import pair_page
from peerage.site.pages.router import body, paths
from peerage.site.reading import Site
from peerage.site.server.cache import Job, _answer, menu
from peerage.views.decision.compare import Comparison, compare, shared
from peerage.views.leaderboard.board import board
from peerage.views.match.match import answers

cli = CliRunner()
ONE, OTHER = "p5", "p3"


@pytest.fixture
def found(arena: Arena) -> Comparison:
    table = board(arena.reading, "bt")
    return compare(table, PlayedMatches(arena.ledger, EVERYTHING).decided, ONE, OTHER)


@pytest.fixture
def site(folder: Path) -> Iterator[Site]:
    opened = Site.open(folder)
    yield opened
    opened.close()


def test_what_they_did_against_each_other_is_what_the_matches_say(arena: Arena, found: Comparison) -> None:
    counts: Counter[tuple[str, float]] = Counter()
    for summary in arena.ledger.summaries():
        if summary.status == "done" and {ONE, OTHER} == set(summary.players):
            score = summary.scores[summary.players.index(ONE)]
            counts["", score] += 1
            counts[summary.topic, score] += 1
    assert sum(counts["", score] for score in (1.0, 0.5, 0.0)) > 0
    for met in found.met:
        assert (met.wins, met.draws, met.losses) == tuple(counts[met.topic, score] for score in (1, 0.5, 0))


def test_chances_and_proof_are_those_of_the_table(arena: Arena, found: Comparison) -> None:
    chances = board(arena.reading, "bt").chances
    one, other = chances.of(ONE), chances.of(OTHER)
    assert (found.chance, found.better) == (chances.wins[one, other], chances.better[one, other])
    assert found.proven == (ONE if OTHER in found.one.above else OTHER if ONE in found.other.above else None)
    better = ONE if found.better >= 0.5 else OTHER
    assert found.lines[0].startswith(better)
    assert ("is proven" in found.lines[0]) == (found.proven is not None)
    met = found.met[0]
    assert f"{ONE} won {met.wins}, {OTHER} {met.losses}, tied {met.draws};" in found.lines[1]


def test_what_is_proven_is_said_to_be(arena: Arena) -> None:
    table = board(arena.reading)
    better, worse = next((row.player, row.above[-1]) for row in table.rows if row.above)
    compared = compare(table, [], better, worse)
    assert compared.proven == better
    assert compared.lines[0] == f"{better} is better than {worse}, which is proven."


@pytest.mark.parametrize(("other", "why"), [("p55", "did you mean 'p5'"), (ONE, "compared with itself")])
def test_who_cannot_be_compared_is_said(arena: Arena, other: str, why: str) -> None:
    with pytest.raises(ScopeError, match=why):
        compare(board(arena.reading), [], ONE, other)


def test_the_terminal_and_json_have_it(folder: Path, found: Comparison) -> None:
    words = ["compare", ONE, OTHER, "--track", "bt", "--dir", str(folder)]
    shown = cli.invoke(app, words)
    assert shown.exit_code == 0
    assert shown.stdout.startswith("\n".join(found.lines))
    told = json.loads(cli.invoke(app, [*words, "--format", "json"]).stdout)
    assert all(seconds > 0 for seconds in told["seconds"])
    assert f"{told['seconds'][0]:.1f} s" in shown.stdout or "ms" in shown.stdout
    assert told | {"seconds": [None, None], "answers": [0, 0]} == found.as_dict()
    assert cli.invoke(app, ["compare", ONE, "nobody", "--dir", str(folder)]).exit_code == 2


def test_each_pair_has_a_page_that_head_to_head_and_other_pairs_lead_to(site: Site) -> None:
    names = [row.player for row in site.table() if row.rank is not None]
    assert {frozenset(pair) for pair in site.pairs.values()} == {*map(frozenset, combinations(names, 2))}
    assert set(site.pairs) <= set(paths(site))
    matrix = (body(site, "head-to-head.html") or b"").decode()
    for at, (one, other) in site.pairs.items():
        assert at == pair_page(other, one), "whoever is named first"
        told = (body(site, at) or b"").decode()
        assert f">{compare(site.board(), site.decided, one, other).lines[0]}</h1>" in told
        assert "<form" not in told
        assert (at in matrix) == bool(site.met(one, other).matches)
        third = next(name for name in names if name not in (one, other))
        assert pair_page(one, third).removeprefix("compare/") in told
    assert body(site, "compare/nobody/else.html") is None


def test_of_many_players_those_who_met_have_pages_and_a_server_has_all(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("peerage.site.reading.ALL_PAIRS", 2)
    monkeypatch.setattr("peerage.site.reading.MOST_PAIRS", 4)
    others = [site.met(*pair).matches for pair in site.pairs.values()][1:]
    assert len(site.pairs) == 4
    assert others == sorted(others, reverse=True)
    far = next(
        pair_page(row.player, other.player)
        for row in site.table()
        for other in site.table()
        if row.player < other.player and pair_page(row.player, other.player) not in site.pairs
    )
    assert body(site, far) is None
    site.menu = menu(voting=False)
    assert b"</h1>" in (body(site, far) or b"")


def test_both_answers_to_a_prompt_stand_side_by_side(site: Site) -> None:
    pair = next(iter(site.pairs.values()))
    matches = [*shared(site, site.board(), site.decided, *pair)]
    assert [one.line.number for one in matches] == sorted([one.line.number for one in matches], reverse=True)
    for one in matches:
        assert one.answers is not None
        authors = site.match(one.line.number).fixture.authors
        given = {authors[label]: text for label, text in answers(site.match(one.line.number)).items()}
        assert one.answers == (given[pair[0]], given[pair[1]])
    told = html.unescape((body(site, next(iter(site.pairs))) or b"").decode())
    assert all(text[:40] in told for one in matches for text in one.answers or ())


def test_a_server_shows_them_by_a_query(site: Site) -> None:
    site.menu = menu(voting=False)
    status, _, body = _answer(site, Job("compare", (("a", ONE), ("b", OTHER))))
    found = compare(site.board(), site.decided, ONE, OTHER)
    assert status == 200
    assert found.lines[0] in body.decode()
    assert f'<option value="{OTHER}" selected>{OTHER}</option>' in body.decode()
    status, _, body = _answer(site, Job("compare", (("a", ONE), ("b", "<b>"))))
    assert status == 200
    assert "&lt;b&gt;" in body.decode()
    assert "<b>" not in body.decode()
    assert _answer(site, Job("compare"))[0] == 200
