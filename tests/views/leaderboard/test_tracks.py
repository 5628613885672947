"""Tracks over matches of three, and narrow tables that nobody should trust."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from peerage.ledger import Batch, Ledger, LedgerError, RecordRow, Summary, open_ledger
from peerage.reading.results.played import PlayedMatches
from peerage.reading.scope import Scope
from peerage.settings import Rating
from peerage.standings.fold import NOBODY, UNRATED
from peerage.views.leaderboard.tracks import METHODS, Ratings

EVERYBODY = ("ann", "bob", "cid")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = open_ledger("sqlite:///arena.db", tmp_path, create=True)
    yield opened
    opened.close()


def write(
    ledger: Ledger, *matches: tuple[tuple[str, ...], tuple[float, ...]], game: str = "code-golf"
) -> None:
    rows = [
        Summary(
            number,
            number,
            game,
            "",
            players,
            "done",
            scores,
            (None,) * len(scores),
            0,
            (),
            (),
            0,
        )
        for number, (players, scores) in enumerate(matches, 1)
    ]
    records = [RecordRow(number=row.number, body=b"{}", chain=bytes(32), at_ms=0) for row in rows]
    with ledger.runner():
        ledger.write(Batch(records=records, summaries=rows))


def rated(ledger: Ledger, track: str) -> Ratings:
    return METHODS[track].rate(PlayedMatches(ledger, Scope()), Rating(), NOBODY)  # type: ignore[index]


@pytest.fixture
def threes(ledger: Ledger) -> Ledger:
    """ann, bob and cid each win once, and ann once more."""
    write(
        ledger,
        (("ann", "bob", "cid"), (3, 2, 1)),
        (("bob", "cid", "ann"), (3, 2, 1)),
        (("cid", "ann", "bob"), (9, 5, 1)),
        (("cid", "bob", "ann"), (1, 2, 3)),
    )
    return ledger


def test_a_match_of_three_is_all_its_pairs_and_one_match_together(threes: Ledger) -> None:
    """Each pair of a match weighs ½. ann makes 1 + 0 + ½ + 1 points of the 2 with bob and the 2 with cid."""
    found = rated(threes, "bt")
    rating = dict(zip(found.players, found.rating, strict=True))
    beats = [1 / (1 + 10 ** ((rating[other] - rating["ann"]) / 400)) for other in ("bob", "cid")]
    assert 2 * sum(beats) == pytest.approx(2.5)
    assert any("a match of many is all its pairs" in note for note in found.notes)


def test_few_matches_of_three_claim_no_intervals(threes: Ledger) -> None:
    found = rated(threes, "bt")
    assert found.players[int(np.argmax(found.rating))] == "ann"
    assert found.bounded["lower"] == found.bounded["upper"] == [None] * 3
    assert any("fewer than 10 matches of many" in note for note in found.notes)


@pytest.mark.parametrize("track", ["trueskill", "glicko2"])
def test_matches_of_three_make_ratings_with_intervals(threes: Ledger, track: str) -> None:
    found = rated(threes, track)
    best = max(range(3), key=lambda place: found.rating[place])
    assert found.players[best] == "ann"
    bounds = zip(found.bounded["lower"], found.bounded["upper"], strict=True)
    assert all(low is not None and high is not None and low < high for low, high in bounds)
    assert not any("not strongly connected" in note for note in found.notes)


@pytest.mark.parametrize("track", ["raw", "cost"])
def test_matches_of_three_move_no_elo(threes: Ledger, track: str) -> None:
    found = rated(threes, track)
    assert (found.players, found.bounded["rating"]) == ((), [])


@pytest.mark.parametrize("track", ["bt", "trueskill", "glicko2"])
def test_who_never_loses_is_said_to_stand_outside_the_graph_of_wins(ledger: Ledger, track: str) -> None:
    wins = [((winner, loser), (1.0, 0.0)) for winner in EVERYBODY for loser in EVERYBODY if winner < loser]
    write(ledger, *wins, game="duel")
    assert sum("not strongly connected (3 groups)" in note for note in rated(ledger, track).notes) == 1


@pytest.mark.parametrize("track", sorted(METHODS))
def test_no_match_is_a_table_of_nobody(ledger: Ledger, track: str) -> None:
    write(ledger)
    assert rated(ledger, track).players == ()


@pytest.mark.parametrize(
    ("players", "scores"),
    [(("ann", "ann"), (1.0, 0.0)), (("ann", "bob"), (1.0,)), (("ann",), (1.0,))],
)
def test_a_match_that_cannot_be_is_told(
    ledger: Ledger, players: tuple[str, ...], scores: tuple[float, ...]
) -> None:
    write(ledger, (("ann", "bob"), (1.0, 0.0)), (players, scores), game="duel")
    with pytest.raises(LedgerError, match=r"match 2 is between .*`peerage verify` says more"):
        PlayedMatches(ledger, Scope())


def test_ratings_of_others_than_the_narrow_table_names_are_told(ledger: Ledger) -> None:
    write(ledger, (("ann", "bob"), (1.0, 0.0)), game="duel")
    with pytest.raises(LedgerError, match="not of the players in the narrow table"):
        METHODS["raw"].rate(PlayedMatches(ledger, Scope()), Rating(), NOBODY)


def test_games_that_move_no_elo_by_the_ledger_move_none_in_a_part_of_it_either(ledger: Ledger) -> None:
    """`hands` is not installed here, and would be taken for a duel."""
    with ledger.runner():
        ledger.write(Batch(meta={UNRATED: "hands"}))
    write(ledger, (("ann", "bob"), (1.0, 0.0)), game="hands")
    played = PlayedMatches(ledger, Scope())
    part = played.instead({}, set())
    assert not part.whole
    for track in ("raw", "cost"):
        found = METHODS[track].rate(part, Rating(), NOBODY)
        assert found.players == ()
