"""A match of compression as blocks: the questions, every summary and what its readers made of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import convert

from peerage.blocks import (
    Block,
    Heading,
    Replies,
    Sentence,
    Table,
    Task,
    Tone,
    names,
    result,
    said,
)
from peerage.games.compression.reports import Reports
from peerage.games.compression.rules import TRUST
from peerage.games.texts import texts
from peerage.match import Fixture, Outcome

_NO_RESULT: Mapping[str, str] = texts(__package__)["no_result"]


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """The reports, what was made of them, and how much of it came back."""
    drawn = convert(fixture.drawn, Reports)
    results: Mapping[str, Any] = outcome.detail.get("summaries", {})
    yield Heading("The questions that a summary must answer")
    listed = [f"{at}. {question}" for at, question in enumerate(drawn.questions, 1)]
    yield Task("\n".join(listed))
    for seat, report in zip(fixture.seats, drawn.reports, strict=False):
        reply = replies.get(f"write/{seat.label}")
        if reply is None:
            continue
        yield Heading(f"{seat.player} ({seat.label}) had to sum up")
        yield Task(report.text, name=f"{len(report.text)} characters")
        one = results.get(seat.label, {})
        tone: Tone = "good" if one.get("valid") else "bad"
        yield said(reply, one.get("result", ""), tone)
        if "facts" in one:
            yield Table(
                ("Question", "Right answer", f">Right, of {len(one['readers'])} readers"),
                tuple(zip(drawn.questions, report.answers, one["facts"], strict=True)),
            )
    if readers := outcome.detail.get("readers"):
        yield from _readers(fixture, readers)
    wins = "The shortest summary from which the others knew enough facts wins."
    why = {label: one["result"] for label, one in results.items()}
    yield from result(fixture, outcome, wins, why, _NO_RESULT)


def _readers(fixture: Fixture, readers: Mapping[str, Any]) -> Iterator[Block]:
    players = names(fixture)
    yield Heading("The readers")
    yield Sentence(
        f"Who got less than {TRUST:.0%} right of a summary of the arena's own, and of what most others who "
        "read the same got right, counted nowhere."
    )
    rows = [
        (players[label], f"{one['right']:.0%}", "yes" if one["counts"] else "no")
        for label, one in readers.items()
    ]
    yield Table(("Reader", ">Right", "Counted"), tuple(rows))
