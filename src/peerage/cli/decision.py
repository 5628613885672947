"""The decision in a terminal: the verdict, prices and records, what would change it, and examples."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING

import typer

from peerage.cli.options import at, program, prose
from peerage.cli.output import drawn, numbers, texts
from peerage.figures import counted, dollars, percent
from peerage.protocol import visible

if TYPE_CHECKING:
    from peerage.tables.verdict import Contender, Example, Verdict, Weakness

MARGIN = "  | "
"""Stands before each line that a player wrote: what stands behind it is nobody else's."""


def show_decision(found: Verdict, folder: Path) -> None:
    """Write a verdict with all that belongs to it to standard output."""
    for line in found.lines:
        prose(line)
    if not found.by_task:
        return
    sys.stdout.write(_contenders(found.contenders))
    if found.would_change:
        typer.echo()
        for line in found.would_change:
            prose(line)
    if found.examples:
        from peerage.tables.decision import RULE

        typer.echo()
        prose(f"Telling matches. {RULE}")
    for example in found.examples:
        typer.echo()
        for line in _example(example, folder):
            prose(line)


def _contenders(rows: tuple[Contender, ...]) -> str:
    checked = any(row.accuracy is not None for row in rows)
    shown = [
        {
            "player": row.player,
            "bin": row.bin,
            "accuracy": row.accuracy_in_words,
            "won": percent(row.wins / row.matches) if row.matches else None,
            "tied": percent(row.draws / row.matches) if row.matches else None,
            "cost": row.cost_per_thousand,
            "worst": weakness(row.worst) if row.worst else None,
        }
        for row in rows
    ]
    priced = any(row.cost_per_thousand for row in rows)
    columns = [
        *texts(player="Player", bin="Choice"),
        *(numbers(str, accuracy="Accuracy") if checked else ()),
        *numbers(str, won="Wins", tied="Ties ~1"),
        *(numbers(dollars, cost="Per 1,000") if priced else ()),
        *texts(worst="Worst at ~1"),
    ]
    share = "accuracy" if checked else "share of the points"
    category = f"the category with its {share} there, and " * any(
        row.worst is not None and row.worst.category for row in rows
    )
    notes = [
        *(["Per 1,000: dollars for 1,000 tasks of its own play, without judging"] if priced else []),
        f"Worst at: {category}a task that it failed",
    ]
    return drawn(shown, columns, "", notes, sys.stdout, split=True)


def weakness(found: Weakness) -> str:
    """A player's weakest category in a few words: `dates 78%: due-17 (match 41)`."""
    where = f"{found.category} {percent(found.share)}" if found.category else ""
    failed = f"{found.task} (match {found.match})" if found.task else ""
    return ": ".join(filter(None, (where, failed)))


def _fitting(line: str) -> Iterator[str]:
    """Yield a line in parts that fit beside the margin, whatever its characters."""
    from rich.cells import chop_cells

    room = max(20, get_terminal_size().columns - len(MARGIN))
    for part in wrap(line, room) or [""]:
        yield from chop_cells(part, room) or [""]


def _example(example: Example, folder: Path) -> Iterator[str]:
    category = f" ({example.category})" if example.category else ""
    how = f", decided {example.decided}" if example.decided else ""
    yield f"Task {example.task}{category}, match {example.match:,}: {example.winner} won{how}"
    yield from _quoted(example.prompt, example.prompt_more)
    for answer in example.answers:
        credit = {None: "", 1.0: "right", 0.0: "wrong"}.get(answer.credit, f"{percent(answer.credit)} right")
        about = ", ".join(filter(None, (credit, answer.status if answer.status != "ok" else "")))
        note = f": {answer.note}" if answer.note and answer.status == "ok" else ""
        yield f"  {answer.player}{f' ({about}{note})' if about or note else ''}"
        yield from _quoted(answer.text, answer.more) if answer.text else (f"{MARGIN}(nothing)",)
    if more := example.prompt_more + sum([answer.more for answer in example.answers]):
        yield f"  {counted(more, 'more character')}: `{program()} match {example.match}{at(folder)}`"


def _quoted(text: str, more: int) -> Iterator[str]:
    """Yield a text with a margin before each line, also before those that a terminal would begin; `…` ends
    one of which there is more."""
    for line in (visible(text) + " …" * bool(more)).split("\n"):
        yield from (f"{MARGIN}{part}" for part in (_fitting(line) if sys.stdout.isatty() else (line,)))
