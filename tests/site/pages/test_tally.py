"""Sums over the narrow table."""

from __future__ import annotations

import msgspec
import pytest

from peerage.ledger import LedgerError, Summary
from peerage.reading.results.tally import RECENT, MatchSums, Record
from peerage.site.reading import Site

DAY = 86_400_000


def row(
    number: int, players: str, scores: tuple[float, ...], status: str = "done", **more: object
) -> Summary:
    """A match of players of one letter, each of which cost as much as its seat, counted from 1."""
    costs = tuple([1.0 + place for place in range(len(players))])
    plain = Summary(
        number, number, "duel", "", tuple(players), status, scores, costs, 10, (), (), DAY + number
    )
    return msgspec.structs.replace(plain, **more)


def test_what_is_counted() -> None:
    found = MatchSums().after(
        [
            row(1, "ab", (1.0, 0.0)),
            row(2, "ba", (0.5, 0.5), topic="maths", at_ms=3 * DAY),
            row(3, "ac", (), "no_challenge"),
            row(4, "abc", (1.0, 2.0, 2.0), game="golf", costs=(None, 1.0, 2.0)),
        ]
    )
    assert list(found.players) == ["a", "b", "c"]
    ann, bob = found.players["a"], found.players["b"]
    assert ann.against == {"b": Record(1, 1, 1), "c": Record(0, 0, 1)}
    assert bob.against == {"a": Record(1, 1, 1), "c": Record(0, 1, 0)}
    assert ann.games["duel"].record == Record(1, 1, 0)
    assert ann.games["golf"].record == Record(0, 0, 1)
    assert bob.games["golf"].record == Record(0, 1, 0)
    assert (ann.games["duel"].cost_per_match, ann.games["golf"].cost_per_match) == (1.5, None)
    assert ann.topics["maths"].record == Record(0, 1, 0)
    assert [one.number for one in ann.recent] == [1, 2, 3, 4]
    assert found.games == {"duel": {"done": 2, "no_challenge": 1}, "golf": {"done": 1}}
    assert found.statuses == {"done": 3, "no_challenge": 1}
    assert found.days == {1: {"duel": 20, "golf": 10}, 3: {"duel": 10}}
    assert (found.number, found.decided, found.duels, found.spent_nano) == (4, 3, 3, 40)
    assert found.began == DAY + 1


def test_an_answer_given_before_costs_nothing_again() -> None:
    rows = [row(1, "ab", (1.0, 0.0), topic="maths"), row(2, "ac", (1.0, 0.0), topic="maths")]
    found = MatchSums().after(rows, {2: ("a",)}).players
    assert found["a"].topics["maths"].priced == found["a"].games["duel"].priced == 1
    assert found["a"].topics["maths"].record.matches == 2
    assert found["c"].topics["maths"].cost_per_match == 2.0


def test_rates_are_shares_of_the_points() -> None:
    assert Record(1, 1, 2).rate == 0.375
    assert Record().rate is None


def test_further_matches_add_to_what_was_counted(pages: Site) -> None:
    whole = MatchSums().after(pages.summaries)
    for number in (0, 1, 18, pages.number):
        before = MatchSums().after(pages.summaries[:number])
        kept = msgspec.msgpack.encode(before)
        assert before.after(pages.summaries[number:]) == whole
        assert msgspec.msgpack.encode(before) == kept
        assert msgspec.msgpack.decode(kept, type=MatchSums) == before


def test_only_the_newest_matches_are_kept() -> None:
    found = MatchSums().after(row(number, "ab", (1.0, 0.0)) for number in range(1, 100))
    assert [one.number for one in found.players["b"].recent] == list(range(100 - RECENT, 100))


def test_what_does_not_fit_is_told() -> None:
    with pytest.raises(LedgerError, match="2 players and 1 scores for match 1"):
        MatchSums().after([row(1, "ab", (1.0,))])
