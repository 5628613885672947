"""What holds for every game, for one whose fixtures are made from a tournament's recorded answers."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.conformance.test_games import HOSTILE
from tests.offline import SCORED, Played, check, house, play, points, scripted, unfenced

from peerage.game.match import Fixture, Seat
from peerage.game.protocol import Ask, Reply
from peerage.games.rejudge import GAME as REJUDGE
from peerage.games.rejudge import RecordedAnswers, RecordedText, RejudgeRules
from peerage.judging.scores.scoring import recorded

JUDGES = ("house:0.9", "house:0.8", "house:0.7")


def played(answering: Any, item: RecordedAnswers = SCORED, **rules: Any) -> Played:
    judges = tuple([Seat(f"judge/{at}", name) for at, name in enumerate(JUDGES, 1)])
    settings = RejudgeRules.model_validate({"by": "scores", **rules}).model_dump(mode="json")
    drawn = msgspec.to_builtins(item)
    made = Fixture(1, 1, REJUDGE.name, 1, "seed", (), {"judge": judges}, settings, drawn)
    found = play(REJUDGE, made, answering)
    check(REJUDGE, found, ["Zyxwv", "quality"])
    return found


@pytest.mark.parametrize("per_call", [1, 2, 10])
def test_house_judges_find_the_better_answers_and_nobody_scores_its_own(per_call: int) -> None:
    outcome = played(house({name: name for name in JUDGES}), per_call=per_call).outcome
    assert not outcome.void
    assert outcome.scores == {}
    given: dict[str, list[float]] = {}
    for grade in recorded(outcome, "judge"):
        assert (grade.judge, grade.author) != ("judge/3", "C")
        given.setdefault(grade.author, []).append(grade.raw)
    assert [len(given[label]) for label in "ABC"] == [3, 3, 2]
    assert min(given["A"]) > max(given["C"])


def test_answers_and_question_are_fenced() -> None:
    for step in played(scripted(lambda ask, player: points(ask, 7))).steps:
        outside = unfenced(step.ask, "seed")
        assert not [
            text for text in (*SCORED.answers.values(), SCORED.given["question"].text) if text in outside
        ]


@pytest.mark.parametrize("status", ["void", "refused", "invalid"])
def test_too_few_scores_are_inconclusive(status: Any) -> None:
    def failing(ask: Ask, player: str) -> str | Reply:
        if ask.to == "judge/1":
            return points(ask, 7)
        return "I would rather not." if status == "invalid" else Reply(status)

    found = played(scripted(failing)).outcome
    assert (found.void, found.facts) == ("inconclusive", ())


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_scores_and_hostile_answers(text: str) -> None:
    played(scripted(lambda ask, player: text))
    hostile = msgspec.structs.replace(
        SCORED, answers=dict.fromkeys(SCORED.answers, text), given={"question": RecordedText(text, "q")}
    )
    played(scripted(lambda ask, player: points(ask, 7)), hostile)
