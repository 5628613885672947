"""A match of puzzles as blocks: each puzzle with its answer and everybody's, then how many each solved."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import convert

from peerage.blocks import Block, Heading, Quoted, Replies, Sentence, Task, score_lines
from peerage.games.logic.puzzles import ANSWER_CHARS, Puzzle
from peerage.match import Fixture, Outcome


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """The puzzles, the answers, the result."""
    puzzles = convert(fixture.drawn["puzzles"], list[Puzzle])
    solved = outcome.detail.get("solved", {})
    for at, puzzle in enumerate(puzzles):
        yield Heading(f"Puzzle {at + 1}: {puzzle.family}")
        yield Task(puzzle.text)
        if not outcome.void:
            yield Sentence(f"The answer: {puzzle.answer}")
        for label in solved:
            value = replies[f"answers/{label}"].value
            if value is not None:
                right = solved[label][at]
                given = str(value.answers[at])
                yield Quoted(
                    label,
                    given[:ANSWER_CHARS],
                    verdict="right" if right else "wrong",
                    tone="good" if right else "bad",
                )
    unusable = [reply for reply in replies.values() if reply.status not in ("ok", "waiting")]
    if unusable:
        yield Heading("Replies without answers")
        for reply in unusable:
            yield Quoted(reply.label, reply.text, reply.key, reply.status, "bad", reply.reason)
    yield Heading("What came of it")
    if outcome.void:
        yield Sentence("Too few replies came, since providers failed; there is no result.")
    else:
        yield Sentence("Whoever solves the most puzzles wins; equally many tie.")
    why = {label: f"{sum(mine)} of {len(mine)} solved" for label, mine in solved.items()}
    yield from score_lines(fixture, outcome, why)
