"""Reasons of results: how many judges, by which check, against what."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from peerage.game.blocks import ScoreLine
from peerage.judging.panels.panel import Ballot
from peerage.views.match.why import why

BOTH = {"A-B": "A", "B-A": "A"}


def match(scores: dict[str, float], detail: dict[str, Any], **more: Any) -> Any:
    best = max(scores.values(), default=0.0)
    usual = {
        "ballots": (),
        "blocks": (),
        "fixture": SimpleNamespace(drawn={}),
        "recorded": True,
        "best": best,
    }
    return SimpleNamespace(outcome=SimpleNamespace(scores=scores, detail=detail), **{**usual, **more})


def ballot(place: int, vote: str, weight: float, *, flipped: bool = False, verdicts: Any = BOTH) -> Ballot:
    return Ballot(f"judge/{place}", vote, verdicts, flipped, weight)


@pytest.mark.parametrize(
    ("scores", "votes", "told"),
    [
        ({"A": 1, "B": 0}, [("A", 0.5, False), ("A", 0.5, False)], "2 of 2 judges, in both orders"),
        (
            {"A": 1, "B": 0},
            [("A", 0.5, False), ("tie", 0.5, True)],
            "1 of 2 judges, 1 flipped with the order",
        ),
        ({"A": 0, "B": 1}, [("A", 0.2, False), ("B", 0.8, False)], "1 of 2 judges, with 80% of their weight"),
        (
            {"A": 0.5, "B": 0.5},
            [("A", 0.3, False), ("B", 0.3, False), ("tie", 0.4, False)],
            "of 3 judges 1 for A, 1 for B and 1 for a tie",
        ),
    ],
)
def test_judges_are_counted(scores: dict[str, float], votes: list[tuple[str, float, int]], told: str) -> None:
    ballots = tuple([ballot(at, vote, of, flipped=bool(flip)) for at, (vote, of, flip) in enumerate(votes)])
    assert why(match(scores, {"share": 0.5}, ballots=ballots)) == told


def test_orders_are_named_where_both_were_seen() -> None:
    for other, told in (("A-B", "2 of 2 judges"), ("B-A", "2 of 2 judges, in opposite orders")):
        votes = tuple(
            [ballot(at, "A", 0.5, verdicts={order: "A"}) for at, order in enumerate(("A-B", other), 1)]
        )
        assert why(match({"A": 1, "B": 0}, {"share": 1.0}, ballots=votes)) == told


@pytest.mark.parametrize(
    ("scores", "credits", "told"),
    [
        ({"A": 1, "B": 0}, {"A": 1.0, "B": 0.0}, "its answer matched what was expected, the other did not"),
        ({"A": 0.5, "B": 0.5}, {"A": 1.0, "B": 1.0}, "both answers matched what was expected"),
        ({"A": 0.5, "B": 0.5}, {"A": 0.0, "B": 0.0}, "neither answer matched what was expected"),
        ({"A": 0, "B": 1}, {"A": 0.25, "B": 0.5}, "its answer was 50% right, the other 25%"),
    ],
)
def test_checks_say_what_they_found(scores: dict[str, float], credits: dict[str, float], told: str) -> None:
    drawn = SimpleNamespace(drawn={"expected": "76"})
    assert why(match(scores, {"checks": credits}, fixture=drawn)) == told


def test_without_judges_the_other_answer_says_why() -> None:
    assert (
        why(match({"A": 1, "B": 0}, {"answers": {"A": "ok", "B": "refused"}}))
        == "the other answer was a refusal"
    )


def test_of_other_games_the_lines_of_scores_tell_it() -> None:
    lines = ScoreLine("A", 0.0, "3 right"), ScoreLine("B", 1.0, "5 right.")
    assert why(match({"A": 0, "B": 1}, {}, blocks=lines)) == "5 right; the other: 3 right"
    assert why(match({"A": 0, "B": 1, "C": 0}, {}, blocks=lines)) == "5 right"


@pytest.mark.parametrize(
    "detail", [{"answers": {"A": [1]}}, {"checks": {"A": "x"}}, {"checks": 3}, {"share": "x"}]
)
def test_a_damaged_record_has_no_reason(detail: dict[str, Any]) -> None:
    assert why(match({"A": 1, "B": 0}, detail)) == ""
    assert why(match({}, detail)) == ""
