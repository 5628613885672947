"""A quiz as blocks: every question with its right answer and what everybody answered, then the ranking."""

from __future__ import annotations

from collections.abc import Iterator

from peerage.blocks import Block, Heading, Replies, Sentence, Table, Task, names, result, unusable
from peerage.games.same_tasks import tasks_of
from peerage.games.trivia.sheet import Question
from peerage.match import Fixture, Outcome
from peerage.sealing import Sealed


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """The questions, the answers, the result."""
    right, players = outcome.detail.get("right", {}), names(fixture)
    try:
        questions = tasks_of(fixture.drawn, Question)
    except Sealed:
        questions = []
        yield Sentence("The questions and answers of this quiz are sealed; the arena's owner can read them.")
    for at, one in enumerate(questions):
        yield Heading(f"Question {at + 1}" + (f", {one.domain}" if one.domain else ""))
        yield Task(one.numbered(at + 1).partition(". ")[2])
        yield Sentence(f"Right: {one.right[0]}", "good")
        given = {
            reply.label: str(reply.value.answers[at]) for reply in replies.values() if reply.value is not None
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
    yield from unusable(replies.values())
    count = outcome.detail.get("questions", len(questions))
    why = {label: f"{len(places)} of {count} right" for label, places in right.items()}
    yield from result(fixture, outcome, "The player with the most right answers wins; equally many tie.", why)
