"""Matches as they are read: in bulk as one by one, whole or in part."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.views.conftest import recorded
from tests.views.leaderboard.test_board import copied

from peerage.arena import Arena, open_arena
from peerage.game.match import Outcome
from peerage.ledger import LedgerError
from peerage.reading.match import Match
from peerage.reading.matches import Matches
from peerage.reading.scope import Scope


def test_one_match_is_read_as_in_bulk(arena: Arena) -> None:
    statuses = set()
    for match in Matches(arena.ledger).read(1, recorded(arena)):
        alone = Matches(arena.ledger, whole=False).match(match.number)
        assert alone.steps == match.steps
        assert alone.blocks == match.blocks
        assert alone.finished == match.finished
        assert (alone.players, alone.drafts, alone.ballots) == (match.players, match.drafts, match.ballots)
        statuses |= {step.status for step in match.asked.values()}
    assert statuses == {"ok", "invalid", "refused", "void"}


def test_of_two_replies_the_one_that_counts_is_shown(arena: Arena) -> None:
    repaired = 0
    for match in Matches(arena.ledger).read(1, recorded(arena)):
        for key in match.asked:
            if key.endswith("~repair"):
                reply = match.replies[key.removesuffix("~repair")]
                assert (reply.key, reply.status) == (key, match.asked[key].status)
                repaired += 1
    assert repaired


def test_a_part_is_read_as_in_the_whole(arena: Arena) -> None:
    matches = Matches(arena.ledger)
    part, whole = list(matches.read(7, 12)), list(matches.read(1, recorded(arena)))[6:12]
    assert [(match.fixture, match.finished, match.steps) for match in part] == [
        (match.fixture, match.finished, match.steps) for match in whole
    ]


def test_only_matches_of_the_scope_are_read(arena: Arena) -> None:
    topics = [row.topic for row in arena.ledger.summaries(1, recorded(arena))]
    found = list(Matches(arena.ledger).read(1, recorded(arena), Scope(topic=topics[0])))
    assert [match.fixture.topic for match in found] == [topic for topic in topics if topic == topics[0]]


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ({"A": 1.0, "B": 0.5, "C": 0.0}, "ann wins"),
        ({"A": 0.75, "B": 0.75, "C": 0.0}, "ann and bob share first place"),
        ({"A": 0.5, "B": 0.5, "C": 0.5}, "ann, bob and cid tie"),
    ],
)
def test_only_where_all_are_equal_it_is_a_tie(scores: dict[str, float], said: str) -> None:
    seats = tuple(SimpleNamespace(label=label) for label in scores)
    names = dict(zip(scores, ("ann", "bob", "cid"), strict=True))
    match = SimpleNamespace(
        recorded=object(),
        outcome=Outcome("", scores),
        contestants=seats,
        players=names,
        best=max(scores.values()),
        unranked=[],
        _side_that_won="",
    )
    assert Match.verdict.func(match) == said  # type: ignore[attr-defined]


@pytest.mark.parametrize("table", ["fixtures", "records", "summaries"])
@pytest.mark.parametrize("number", ["3", "(SELECT MAX(number) FROM records)"])
def test_rows_that_are_missing_are_told(
    folder: Path, arena: Arena, tmp_path: Path, table: str, number: str
) -> None:
    copy = copied(folder, tmp_path, f"DELETE FROM {table} WHERE number = {number}")
    with open_arena(copy, create=False) as changed, pytest.raises(LedgerError, match="verify"):
        list(Matches(changed.ledger).read(1, recorded(arena)))


def test_a_match_that_was_shown_is_freed_at_once(arena: Arena) -> None:
    """Thousands of them are read one after another: none may wait for the collector of garbage."""
    match = next(iter(Matches(arena.ledger).read(1, 1)))
    assert match.blocks
    assert match.replies
    gone = weakref.ref(match)
    gc.disable()
    try:
        del match
        assert gone() is None
    finally:
        gc.enable()
