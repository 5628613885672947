"""A recorded duel as a blind pair: what an audience and experts are shown."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from peerage.game.match import DONE
from peerage.ledger import Ledger
from peerage.ledger.forms.merkle import digest
from peerage.ledger.topics.votes import BOTH_BAD, TIE
from peerage.reading.matches import Matches
from peerage.reading.moment import Moment
from peerage.views.match.match import answers, tasks

Verdict: TypeAlias = Literal["first", "second", "tie", "both bad"]
"""The verdict of a person who is shown two answers."""


def chosen(verdict: Verdict, shown: tuple[str, str]) -> str:
    """Return a verdict as a vote holds it; `shown` are the labels of the two answers in their order."""
    return {"tie": TIE, "both bad": BOTH_BAD}.get(verdict) or shown[verdict == "second"]


class BlindPair(Struct, frozen=True):
    """What a voter is shown: the challenge by stage and the answers by label, without their authors."""

    match: int
    record: str
    topic: str
    challenge: dict[str, str]
    answers: dict[str, str]


def ballot(ledger: Ledger, number: int) -> BlindPair | None:
    """Match `number` as a blind pair; None when there is nothing to compare. There is when the match counts,
    has two contestants, and each gave one answer to the same challenge."""
    # Nothing that is sealed is part of the answers to a duel.
    match = Matches(Moment(ledger, ledger.place(number), revealed=()), whole=False).match(number)
    said, asked = answers(match), tasks(match.blocks)
    if match.status != DONE or not asked or len(said) != 2:
        return None
    return BlindPair(number, digest(match.finished.row.body), match.fixture.topic, asked, said)
