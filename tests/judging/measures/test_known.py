"""Judges held against checks: who is no better than a coin."""

from random import Random

import pytest

from peerage.judging.measures.known import KnownVotes, accused, held, known_votes
from peerage.judging.panels.panel import Ballot

PLAYERS = {"judge/1": "ada", "judge/2": "bob"}


def ballot(judge: str, vote: str) -> Ballot:
    return Ballot(judge, vote, {}, flipped=False)


def test_a_vote_is_right_where_it_is_for_the_answer_with_more_credit() -> None:
    cast = [ballot("judge/1", "A"), ballot("judge/2", "B")]
    assert [*known_votes({"A": 1.0, "B": 0.5}, cast, PLAYERS)] == [("ada", 2), ("bob", 0)]
    assert [*known_votes({"A": 0.0, "B": 0.5}, cast, PLAYERS)] == [("ada", 0), ("bob", 2)]
    assert [*known_votes({"A": 0.0, "B": 1.0}, [ballot("judge/1", "tie")], PLAYERS)] == [("ada", 1)]


def test_nothing_is_known_where_the_check_tells_nothing_or_the_judge_abstains() -> None:
    cast = [ballot("judge/1", "A")]
    assert [*known_votes({"A": 1.0, "B": 1.0}, cast, PLAYERS)] == []
    assert [*known_votes({}, cast, PLAYERS)] == []
    assert [*known_votes({"A": 1.0, "B": 0.0}, [ballot("judge/1", "abstain")], PLAYERS)] == []


def test_right_tied_and_wrong_votes_are_counted() -> None:
    votes = [("ada", f"t{at}", points) for at, points in enumerate([2, 2, 2, 1, 0])]
    (one,) = held(votes)
    assert (one.votes, one.right, one.tied, one.share) == (5, 3, 1, pytest.approx(0.7))
    assert one.lower < 0.5 < 0.75 < one.upper
    assert one.in_words == "preferred the right answer in 3 of 5 and called 1 a tie"
    assert not one.coin


def found(skill: float, votes: int, tasks: int, orders: int, arenas: int = 400) -> float:
    """The share of simulated arenas in which a judge of this skill is said to be no better than a coin; in
    two orders it errs in each by itself, and two verdicts that differ are a tie."""
    rng = Random(f"{skill}/{votes}/{tasks}/{orders}")
    cast = []
    for arena in range(arenas):
        for _ in range(votes):
            right = sum(rng.random() < skill for _ in range(orders))
            cast.append((f"j{arena}", f"t{rng.randrange(tasks)}", 2 * right // orders))
    return sum(one.coin for one in held(cast)) / arenas


@pytest.mark.parametrize("orders", [1, 2])
@pytest.mark.parametrize(("votes", "tasks"), [(10, 60), (30, 10), (30, 60), (100, 60)])
def test_a_good_judge_is_seldom_accused_and_a_coin_mostly_found(votes: int, tasks: int, orders: int) -> None:
    assert found(0.75, votes, tasks, orders) <= 0.05
    if votes >= 30:
        assert found(0.5, votes, tasks, orders) > 0.5


def test_one_that_always_takes_the_first_answer_is_a_coin() -> None:
    """In both orders it is all ties, right in half."""
    assert held([("ada", f"t{at % 20}", 1) for at in range(40)])[0].coin


def test_an_accusation_names_the_command() -> None:
    poor = KnownVotes("the judge", 40, 19, 0, 0.475, 0.3, 0.65)
    good = KnownVotes("ada", 40, 39, 0, 0.97, 0.8, 1.0)
    assert [*accused([good, poor])] == [
        "the judge judges no better than a coin: it preferred the right answer in 19 of 40 where a check "
        "tells the answers apart. See the table without it: `peerage leaderboard "
        "--without-judge 'the judge'`."
    ]
