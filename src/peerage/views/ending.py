"""How a run ended, for people: what was played and paid, what came to nothing and why, where it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from peerage.engine.record.probed import probe_costs
from peerage.engine.run.report import RunReport
from peerage.engine.run.words import spent, waiting
from peerage.game.match import DEVELOPMENT
from peerage.game.protocol import first_key
from peerage.ledger import Ledger
from peerage.ledger.topics.uptimes import unused
from peerage.players.checks import together
from peerage.reading.match import REASONS
from peerage.values.figures import counted, dollars
from peerage.values.texts import visible
from peerage.views.match.match import match_view

LOOKED_AT = 8
"""Void matches whose replies are read for the reasons."""
SHOWN = 3


def ending(
    ledger: Ledger,
    report: RunReport,
    void: Sequence[tuple[int, str]],
    until: str | None,
    command: Callable[[str], str],
) -> Iterator[str]:
    """Yield the last words of a run, line by line; `void` are its matches that came to nothing, `until` is
    what it was to prove, and `command` makes of words what to type."""
    yield from _stopped(report)
    if (goal := report.until) is not None:
        known, needed = goal.pairs
        short = "" if goal.reached else f" ({known:,} of {counted(needed, 'pair')} told apart)"
        first = f"; {counted(report.decided, 'match')} were the limit, --more 20 plays on" * (
            report.reason == "limit" and not goal.reached
        )
        yield visible(f"until {until}: {goal.in_words}{short}{first}")
    probed = sum(cost.most_nano for cost in probe_costs(ledger).values())
    if probed:
        yield f"{dollars(probed / 1e9)} of that went into probes before runs, in no match"
    if held := sum(unused(ledger).values()):
        yield (
            f"{dollars(held / 1e9)} of that went into start and idle time of hosts, in no match; "
            f"`{command('status')}` shows hours held and matches per hour"
        )
    for player, nano in report.overrun.items():
        yield (
            f"{player} was billed {dollars(nano / 1e9)} more than its calls could cost at most, as by a "
            "provider that ignores max_tokens; nothing more was asked of it in this run"
        )
    if twice := report.possibly_paid_twice:
        them = "it" if twice == 1 else "them"
        yield (
            f"an earlier run was cut off with {counted(twice, 'call')} in flight; asking {them} again pays "
            f"at most {dollars(report.possibly_paid_nano / 1e9)} twice"
        )
    if void:
        yield from _without_result(ledger, void, command)
    yield from waiting(report.waiting)
    if report.waiting:
        listed = f"`{command('status')}` lists them"
        yield f"{listed}; the next run takes them up first, each when its time has come"
    for trouble in together(report.benched):
        yield visible(f"benched until you fix it and run again: {trouble}")
    yield f"ledger: {place(ledger.address)}"


def _stopped(report: RunReport) -> Iterator[str]:
    """Yield why a run ended, after how many matches and calls, and how to go on where a budget ended it."""
    decided = f" ({report.decided:,} with a result)" if report.decided != report.settled else ""
    counts = (
        f"{counted(report.settled, 'match')}{decided}, {report.played:,} of them now, in "
        f"{counted(report.calls, 'call')}; {spent(report)} in all"
    )
    match report.reason:
        case "interrupted":
            yield f"stopped: {counts}"
            yield "the same command goes on from here"
        case "budget" if report.until is None or not report.until.reached:
            yield f"stopped by the budget: {report.note}"
            yield counts
            whose = "match" if "(match_budget" in report.note else "player"
            if " left; " in report.note:
                yield "to go on, raise `budget` in arena.yaml, or say --budget DOLLARS"
            else:
                yield f"to go on, raise `budget.{whose}` in arena.yaml, or lower `max_tokens` of players"
        case "players" | "no_result":
            yield visible(f"stopped: {report.note}")
            yield counts
        case "waiting":
            yield visible(f"nothing is left to do now{report.note and f' ({report.note})'}: {counts}")
        case _:
            yield f"done: {counts}"
            if report.reason == "known" and not (report.until and report.until.reached):
                yield report.note


def exit_code(report: RunReport, void: Sequence[tuple[int, str]]) -> int:
    """The exit code of a command that played: 130 after Ctrl+C, 1 where all it played came to nothing."""
    if report.reason == "interrupted":
        return 130
    if report.reason in ("players", "no_result"):
        return 1
    failed = [reason for _, reason in void if reason != DEVELOPMENT]
    return 1 if report.played and len(failed) == report.played else 0


def _without_result(
    ledger: Ledger, void: Sequence[tuple[int, str]], command: Callable[[str], str]
) -> Iterator[str]:
    numbers = [number for number, _ in void]
    yield visible(f"{len(void):,} of them without a result; `{command(f'match {numbers[-1]}')}` shows one")
    for reason, count in Counter(reason for _, reason in void).most_common():
        advice = REASONS.get(reason.partition(":")[0])
        yield visible(f"  {count:,} {reason}" + (f": {advice}" if advice else ""))
    for trouble, _ in _troubles(ledger, numbers[-LOOKED_AT:]).most_common(SHOWN):
        yield visible(f"  {trouble}")


def _troubles(ledger: Ledger, numbers: Sequence[int]) -> Counter[str]:
    """Return why these matches had no usable replies: failures in their clients' words, and what officials
    said that nobody could use."""
    troubles: Counter[str] = Counter()
    for exchange in (each for number in numbers for each in match_view(ledger, number).exchanges):
        player, status, reason = exchange.player, exchange.status, exchange.reason
        if status == "void" and reason:
            troubles[reason if player in reason else f"{player}: {reason}"] += 1
        elif exchange.role != "contestant" and (
            status == "refused" or (status == "invalid" and first_key(exchange.key) != exchange.key)
        ):
            troubles[f"{player} as {exchange.role}: {status}{f': {reason}' if reason else ''}"] += 1
    return troubles


def place(address: str) -> str:
    """Return a ledger file's path, as short as it can be pasted; any other address as it is."""
    if not address.startswith("sqlite:///"):
        return address
    path = Path(address.removeprefix("sqlite:///"))
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
