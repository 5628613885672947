"""The report on judges against the transcripts, and a planted favour in an arena that was played."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from tests.engine.arenas import SMALL, house, play, write_arena
from tests.judging.gathered import tabled
from tests.views.conftest import FAULTS, recorded

from peerage.arena import Arena, open_arena
from peerage.game.match import Fixture, Outcome, Seat
from peerage.judging.marks.comparisons import in_orders
from peerage.judging.marks.marks import MARKS, Mark, MarkRows, add_marks
from peerage.judging.measures.favours.two_minds import Blocks
from peerage.judging.measures.preference import LONGER
from peerage.ratings.columns.history import duels
from peerage.ratings.fits.bradley_terry import fit_duels
from peerage.ratings.fits.judges import leaders_without
from peerage.reading.matches import Matches
from peerage.reading.observations import CHALLENGES, observe
from peerage.reading.verdicts.scores import scores
from peerage.reading.verdicts.votes import votes
from peerage.views.judges import favours
from peerage.views.judges.measures import Measure, remarks
from peerage.views.judges.remarks import divided, first_without
from peerage.views.judges.report import Favour, JudgesReport, judges, judges_of


@pytest.fixture(scope="module")
def report(folder: Path) -> JudgesReport:
    with open_arena(folder, create=False) as arena:
        return judges(arena.reading)


def test_judges_are_those_of_the_statistics(report: JudgesReport, arena: Arena) -> None:
    known = {judge.player: judge for judge in arena.stats().judges}
    assert [row.judge for row in report.judges] == sorted(known)
    for row in report.judges:
        stats = known[row.judge]
        assert row.marks == 2 * (stats.votes - stats.abstentions)
        assert row.agreement == stats.agreement
        assert row.flip_share == pytest.approx(stats.flip_share)
        assert row.first_share == pytest.approx(stats.first_share)
        assert row.reliability is not None
        assert row.mean == 0.5
        assert row.self_preference is None, "contestants never judge"


def test_length_is_that_of_the_recorded_answers(report: JudgesReport, arena: Arena) -> None:
    """The slope by hand from the transcripts: all valid votes, the gap of points on the doublings."""
    import math

    over = under = 0.0
    for number in range(1, recorded(arena) + 1):
        match = Matches(arena.ledger).match(number)
        said = {key.removesuffix("~repair"): step.reply for key, step in match.asked.items()}
        for ballot in match.ballots:
            if ballot.vote != "abstain" and not ballot.late:
                doublings = math.log2(len(said["answer/A"]) / len(said["answer/B"]))
                if abs(doublings) < LONGER:
                    continue
                gap = {"A": 1, "B": -1, "tie": 0}[ballot.vote]
                over, under = over + gap * doublings, under + doublings**2
    bias = next(measure for measure in report.measures if measure.measure == "length_bias")
    assert bias.value == pytest.approx(over / under)


def test_votes_are_worth_less_than_their_number(report: JudgesReport) -> None:
    measures = {measure.measure: measure for measure in report.measures}
    votes, worth, alpha = measures["votes"].value, measures["effective_votes"].value, measures["alpha"]
    assert votes is not None
    assert worth is not None
    assert 1 < worth < votes <= 3
    assert alpha.value is not None
    assert alpha.lower is not None
    assert 0 < alpha.lower < alpha.value < 1


@pytest.mark.parametrize(
    ("shared", "worth", "why"),
    [(0.5, 5 / 3, "the judges err alike"), (0.0, 2.0, "some hardly tell answers apart, or weigh little")],
)
def test_votes_worth_little_are_told_with_the_reason(shared: float, worth: float, why: str) -> None:
    figures = {"votes": 5.0, "effective_votes": worth, "shared_errors": shared}
    measures = [Measure(name, value, None, None, 9, "") for name, value in figures.items()]
    (observe,) = remarks(measures, "votes")
    assert observe == f"5 votes tell as much as {worth:.1f} of judges who err independently: {why}."
    (observe,) = remarks(measures, "scores")
    assert observe.startswith("5 scores tell as much as ")
    alone = [Measure(name, 1.0 if name == "votes" else 0.0, None, None, 9, "") for name in figures]
    assert not list(remarks(alone, "votes"))


def test_it_is_said_whether_a_single_judge_changes_first_place() -> None:
    judges, players = ("kim", "lee", "jo"), ("ann", "bo", "cy")
    assert list(first_without(judges, players, 0, [0, None, 0])) == [
        "No single judge changes first place: without any one of them ann is first."
    ]
    assert list(first_without(judges, players, 0, [0, 2, None])) == [
        "Without the judge lee cy is ahead of ann, who is first by all 3."
    ]
    assert list(first_without(judges, players, 1, [0, 1, 1])) == [
        "Without the judge kim ann is ahead of bo, who is first by all 3."
    ]
    assert not list(first_without(judges, players, None, [0, 0, 0]))
    assert not list(first_without(judges, players, 0, [None, None, None]))


def test_first_places_without_each_judge_are_those_of_the_votes_left(
    report: JudgesReport, arena: Arena
) -> None:
    cast = votes(arena.ledger, list(arena.ledger.summaries(1, recorded(arena))), {})
    leader, without = leaders_without(cast.history, cast.judge, len(cast.judges))
    assert leader == int(np.argmax(fit_duels(cast.history).rating))
    for judge, first in enumerate(without):
        left = fit_duels(cast.history.only(cast.judge != judge))
        assert first == (int(np.argmax(left.rating)) if left.connected else None)
    said = list(first_without(cast.judges, cast.players, leader, without))
    assert said
    assert all(one in report.remarks for one in said)


def test_who_is_first_by_all_stays_so_until_another_is_ahead() -> None:
    """Without judge 0 the two are alike, without judge 1 the other one is ahead."""
    history = duels(2, [1] * 5, [0] * 5, [1, 1, 1, 0, 0])
    assert leaders_without(history, np.array([0, 2, 2, 2, 2]), 3) == (1, [1, 1, None])
    assert leaders_without(history, np.array([2, 1, 1, 2, 2]), 3) == (1, [1, 0, None])


def test_challenges_are_counted_by_topic_and_drafter(report: JudgesReport, arena: Arena) -> None:
    ties: dict[tuple[str, str], list[float]] = {}
    for number in range(1, recorded(arena) + 1):
        match = Matches(arena.ledger).match(number)
        votes = [ballot.vote for ballot in match.ballots if ballot.vote != "abstain"]
        if votes:
            (used,) = [draft for draft in match.drafts if draft.accepted]
            author = match.players[next(iter(used.authors.values()))]
            for sort in (("topic", match.fixture.topic), ("drafter", author)):
                ties.setdefault(sort, []).append(votes.count("tie") / len(votes))
    found = {(one.kind, one.name): one for one in report.challenges}
    assert found.keys() == ties.keys()
    for sort, shares in ties.items():
        assert found[sort].matches == len(shares)
        assert (found[sort].tell is None) == (len(shares) < 5)


def test_challenges_on_which_verdicts_do_not_follow_strength_tell_less(tmp_path: Path) -> None:
    """All matches are put under two topics by hand: those that the stronger player wins, and the others."""
    players = house(7, faults=FAULTS)
    folder = write_arena(tmp_path / "arena", players, rules=SMALL | {"order": "both", "early_stop": False})
    play(folder, 60)
    with open_arena(folder, create=False) as arena:
        tell = _told_of_topics(arena)
    assert tell["somebody"] is None, "with one drafter there is nothing to compare"
    assert tell["follows"] is not None
    assert tell["against"] is not None
    assert tell["against"] + 0.2 < tell["follows"]


def _told_of_topics(arena: Arena) -> dict[str, float | None]:
    read = observe(Matches(arena.ledger).read(1, recorded(arena)))
    cast = votes(arena.ledger, list(arena.ledger.summaries(1, recorded(arena))), {})
    strength = dict(zip(cast.players, fit_duels(cast.history).rating.tolist(), strict=True))
    rows = MarkRows(CHALLENGES)
    for number in range(1, recorded(arena) + 1):
        match = Matches(arena.ledger).match(number)
        first, second = (strength.get(seat.player, 0.0) for seat in match.fixture.seats)
        if match.ballots:
            score = match.outcome.scores.get(match.fixture.seats[0].label, 0.5)
            follows = score != 0.5 and (first > second) == (score > 0.5)
            rows.add((str(number), "follows" if follows else "against", "somebody"))
    read.challenges = rows.columns()
    reading = arena.reading
    reading.observations = read
    report = judges_of(reading)
    return {one.name: one.tell for one in report.challenges}


def test_a_judge_of_its_own_kin_stands_out(tmp_path: Path) -> None:
    players: list[Any] = [
        {"name": f"p{at}", "model": f"house:{0.4 + 0.05 * at:.2f}", "family": f"f{at}"} for at in range(6)
    ]
    players[5] |= {"family": "f0", "faults": {"self_preference": 0.9}}
    rules = {"tasks": ["Say why."], "samples": "fresh"}
    judging = {"judges": 4, "order": "both", "early_stop": False}
    folder = write_arena(tmp_path / "arena", players, game="tasks", rules=rules, judging=judging)
    play(folder, 120)
    with open_arena(folder, create=False) as arena:
        found = judges(arena.reading)
    rows = {row.judge: row for row in found.judges}
    assert rows["p5"].kin_preference_lower is not None
    assert rows["p5"].kin_preference_lower > 0.2
    assert all(row.kin_preference is None for name, row in rows.items() if name not in ("p0", "p5"))
    assert [(pair.judge, pair.author) for pair in found.favours if pair.found] == [("p5", "p0")]


def test_an_arena_without_judges_has_nothing_to_tell(tmp_path: Path) -> None:
    folder = write_arena(tmp_path / "arena", 2, game="color-obfuscation", rules={})
    play(folder, 2)
    with open_arena(folder, create=False) as arena:
        assert judges(arena.reading).as_dict() == {
            "answer": "Not yet: too few matches were judged (0 of 20).",
            "cards": [],
            "remarks": [],
            "measures": [],
            "judges": [],
            "favours": [],
            "challenges": [],
            "people": [],
        }


def test_scores_are_read_from_the_facts_of_a_tournament() -> None:
    seats = (Seat("A", "ann"), Seat("B", "bob"))
    made = Fixture(7, 1, "last-arena", 1, "s", seats, {}, {})
    facts: tuple[Any, ...] = (
        {"scores": "rate", "judge": "A", "author": "B", "raw": {"B-1": 3.0}},
        {"scores": "judge", "judge": "A", "author": "B", "raw": {"A-1/B": 8.0, "B-2/B/400": 2.5}},
    )
    found = list(scores(made, Outcome(facts=facts), {"A-1/B": 120, "B-2/B/400": 9}))
    assert found == [Mark("ann", "bob", "7/A-1", 8.0, 120), Mark("ann", "bob", "7/B-2/400", 2.5, 9)]


def test_scores_beside_votes_are_left_out(arena: Arena, report: JudgesReport) -> None:
    read = observe(Matches(arena.ledger).read(1, recorded(arena)))
    scored = MarkRows(MARKS)
    for author in ("p1", "p2", "p3"):
        others = [("somebody", 8.0), (report.judges[0].judge, 5.0)]
        add_marks(scored, [Mark(judge, author, "9999/q1", score) for judge, score in others])
    scored.join(read.marks)
    read.marks = scored.columns()
    reading = arena.reading
    reading.observations = read
    assert judges_of(reading) == report


def test_favour_is_told_with_how_much_of_what() -> None:
    pair = Favour("kim", "ann", 40, 0.25, 1e-6, 1e-4, True, False)
    (one,) = favours.remarks([pair, replace(pair, found=False)], "scores")
    assert one == (
        "kim favours ann: by 25% of 40 marks more than the other judges and the spread of tastes explain. "
        "Read its scores."
    )
    (one,) = favours.remarks([replace(pair, excess=-0.25)], "votes")
    assert one.startswith("kim does down ann: by 25% ")


def test_what_taste_may_explain_is_out_of_step_and_no_favour() -> None:
    pairs = [Favour("kim", name, 40, 0.25, 0.01, 0.5, False, True) for name in ("ann", "bo", "cy", "di")]
    (one,) = favours.remarks(pairs, "votes")
    assert one == (
        "Out of step, as tastes may differ: kim about ann (+25%), kim about bo (+25%), kim about cy (+25%) "
        "and 1 more."
    )


def test_two_blocks_that_contradict_each_other_are_named_with_whom_each_puts_first() -> None:
    answers = {"x": (1.0, 0.0), "y": (1.0, 0.0), "z": (0.0, 1.0)}
    given = [
        Mark(judge, author, str(at), value)
        for at in range(9)
        for judge, values in answers.items()
        for author, value in zip(("ann", "bo"), values, strict=True)
    ]
    told = divided(Blocks(("x", "y"), ("z",)), in_orders(tabled(given)))
    assert (
        "contradict each other: x and y against z. By the first block ann leads, by the second bo. " in told
    )
    assert "Exclude" not in told
