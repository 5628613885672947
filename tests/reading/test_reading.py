"""A reading of an arena: one moment of it, each part computed once for all who ask."""

from __future__ import annotations

from unittest.mock import patch

from tests.views.conftest import recorded

from peerage.arena import Arena
from peerage.game.match import DONE
from peerage.reading.moment import Moment
from peerage.reading.reading import Reading
from peerage.reading.results.played import PlayedMatches
from peerage.reading.rows import records_of, rows_of, whole_of
from peerage.reading.scope import Scope
from peerage.standings.accounts import position
from peerage.standings.fold import NOBODY, after_all
from peerage.views.leaderboard.board import board
from peerage.views.stats.report import stats


def test_tables_of_one_reading_read_and_fold_the_matches_once(arena: Arena) -> None:
    reading = arena.reading
    with (
        patch("peerage.reading.reading.PlayedMatches", wraps=PlayedMatches) as read,
        patch("peerage.reading.reading.position", wraps=position) as folded,
    ):
        tables = [board(reading, track) for track in ("strength", "bt", "raw")]
        found = stats(reading)
    assert read.call_count == folded.call_count == 1
    accounts = reading.accounts(reading.played)
    for row in [row for table in tables for row in table.rows]:
        assert (row.matches, row.wins) == (accounts[row.player].matches, accounts[row.player].wins)
    assert {row.player: row.calls for row in found.players if row.calls} == {
        name: account.calls for name, account in accounts.items() if account.calls
    }


def test_a_reading_ends_with_its_moment(arena: Arena) -> None:
    reading = Reading(arena.settings, Moment(arena.ledger, 20))
    first = list(arena.ledger.summaries(1, 20))
    assert reading.played.finished == first
    assert reading.position.standings == after_all(NOBODY, first, reading.elo)
    assert reading.observations.matches == 20
    assert [match.number for match in reading.matches()] == [summary.number for summary in first]
    assert recorded(arena) > 20


def test_scopes_are_read_apart_and_each_once(arena: Arena) -> None:
    reading = arena.reading
    topic, count = next(iter(reading.played.topics.items()))
    part = reading.within(Scope(topic=topic))
    assert len(part.decided) == count < len(reading.played.decided)
    assert reading.within(Scope(topic=topic)) is part
    assert reading.within(Scope(games={"duel": 2.0})) is not reading.played
    assert reading.observed(Scope(topic=topic)).matches == len(part.finished)
    assert reading.accounts(part) != reading.accounts(reading.played)


def test_wanted_rows_are_those_of_all(arena: Arena) -> None:
    ledger = arena.ledger
    everything = list(rows_of(ledger))
    assert [issued.number for issued, _ in everything] == [row.number for row in ledger.records()]
    wanted = {row.number: row for row in ledger.summaries(5, 40) if row.status == DONE}
    some = list(rows_of(ledger, wanted))
    assert some == [pair for pair in everything if pair[0].number in wanted]
    assert list(records_of(ledger, wanted)) == [record for _, record in some]
    assert [fixture.number for fixture, _ in whole_of(ledger, wanted)] == [*wanted]
    judged = [fixture.number for fixture, _ in whole_of(ledger, wanted, (b'"ballots":[',))]
    assert judged == [number for number, outcome in _outcomes(arena, wanted) if "ballots" in outcome]
    assert list(rows_of(ledger, {})) == list(whole_of(ledger, {})) == []


def _outcomes(arena: Arena, wanted: dict[int, object]) -> list[tuple[int, dict[str, object]]]:
    return [(number, dict(arena.reading.match(number).outcome.detail)) for number in wanted]
