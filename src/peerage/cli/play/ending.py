"""How a run ended, for people: what was played and paid, what came to nothing and why, where it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from peerage.cli.shared.options import at, program
from peerage.cli.shared.output import money
from peerage.values.figures import counted, dollars, moment

if TYPE_CHECKING:
    from peerage.arena import Arena
    from peerage.engine.run.report import RunReport

LOOKED_AT = 8
"""Void matches whose replies are read for the reasons."""
SHOWN = 3


def ending(
    arena: Arena, report: RunReport, void: Sequence[tuple[int, str]], folder: Path | None = None
) -> Iterator[str]:
    """The last words of a run, line by line; `void` are its matches that came to nothing. `folder` holds the
    ledger, where that is not the arena's."""
    from peerage.engine.record.probed import probe_costs
    from peerage.ledger.topics.uptimes import unused
    from peerage.players.checks import together
    from peerage.values.texts import visible

    decided = f" ({report.decided:,} with a result)" if report.decided != report.settled else ""
    counts = (
        f"{counted(report.settled, 'match')}{decided}, {report.played:,} of them now, in "
        f"{counted(report.calls, 'call')}; "
        f"{money(report.billed_nano, report.possibly_nano, report.unpriced)} in all"
    )
    match report.reason:
        case "interrupted":
            yield f"stopped: {counts}"
            yield "the same command goes on from here"
        case "budget" if report.until is None or not report.until.reached:
            yield f"stopped by the budget: {report.note}"
            yield counts
            whose = "match" if "(match_budget" in report.note else "player"
            own = "" if " left; " in report.note else whose
            yield (
                f"to go on, raise `budget.{own}` in arena.yaml, or lower `max_tokens` of players"
                if own
                else "to go on, raise `budget` in arena.yaml, or say --budget DOLLARS"
            )
        case "players" | "no_result":
            yield visible(f"stopped: {report.note}")
            yield counts
        case "waiting":
            yield visible(f"nothing is left to do now{report.note and f' ({report.note})'}: {counts}")
        case _:
            yield f"done: {counts}"
    if report.until is not None:
        (known, needed), found = report.until.pairs, report.until
        short = "" if found.reached else f" ({known:,} of {counted(needed, 'pair')} told apart)"
        first = f"; {counted(report.decided, 'match')} were the limit, --more 20 plays on" * (
            report.reason == "limit" and not found.reached
        )
        yield visible(f"until {arena.settings.until}: {found.in_words}{short}{first}")
    probed = sum(cost.most_nano for cost in probe_costs(arena.ledger).values())
    if probed:
        yield f"{dollars(probed / 1e9)} of that went into probes before runs, in no match"
    if held := sum(unused(arena.ledger).values()):
        yield (
            f"{dollars(held / 1e9)} of that went into start and idle time of hosts, in no match; "
            f"`{program()} status{at(arena.folder)}` shows hours held and matches per hour"
        )
    for player, nano in report.overrun.items():
        yield (
            f"{player} was billed {dollars(nano / 1e9)} more than its calls could cost at most, as by a "
            "provider that ignores max_tokens; nothing more was asked of it in this run"
        )
    if twice := report.possibly_paid_twice:
        asked = "call that a crash had left open was", "calls that a crash had left open were"
        yield (
            f"{counted(twice, *asked)} asked again; at most "
            f"{dollars(report.possibly_paid_nano / 1e9)} was paid twice"
        )
    if void:
        yield from _without_result(arena, void, folder or arena.folder)
    yield from _waiting(arena, report)
    for told in together(report.benched):
        yield visible(f"benched until you fix it and run again: {told}")
    yield f"ledger: {_place(arena.ledger.address)}"


def exit_code(report: RunReport, void: Sequence[tuple[int, str]]) -> int:
    """The exit code of a command that played: 130 after Ctrl+C, 1 where all it played came to nothing."""
    from peerage.game.match import DEVELOPMENT

    if report.reason == "interrupted":
        return 130
    if report.reason in ("players", "no_result"):
        return 1
    failed = [reason for _, reason in void if reason != DEVELOPMENT]
    return 1 if report.played and len(failed) == report.played else 0


def _waiting(arena: Arena, report: RunReport) -> Iterator[str]:
    """For whom matches wait, the most first."""
    from peerage.values.texts import visible

    for player, count in Counter(one.player for one in report.waiting).most_common():
        mine = [one for one in report.waiting if one.player == player]
        first = min(mine, key=lambda one: (one.until_ms is None, one.until_ms or 0))
        until = f", the first until {moment(first.until_ms)}" if first.until_ms else ""
        since = moment(min(one.since_ms for one in mine))
        waits = counted(count, "match waits", "matches wait")
        yield visible(f"{waits} for {player} since {since}{until}: {first.why}")
    if report.waiting:
        yield (
            f"`{program()} status{at(arena.folder)}` lists them; the next run takes them up first, each when "
            "its time has come"
        )


def _without_result(arena: Arena, void: Sequence[tuple[int, str]], folder: Path) -> Iterator[str]:
    from peerage.reading.match import REASONS
    from peerage.values.texts import visible

    numbers = [number for number, _ in void]
    one = f"`{program()} match {numbers[-1]}{at(folder)}` shows one"
    yield visible(f"{len(void):,} of them without a result; {one}")
    for reason, count in Counter(reason for _, reason in void).most_common():
        advice = REASONS.get(reason.partition(":")[0])
        yield visible(f"  {count:,} {reason}" + (f": {advice}" if advice else ""))
    for trouble, _ in _troubles(arena, numbers[-LOOKED_AT:]).most_common(SHOWN):
        yield visible(f"  {trouble}")


def _troubles(arena: Arena, numbers: Sequence[int]) -> Counter[str]:
    """Return why these matches had no usable replies: failures in their clients' words, and what officials
    said that nobody could use."""
    from peerage.game.protocol import first_key

    found: Counter[str] = Counter()
    for number in numbers:
        for one in arena.match(number).exchanges:
            if one.status == "void" and one.reason:
                found[one.reason if one.player in one.reason else f"{one.player}: {one.reason}"] += 1
            elif one.role != "contestant" and (
                one.status == "refused" or (one.status == "invalid" and first_key(one.key) != one.key)
            ):
                why = f": {one.reason}" if one.reason else ""
                found[f"{one.player} as {one.role}: {one.status}{why}"] += 1
    return found


def _place(address: str) -> str:
    """A file's path, as short as it can be pasted; any other address as it is."""
    if not address.startswith("sqlite:///"):
        return address
    path = Path(address.removeprefix("sqlite:///"))
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
