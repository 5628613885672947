"""Answers given once: which comparisons are over."""

from __future__ import annotations

import pytest

from peerage.game import Outcome
from peerage.games.given import settled


@pytest.mark.parametrize(
    ("void", "verdicts", "over"),
    [
        ("", {"A-B": "A"}, True),
        ("inconclusive", {"A-B": "invalid"}, True),
        ("inconclusive", {"A-B": "A", "B-A": "B"}, True),
        ("inconclusive", {"A-B": "void"}, False),
        ("no_answer", {}, False),
    ],
)
def test_what_judges_could_not_decide_is_compared_again_only_where_a_provider_failed(
    void: str, verdicts: dict[str, str], over: bool
) -> None:
    ballots = [{"judge": "judge/1", "verdicts": verdicts}]
    assert settled(Outcome(void=void, detail={"ballots": ballots})) == over
