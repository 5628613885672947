"""Tournaments as tables: one of them, and how players did over all; and what people outside say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.arenas import play, write_arena

from peerage.arena import Arena, open_arena
from peerage.judging.scores.scoring import recorded
from peerage.ledger import LedgerError
from peerage.ledger.forms.codec import read_record
from peerage.ledger.topics.public import Opinion, enter, opinions
from peerage.reading.matches import Matches
from peerage.reading.tournaments import answers, find, token, tokens
from peerage.views.tournament import progress, tournament

NAMES = ("p0", "p1", "p2", "p3")
RULES = {
    "preset": "development",
    "questions": 2,
    "quality": "none",
    "answer_budgets": [20, 100],
    "explain": True,
}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_arena(tmp_path_factory.mktemp("arena"), 4, game="last-arena", rules=RULES)
    play(folder, 3)
    return folder


@pytest.fixture
def arena(played: Path) -> Iterator[Arena]:
    with open_arena(played) as opened:
        yield opened


def test_a_tournament_in_full(arena: Arena) -> None:
    found = tournament(arena.ledger, 2)
    assert (found.number, found.status) == (2, "done")
    assert found.ranking[0].player == "p3"
    assert found.ranking[-1].player == "p0"
    assert [place.rank for place in found.ranking] == sorted(place.rank or 0 for place in found.ranking)
    assert all(place.answers == {"ok": 16} and place.written == 2 for place in found.ranking)
    pairs = {(judge, author) for judge in NAMES for author in NAMES if judge != author}
    assert {(cell.judge, cell.author) for cell in found.matrix} == pairs
    assert {row.sort for row in found.sorts} == {"plain"}
    assert [row.max_tokens for row in found.scaling if row.player == "p3"] == [20, 100]
    graded = list(recorded(read_record(next(iter(arena.ledger.records(2, 2))).body).outcome, "judge"))
    assert sum(row.zeros + row.tens for row in found.reasons) >= sum(one.raw in (0, 10) for one in graded) > 0
    assert json.loads(json.dumps(found.as_dict()))["ranking"][0]["player"] == "p3"


def test_who_is_first_is_who_won(arena: Arena) -> None:
    """Ranks follow the result on record, also of two whose scores lie within the error."""
    for match in Matches(arena.ledger).read(1, 3):
        places = tournament(arena.ledger, match.number).ranking
        scores = {match.players[label]: score for label, score in match.outcome.scores.items()}
        assert {one.player for one in places if one.rank == 1} == {
            player for player, score in scores.items() if score == match.best
        }
        ranks = sorted((one.rank or 0, scores[one.player]) for one in places)
        assert [score for _, score in ranks] == sorted(scores.values(), reverse=True)


def test_the_last_one_is_shown_when_none_is_named(arena: Arena) -> None:
    assert tournament(arena.ledger).number == 3
    with pytest.raises(LedgerError, match="match 9 is no finished tournament"):
        tournament(arena.ledger, 9)


def test_progress_over_tournaments(arena: Arena) -> None:
    rows = progress(arena.ledger)
    assert rows[0].player == "p3"
    scores = {n: {one.player: one.score for one in tournament(arena.ledger, n).ranking} for n in (1, 2, 3)}
    for row in rows:
        assert row.tournaments == 3
        first, second, third = (scores[n][row.player] or 0.0 for n in (1, 2, 3))
        assert (row.first, row.last) == (first, third)
        assert row.score == pytest.approx((first + second + third) / 3)
        # the slope through three points is half of the way from the first to the last
        assert row.trend == pytest.approx((third - first) / 2)
        assert row.trend_se is not None


def test_an_arena_of_another_game_has_no_tournament(tmp_path: Path) -> None:
    play(write_arena(tmp_path), 1)
    with open_arena(tmp_path) as opened:
        with pytest.raises(LedgerError, match="no tournament"):
            tournament(opened.ledger)
        assert progress(opened.ledger) == []


def test_answers_are_what_judges_saw(arena: Arena) -> None:
    match = find(arena.ledger, 1)
    found = answers(arena.ledger, match)
    assert set(found) == set(match.detail["answers"])
    assert len(found) == 4 * 8 * 2
    assert all(0 < len(text) <= 600 for text in found.values())


def test_tokens_tell_nothing_and_find_their_answers(arena: Arena) -> None:
    match = find(arena.ledger, 1)
    found = tokens(match)
    assert set(found.values()) == set(match.detail["answers"])
    assert all(token(match, answer) == one and answer not in one for one, answer in found.items())
    assert not set(found) & set(tokens(find(arena.ledger, 2)))


def test_the_public_stands_beside_the_peers_and_moves_nobody(tmp_path: Path) -> None:
    play(write_arena(tmp_path, 4, game="last-arena", rules=RULES), 1)
    with open_arena(tmp_path) as opened:
        before = tournament(opened.ledger, 1)
        assert all(place.public is None for place in before.ranking)
        match = find(opened.ledger, 1)
        asked = [answer for answer in match.detail["answers"] if answer.endswith("/100")]
        favoured = before.ranking[-1].player
        scores = {answer: 9.0 if match.players[answer.split("/")[1]] == favoured else 3.0 for answer in asked}
        with opened.ledger.runner():
            assert enter(opened.ledger, Opinion(1, match.record, "somebody", scores), 1)
            assert not enter(opened.ledger, Opinion(1, match.record, "somebody", {asked[0]: 1.0}), 2)
            assert enter(
                opened.ledger, Opinion(1, match.record, "another", {asked[0]: 10.0, asked[1]: 8.0}), 3
            )
            assert enter(opened.ledger, Opinion(1, "0" * 64, "third", {asked[0]: 1.0}), 4)
        after = tournament(opened.ledger, 1)
        assert len(list(opinions(opened.ledger))) == 3
        public = {place.player: place for place in after.ranking}
        assert public[favoured].public == max(place.public or 0 for place in after.ranking)
        assert sum(place.public_scores for place in after.ranking) == len(asked) + 2
        peers = [[(one.player, one.rank, one.score) for one in found.ranking] for found in (before, after)]
        assert peers[0] == peers[1]
        assert opened.verify().ok
        assert opened.replay().ok
