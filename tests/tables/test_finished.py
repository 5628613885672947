"""Finished matches as they are read once: they agree with the transcripts, which replay each match."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.tables.conftest import MATCHES
from tests.tables.test_leaderboard import copied

from peerage.arena import Arena, open_arena
from peerage.ledger import LedgerError
from peerage.protocol import Chosen
from peerage.tables.finished import Matches
from peerage.tables.played import Scope


def test_steps_are_those_of_the_transcript(arena: Arena) -> None:
    statuses = set()
    for match in Matches(arena.ledger).read(1, MATCHES):
        transcript = arena.transcript(match.record.number)
        steps = {step.key: step for step in match.steps if step.said}
        assert steps.keys() == {one.key for one in transcript.exchanges}
        for one in transcript.exchanges:
            step = steps[one.key]
            said = Chosen(one.choice, one.choice_reason if one.choice else one.reply)
            assert Chosen(step.choice, step.reply) == said
            assert (step.player, step.label, step.role) == (one.player, one.label, one.role)
            assert (step.status, step.reason) == (one.status, one.reason)
            statuses.add(step.status)
    assert statuses == {"ok", "invalid", "refused", "void"}


def test_what_the_record_holds_is_read(arena: Arena) -> None:
    for match in Matches(arena.ledger).read(1, MATCHES):
        transcript = arena.transcript(match.record.number)
        assert match.players == {seat.label: seat.player for seat in transcript.seats}
        assert [ballot.judge for ballot in match.ballots] == [one.label for one in transcript.ballots]
        assert len(match.drafts) == len(transcript.drafts)
        assert match.before.hex() == transcript.digests.previous
        assert match.row.chain.hex() == transcript.digests.chain


def test_a_part_is_read_as_in_the_whole(arena: Arena) -> None:
    matches = Matches(arena.ledger)
    assert list(matches.read(7, 12)) == list(matches.read(1, MATCHES))[6:12]


def test_only_matches_of_the_scope_are_read(arena: Arena) -> None:
    topics = [row.topic for row in arena.ledger.summaries(1, MATCHES)]
    found = list(Matches(arena.ledger).read(1, MATCHES, Scope(topic=topics[0])))
    assert [match.summary.topic for match in found] == [topic for topic in topics if topic == topics[0]]
    whole = list(Matches(arena.ledger).read(1, MATCHES))
    assert found == [match for match in whole if match.summary.topic == topics[0]]


@pytest.mark.parametrize("table", ["fixtures", "records", "summaries"])
@pytest.mark.parametrize("number", [3, MATCHES])
def test_rows_that_are_missing_are_told(folder: Path, tmp_path: Path, table: str, number: int) -> None:
    copy = copied(folder, tmp_path, f"DELETE FROM {table} WHERE number = {number}")
    with open_arena(copy, create=False) as arena, pytest.raises(LedgerError, match="lacks rows"):
        list(Matches(arena.ledger).read(1, MATCHES))
