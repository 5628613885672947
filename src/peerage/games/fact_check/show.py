"""A round of fact-checks as blocks: every statement, whether it is true, and what everybody said of it."""

from __future__ import annotations

from collections.abc import Iterator

from peerage.blocks import Block, Heading, Replies, Sentence, Table, said, score_lines
from peerage.match import Fixture, Outcome


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """The statements, the verdicts, the result."""
    labels = [seat.label for seat in fixture.seats]
    sheets = {label: replies[f"check/{label}"] for label in labels if f"check/{label}" in replies}
    given = {label: _given(reply.value) for label, reply in sheets.items() if reply.value is not None}
    yield Heading("The statements")
    if given:
        marks = "" if "brier" in outcome.detail else "✓ judged right, ✗ judged wrong. "
        yield Sentence(f"{marks}A false statement is followed by → and what is true.", "quiet")
    rows = []
    for at, one in enumerate(fixture.drawn["statements"]):
        verdicts = [_mark(values[at], one["true"]) for values in given.values()]
        about = one["said"] if one["true"] else f"{one['said']} → {one['truth']}"
        rows.append((at + 1, one["domain"], about, "true" if one["true"] else "false", *verdicts))
    yield Table((">#", "Domain", "Statement", "It is", *given), tuple(rows))
    yield from (said(reply) for reply in sheets.values() if reply.status not in ("ok", "waiting"))
    yield Heading("What came of it")
    if outcome.void:
        yield Sentence("Too few sheets came, since providers failed; there is no result.")
    elif "brier" in outcome.detail:
        yield Sentence(
            "Each letter's column holds the probability in percent that it gave. The lowest mean Brier score "
            "wins: 0 is perfect, 0.25 is what 50% for everything comes to."
        )
    count = len(rows)
    why = {label: f"{right} of {count} right" for label, right in outcome.detail.get("right", {}).items()}
    why |= {
        label: f"mean Brier score {score:.4f}" for label, score in outcome.detail.get("brier", {}).items()
    }
    yield from score_lines(fixture, outcome, why)


def _given(value: object) -> list[bool | int]:
    """What a sheet says of each statement: true or false, or percentages."""
    verdicts = getattr(value, "verdicts", None)
    return list(getattr(value, "probabilities", ()) if verdicts is None else verdicts)


def _mark(said: bool | int, true: bool) -> str | int:
    """Whether a verdict is right; a percentage as it is."""
    return ("✓" if said == true else "✗") if isinstance(said, bool) else said
