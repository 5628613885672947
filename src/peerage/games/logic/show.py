"""A match of puzzles as blocks: each puzzle with its answer and everybody's, their reasoning, the result."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from peerage.blocks import Block, Heading, Replies, Sentence, Table, Task, names, result, said
from peerage.games.logic.puzzles import ANSWER_CHARS, Puzzle
from peerage.games.same_tasks import tasks_of
from peerage.match import Fixture, Outcome


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """The puzzles, the answers, the reasoning, the result."""
    solved, players = outcome.detail.get("solved", {}), names(fixture)
    values = {label: replies[f"answers/{label}"].value for label in solved}
    for at, puzzle in enumerate(tasks_of(fixture.drawn, Puzzle)):
        yield Heading(f"Puzzle {at + 1}: {puzzle.family}")
        yield Task(puzzle.text)
        if solved:
            yield Sentence(f"The answer: {puzzle.answer}")
            rows = [
                (
                    f"{players[label]} ({label})",
                    str(value.answers[at])[:ANSWER_CHARS] or "(none)",
                    "right" if solved[label][at] else "wrong",
                )
                for label, value in values.items()
                if value is not None
            ]
            yield Table(("Player", "Answer", ""), tuple(rows))
    reasoned = [reply for reply in replies.values() if reply.value is None or reply.value.working]
    if reasoned:
        yield Heading("What they wrote with it")
    for reply in reasoned:
        block = said(reply)
        yield block if reply.value is None else replace(block, text=str(reply.value.working))
    why = {label: f"{sum(mine)} of {len(mine)} solved" for label, mine in solved.items()}
    yield from result(fixture, outcome, "Most puzzles solved wins; equally many tie.", why)
