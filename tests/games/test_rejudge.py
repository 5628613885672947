"""What holds for every game, for one whose fixtures are made from recorded answers."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.conformance.test_games import HOSTILE
from tests.offline import ITEM, Played, agreeable, check, choose, house, play, scripted, unfenced

from peerage.game.match import Fixture, Seat
from peerage.game.protocol import Ask, Reply
from peerage.games import GAMES
from peerage.games.rejudge import GAME as REJUDGE
from peerage.games.rejudge import RecordedAnswers, RecordedText, RejudgeRules
from peerage.judging.panels.prompts import COMPARE

JUDGES = ("house:0.9", "house:0.8", "house:0.7")


def made(item: RecordedAnswers = ITEM, **rules: Any) -> Fixture:
    judges = tuple([Seat(f"judge/{at}", name) for at, name in enumerate(JUDGES, 1)])
    settings = RejudgeRules.model_validate(rules).model_dump(mode="json")
    drawn = msgspec.to_builtins(item)
    return Fixture(1, 1, REJUDGE.name, 1, "seed", (), {"judge": judges}, settings, drawn)


def played(answering: Any, fixture: Fixture | None = None) -> Played:
    found = play(REJUDGE, fixture or made(), answering)
    check(REJUDGE, found, ["Zyxwv", "quality"])
    return found


def test_it_is_found_by_its_name_and_not_listed() -> None:
    assert GAMES["rejudge"] is REJUDGE
    assert "rejudge" in GAMES
    assert "rejudge" not in list(GAMES)


def test_judges_find_the_better_answer_and_nobody_gets_a_score() -> None:
    outcome = played(house({name: name for name in JUDGES})).outcome
    assert not outcome.void
    assert outcome.scores == {}
    assert outcome.facts == ({"rejudged": 7, "record": "0" * 64, "score": 1.0},)
    assert {ballot["vote"] for ballot in outcome.detail["ballots"]} == {"A"}
    assert {round(ballot["weight"], 6) for ballot in outcome.detail["ballots"]} == {0.333333}
    turned = msgspec.structs.replace(ITEM, hidden={"A": ITEM.hidden["B"], "B": ITEM.hidden["A"]})
    assert played(house({n: n for n in JUDGES}), made(turned)).outcome.facts[0]["score"] == 0.0


def test_the_first_panels_prompt_is_asked_again_answers_fenced() -> None:
    step = played(scripted(agreeable)).steps[0]
    assert [message.template for message in step.ask.messages] == [
        COMPARE.prompt(()).system,
        COMPARE.prompt(()).user,
    ]
    outside = unfenced(step.ask, "seed")
    for text in (*ITEM.answers.values(), "Why is the sky blue?"):
        assert text not in outside


def test_one_order_and_no_ties_where_the_rules_say_so() -> None:
    found = played(scripted(agreeable), made(order="one", binary=True))
    assert len(found.steps) == 3
    assert all(step.ask.expects.options == ("A", "B") for step in found.steps)  # type: ignore[union-attr]


@pytest.mark.parametrize("status", ["void", "refused", "invalid"])
def test_too_few_votes_are_inconclusive(status: Any) -> None:
    def failing(ask: Ask, player: str) -> str | Reply:
        if ask.to == "judge/1":
            return choose(ask, "tie")
        return "I would rather not." if status == "invalid" else Reply(status)

    found = played(scripted(failing)).outcome
    assert (found.void, found.facts) == ("inconclusive", ())


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_verdicts_and_hostile_answers(text: str) -> None:
    played(scripted(lambda ask, player: text))
    hostile = msgspec.structs.replace(
        ITEM, answers={"A": text, "B": text}, given={"question": RecordedText(text, "q")}
    )
    played(scripted(agreeable), made(hostile))
