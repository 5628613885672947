"""How a run ended, for people: what was played and paid, what came to nothing and why, where it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from peerage.cli.options import at, program
from peerage.cli.output import dollars, money

if TYPE_CHECKING:
    from peerage.arena import Arena
    from peerage.engine.report import RunReport

LOOKED_AT = 8
"""Void matches whose replies are read for the reasons."""
SHOWN = 3


def ending(arena: Arena, report: RunReport, void: Sequence[tuple[int, str]]) -> Iterator[str]:
    """The last words of a run, line by line; `void` are its matches that came to nothing."""
    from peerage.engine.probes import probe_costs

    counts = (
        f"{report.settled:,} matches, {report.played:,} of them now, in {report.calls:,} calls; "
        f"{money(report.billed_nano, report.possibly_nano)} in all"
    )
    match report.reason:
        case "interrupted":
            yield f"stopped: {counts}"
            yield "the same command goes on from here"
        case "budget":
            yield f"stopped by the budget: {report.note}"
            yield counts
            yield "to go on, raise `budget` in arena.yaml, or say --budget DOLLARS"
        case _:
            yield f"done: {counts}"
    probed = sum(cost.most_nano for cost in probe_costs(arena.ledger).values())
    if probed:
        yield f"{dollars(probed / 1e9)} of that went into probes before runs, in no match"
    for player, nano in report.overrun.items():
        yield (
            f"{player} was billed {dollars(nano / 1e9)} more than its calls could cost at most, as by a "
            "provider that ignores max_tokens; nothing more was asked of it"
        )
    if report.possibly_paid_twice:
        yield (
            f"{report.possibly_paid_twice} calls that a crash had left open were asked again; at most "
            f"{dollars(report.possibly_paid_nano / 1e9)} was paid twice"
        )
    if void:
        yield from _void(arena, void)
    yield f"ledger: {_place(arena.ledger.address)}"


def _void(arena: Arena, void: Sequence[tuple[int, str]]) -> Iterator[str]:
    from peerage.protocol import visible

    reasons = Counter(reason for _, reason in void)
    told = ", ".join(f"{number} {reason}" for reason, number in reasons.most_common())
    numbers = [number for number, _ in void]
    yield visible(
        f"{len(void)} of them void: {told}; `{program()} match {numbers[-1]}{at(arena.folder)}` shows one"
    )
    for trouble, _ in _troubles(arena, numbers[-LOOKED_AT:]).most_common(SHOWN):
        yield visible(f"  {trouble}")


def _troubles(arena: Arena, numbers: Sequence[int]) -> Counter[str]:
    """Why replies in these matches were void, in their clients' words."""
    found: Counter[str] = Counter()
    for number in numbers:
        for one in arena.transcript(number).exchanges:
            if one.status == "void" and one.reason:
                found[one.reason if one.player in one.reason else f"{one.player}: {one.reason}"] += 1
    return found


def _place(address: str) -> str:
    """A file's path, as short as it can be pasted; any other address as it is."""
    if not address.startswith("sqlite:///"):
        return address
    path = Path(address.removeprefix("sqlite:///"))
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
