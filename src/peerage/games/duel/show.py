"""A duel as blocks: question, answers, what the judges found."""

from __future__ import annotations

from collections.abc import Iterator

from peerage.blocks import Block, Heading, Replies, names, result, said
from peerage.challenges.drafting import drafts_of, drafts_shown
from peerage.judging.ballots import ballots_of
from peerage.judging.panel import panel_shown
from peerage.match import Fixture, Outcome

_NO_RESULT = {
    "no_challenge": "No draft was approved, so there was nothing to answer.",
    "no_answer": "The provider of a contestant failed, so there is no result.",
    "inconclusive": "Too few judges gave a valid vote, so there is no result.",
}


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """The question, the answers, the judges, the result."""
    yield from drafts_shown(drafts_of(outcome), replies)
    given = [replies[key] for seat in fixture.seats if (key := f"answer/{seat.label}") in replies]
    if given:
        yield Heading("The answers")
        yield from map(said, given)
    share = outcome.detail.get("share")
    yield from panel_shown(
        ballots_of(outcome), replies, names(fixture), share, outcome.detail.get("criteria", {})
    )
    why = {one.label: f"its answer was {one.status}" for one in given if one.status != "ok"}
    if share is not None:
        first, second = (seat.label for seat in fixture.seats)
        why = {first: f"{share:.0%} of the judges' weight", second: f"{1 - share:.0%} of the judges' weight"}
    yield from result(fixture, outcome, "", why, _NO_RESULT)
