"""A run in words, for anyone who watches it: money, troubles, what waits, one match."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from peerage.engine.run.report import Progress, RunReport
from peerage.ledger import Summary
from peerage.ledger.topics.waits import Waiting
from peerage.values.figures import counted, dollars, moment
from peerage.values.texts import visible

TROUBLED = 6
"""Lines of players in trouble."""


def spent(run: Progress | RunReport) -> str:
    """Return what is known to be billed, what may be in addition, and calls without a known price."""
    calls = f"{counted(run.unpriced, 'call')} of unknown cost"
    if run.unpriced and not run.billed_nano and not run.possibly_nano:
        return calls
    billed = f"{dollars(run.billed_nano / 1e9)} billed" if run.billed_nano else "nothing billed"
    more = f", {dollars(run.possibly_nano / 1e9)} more possibly billed" if run.possibly_nano else ""
    return f"{billed}{more}{f', and {calls}' if run.unpriced else ''}"


def troubles(progress: Progress) -> list[str]:
    """Return the troubles of players' calls, one line each; of many players the first few."""
    lines = [str(trouble) for trouble in progress.troubles]
    if len(lines) > TROUBLED:
        lines[TROUBLED - 1 :] = [f"and {len(lines) - TROUBLED + 1} more players in trouble"]
    return [*lines, *waiting(progress.waiting)]


def waiting(matches: Sequence[Waiting]) -> Iterator[str]:
    """Yield for whom matches wait, since and until when, and why, the most first."""
    for player, count in Counter(match.player for match in matches).most_common(TROUBLED):
        own = [match for match in matches if match.player == player]
        since = moment(min(match.since_ms for match in own))
        first = min(own, key=lambda match: (match.until_ms is None, match.until_ms or 0))
        until = f" until {moment(first.until_ms)}" if first.until_ms else ""
        waits = counted(count, "match waits", "matches wait")
        yield visible(f"{waits} for {player} since {since}{until}: {first.why}")


def hint(progress: Progress) -> str:
    """Return what Ctrl+C does, or is doing."""
    if progress.stopping:
        if not progress.calls_in_flight:
            return "stopping: writing down what calls brought; Ctrl+C again gives it up"
        calls = counted(progress.calls_in_flight, "call")
        them = "it" if progress.calls_in_flight == 1 else "them"
        return f"stopping: waiting for {calls} in flight, already paid for; Ctrl+C again gives {them} up"
    return "Ctrl+C stops when the calls in flight have returned, twice at once; run it again to go on"


def settled(summary: Summary) -> str:
    """Return one finished match in one line."""
    topic = f" on {summary.topic}" if summary.topic else ""
    best = max(summary.scores, default=0.0)
    winners = [p for p, score in zip(summary.players, summary.scores, strict=False) if score == best]
    losers = " and ".join(player for player in summary.players if player not in winners)
    if summary.status != "done":
        result = f"{' and '.join(summary.players)}{topic}: no result, {summary.status}"
    elif not summary.scores:
        result = f"judged{topic}"
    elif len(winners) > 1:
        result = f"{' and '.join(winners)} tied{topic}"
    else:
        result = f"{winners[0]} beat {losers}{topic}"
    return visible(f"{summary.number}: {result}")
