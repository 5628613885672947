"""Programs and how they did on hidden tests, as blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from peerage.blocks import Block, Heading, Program, Replies, Table, Tone, names, said
from peerage.match import Fixture

MOST = 120
"""Characters of a test's input and output that are shown."""


def programs_shown(key: str, programs: Mapping[str, Any], replies: Replies) -> Iterator[Block]:
    """What every seat wrote under KEY/LABEL; `programs` hold the bytes and the result of each, by label."""
    for name, reply in replies.items():
        if name != f"{key}/{reply.label}":
            continue
        if not isinstance(reply.value, str):
            yield said(reply)
            continue
        one = programs.get(reply.label, {})
        tone: Tone = "good" if one.get("result") == "correct" else "bad"
        note = f"{one['bytes']:,} bytes" if one.get("bytes") is not None else ""
        yield Program(reply.value, reply.label, reply.key, one.get("result", ""), tone, note)


def verdicts_shown(
    fixture: Fixture,
    programs: Mapping[str, Any],
    tests: Sequence[Sequence[str]],
    bugs: Mapping[int, str] | None = None,
) -> Iterator[Block]:
    """How each program did on each hidden test, in a table; `tests` are input and output, where they are
    known, `bugs` says which bug a test shows, by its place."""
    tried = {label: one["tests"] for label, one in programs.items() if one["tests"]}
    if not tried:
        return
    players = names(fixture)
    columns = ["Test", *["Input", "Output"] * bool(tests), *["Shows"] * (bugs is not None)]
    columns += [f"{players[label]} ({label})" for label in tried]
    rows = []
    for place in range(max(map(len, tried.values()))):
        row = [str(place + 1), *([_short(text) for text in tests[place]] if tests else [])]
        if bugs is not None:
            row.append(bugs.get(place, "what was right"))
        rows.append((*row, *[verdicts[place] for verdicts in tried.values()]))
    yield Heading("The hidden tests")
    yield Table(tuple(columns), tuple(rows))


def _short(text: str) -> str:
    return text if len(text) <= MOST else f"{text[:MOST]}…"
