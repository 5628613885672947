"""Judges held against people: agreement by hand, and words first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.arenas import play, write_arena

from peerage.arena import Arena, open_arena
from peerage.judging.measures.agreement import FEWEST
from peerage.ledger.topics.votes import PeopleVotes, Vote, expert_voter
from peerage.reading.matches import Matches
from peerage.reading.verdicts.people import finished
from peerage.views.judges.report import JudgesReport, judges

MATCHES = 60
PLAYERS = ("p0", "p1", "p2", "p3", "p4")


@pytest.fixture(scope="module")
def voted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    folder = write_arena(tmp_path_factory.mktemp("votes"), 5)
    play(folder, MATCHES)
    with open_arena(folder, create=False) as opened:
        yield opened


@pytest.fixture
def people(tmp_path: Path) -> PeopleVotes:
    """A file of votes of its own: nobody has voted."""
    return PeopleVotes("sqlite:///arena.db", tmp_path)


def vote(arena: Arena, number: int, verdict: str, who: str = "ada", take: int = 1) -> Vote:
    match = finished(arena.ledger, number)
    assert match is not None
    voter = expert_voter(who, take)
    return Vote(number, match.record, ("A", "B"), verdict, voter, 0, who, take)


def ballots(arena: Arena, judge: str) -> dict[int, str]:
    """The valid votes of a judge, by match, but for those on which others had split before."""
    found = {}
    for number in range(1, MATCHES + 1):
        match = Matches(arena.ledger).match(number)
        for one in match.ballots:
            if match.players[one.judge] == judge and one.vote != "abstain" and not one.late:
                found[number] = one.vote
    return found


def report(arena: Arena, people: PeopleVotes) -> JudgesReport:
    return judges(arena.reading, people=people)


def test_who_votes_like_a_judge_agrees_with_it_alone(voted: Arena, people: PeopleVotes) -> None:
    like = ballots(voted, "p1")
    assert len(like) > FEWEST
    for number, verdict in like.items():
        people.cast(vote(voted, number, verdict), 1)
    found = report(voted, people)
    rows = {row.who: row for row in found.people}
    assert found.people[0] == rows["p1"]
    assert (rows["p1"].agreement, rows["p1"].kappa, rows["p1"].duels) == (1.0, 1.0, len(like))
    for judge in PLAYERS[2:]:
        both = {number: said for number, said in ballots(voted, judge).items() if number in like}
        assert rows[judge].duels == len(both)
        if len(both) < FEWEST:
            assert rows[judge].agreement is None
            assert any("Too few to tell (below 20" in one and judge in one for one in found.remarks)
    assert found.remarks[0].startswith(f"People gave {len(like)} votes on {len(like)} of {MATCHES} duels.")


def test_people_with_each_other_and_with_themselves(voted: Arena, people: PeopleVotes) -> None:
    """Two people agree on half of the duels; one of them, shown all once more, on all."""
    judged = sorted({number for judge in PLAYERS for number in ballots(voted, judge)})
    for at, number in enumerate(judged):
        people.cast(vote(voted, number, "A"), 1)
        people.cast(vote(voted, number, "A", take=2), 1)
        people.cast(vote(voted, number, "A" if at % 2 else "B", "bo"), 1)
    found = report(voted, people)
    both, again = found.people[:2]
    assert found.remarks[1].startswith("People hardly agree with each other")
    assert not any("Exclude it?" in one and "people" in one for one in found.remarks)
    assert (both.kind, both.duels) == ("people", len(judged))
    assert both.agreement == pytest.approx(0.5, abs=0.01)
    assert both.agreement_lower is not None
    assert both.agreement_upper is not None
    assert 0.3 < both.agreement_lower < 0.5 < both.agreement_upper < 0.7
    assert both.kappa == pytest.approx(0, abs=0.02)
    assert (again.kind, again.duels, again.agreement) == ("expert", len(judged), 1.0)


def test_a_judge_whom_people_contradict_is_named_first(voted: Arena, people: PeopleVotes) -> None:
    turned = {"A": "B", "B": "A", "tie": "tie"}
    for number, verdict in ballots(voted, "p1").items():
        people.cast(vote(voted, number, turned[verdict]), 1)
    assert any(
        one.startswith("p1 hardly agrees with people: in ") and one.endswith("Exclude it?")
        for one in report(voted, people).remarks[:3]
    )


def test_without_votes_of_people_nothing_is_said_of_them(voted: Arena, people: PeopleVotes) -> None:
    found = report(voted, people)
    assert found.people == ()
    assert not any("eople" in remark for remark in found.remarks)


def test_what_was_skipped_counts_in_nothing(voted: Arena, people: PeopleVotes) -> None:
    people.cast(vote(voted, 2, "skipped"), 1)
    assert report(voted, people).people == ()
    people.cast(vote(voted, 1, "A", take=2), 1)
    assert report(voted, people).remarks[0].startswith(f"People gave 0 votes on 0 of {MATCHES} duels.")
