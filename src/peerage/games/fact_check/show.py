"""A round of fact-checks as blocks: every statement, whether it is true, and what everybody said of it."""

from __future__ import annotations

from collections.abc import Iterator

from peerage.blocks import Block, Heading, Replies, Sentence, Table, result, unusable
from peerage.games.same_tasks import TASKS
from peerage.match import Fixture, Outcome


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """The statements, the verdicts, the result."""
    given = {reply.label: _given(reply.value) for reply in replies.values() if reply.value is not None}
    yield Heading("The statements")
    if given:
        marks = "" if "brier" in outcome.detail else "✓ judged right, ✗ judged wrong. "
        yield Sentence(f"{marks}A false statement is followed by → and what is true.", "quiet")
    rows = []
    for at, one in enumerate(fixture.drawn[TASKS]):
        verdicts = [_mark(values[at], one["true"]) for values in given.values()]
        about = one["said"] if one["true"] else f"{one['said']} → {one['truth']}"
        rows.append((at + 1, one["domain"], about, "true" if one["true"] else "false", *verdicts))
    yield Table((">#", "Domain", "Statement", "It is", *given), tuple(rows))
    yield from unusable(replies.values())
    count, wins = len(rows), "The player with the most right verdicts wins; equally many tie."
    if "brier" in outcome.detail:
        wins = (
            "Each letter's column holds the probability in percent that it gave. The lowest mean Brier score "
        )
        wins += "wins: 0 is perfect, 0.25 is what 50% for everything comes to."
    why = {label: f"{right} of {count} right" for label, right in outcome.detail.get("right", {}).items()}
    why |= {
        label: f"mean Brier score {score:.4f}" for label, score in outcome.detail.get("brier", {}).items()
    }
    yield from result(fixture, outcome, wins, why)


def _given(value: object) -> list[bool | int]:
    """Return what a sheet says of each statement: true or false, or percentages."""
    verdicts = getattr(value, "verdicts", None)
    return list(getattr(value, "probabilities", ()) if verdicts is None else verdicts)


def _mark(said: bool | int, true: bool) -> str | int:
    """Return whether a verdict is right; a percentage as it is."""
    return ("✓" if said == true else "✗") if isinstance(said, bool) else said
