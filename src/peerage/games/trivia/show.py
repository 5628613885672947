"""A quiz as blocks: every question with its right answer and what everybody answered, then the ranking."""

from __future__ import annotations

from collections.abc import Iterator

from peerage.blocks import Block, Heading, Replies, Sentence, Table, Task, names, said, score_lines
from peerage.games.trivia.sheet import questions_of
from peerage.match import Fixture, Outcome
from peerage.sealing import Sealed


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """The questions, the answers, the result."""
    right = outcome.detail.get("right", {})
    try:
        questions = questions_of(fixture.drawn)
    except Sealed:
        questions = []
        yield Sentence(
            "The questions and answers of this quiz are sealed; whoever runs the arena can read them."
        )
    players = names(fixture)
    sheets = {label: replies[f"answer/{label}"] for label in players if f"answer/{label}" in replies}
    for at, one in enumerate(questions):
        yield Heading(f"Question {at + 1}" + (f", {one.domain}" if one.domain else ""))
        yield Task(one.told(at + 1).partition(". ")[2])
        yield Sentence(f"Right: {one.right[0]}", "good")
        given = {
            label: str(reply.value.answers[at]) for label, reply in sheets.items() if reply.value is not None
        }
        rows = [
            (
                f"{players[label]} ({label})",
                one.chosen(answer) or answer or "(none)",
                "right" if at in right.get(label, ()) else "",
            )
            for label, answer in given.items()
        ]
        if rows:
            yield Table(("Player", "Answer", ""), tuple(rows))
    for reply in sheets.values():
        if reply.status not in ("ok", "waiting"):
            yield said(reply)
    yield Heading("What came of it")
    if outcome.void:
        yield Sentence("Too few sheets came, since providers failed; there is no result.")
    count = outcome.detail.get("questions", len(questions))
    why = {label: f"{len(places)} of {count} right" for label, places in right.items()}
    yield from score_lines(fixture, outcome, why)
