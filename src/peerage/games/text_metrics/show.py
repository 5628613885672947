"""A match of text-metrics as blocks: each text, its references, and how near everybody came."""

from __future__ import annotations

from collections.abc import Iterator

from peerage.blocks import Block, Heading, Replies, Sentence, Table, Task, Tone, result, said
from peerage.games.same_tasks import tasks_of
from peerage.games.text_metrics.rules import TASKS, constraints
from peerage.games.text_metrics.tasks import TextTask
from peerage.match import Fixture, Outcome


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """The texts, what was made of them, the result."""
    signatures, results = outcome.detail.get("metrics", ()), outcome.detail.get("texts", {})
    for at, task in enumerate(tasks_of(fixture.drawn, TextTask), 1):
        yield Heading(f"Text {at}: {TASKS[task.kind].rstrip('.').lower()}")
        yield Task(task.source, name="the text")
        if task.shown:
            yield Task("\n↓\n".join(task.shown), name="the example")
        yield Sentence(constraints(task))
        for number, reference in enumerate(task.references, 1):
            yield Task(reference, name=f"reference {number}")
        if len(signatures) >= at:
            copy = outcome.detail["copies"][at - 1]
            worth = (
                f"A copy of the text comes to {copy:.4f}, which is worth 0 points; a reference is worth 1."
            )
            yield Sentence(f"Compared by {signatures[at - 1]}. {worth}", "quiet")
        for seat in fixture.seats:
            reply = replies.get(f"text/{at}/{seat.label}")
            if reply is None:
                continue
            one = results[seat.label][at - 1] if seat.label in results else {}
            points = one.get("points", 0.0)
            tone: Tone = "good" if points >= 0.9 else "bad" if not points else ""
            note = "; ".join(["breaks " + breach for breach in one.get("breaches", ())])
            verdict = f"comes to {one['near']:.4f}: {points:.2f} points" if "near" in one else ""
            yield said(reply, verdict, tone, note)
    means = outcome.detail.get("means", {})
    if means:
        yield Heading("Points")
        columns = ("Player", *[f">Text {at + 1}" for at in range(len(signatures))], ">Mean")
        players = {seat.label: seat.player for seat in fixture.seats}
        rows = [
            (players[label], *[one.get("points") for one in results[label]], mean)
            for label, mean in sorted(means.items(), key=lambda item: -item[1])
        ]
        yield Table(columns, tuple(rows))
    why = {label: f"{mean:.3f} points on average" for label, mean in means.items()}
    wins = "The player nearest to the references, on the mean of all texts, is first."
    yield from result(fixture, outcome, wins, why)
