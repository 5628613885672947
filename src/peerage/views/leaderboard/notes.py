"""Notes below a leaderboard: what kind of table it is, where that is not the usual one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from peerage.reading.results.played import PlayedMatches
from peerage.settings.players.families import AGENTS
from peerage.values import grouped

WITHDRAWN = 8
"""Withdrawn players that a note names."""

SERIES = (
    "matches of one series, or of one task whose answers they share, hang together, and this track's "
    "intervals take each for itself, which may make them too narrow: those of strength and Bradley-Terry "
    "allow for that"
)

OF_MANY = "W: first alone, in a match of more than two; D: shares first place; L: any other place"


def weighing(played: PlayedMatches) -> tuple[str, ...]:
    """Return how matches of several games were weighed."""
    if len(played.games) < 2:
        return ()
    counts: dict[str, int] = {}
    for summary in played.decided:
        counts[summary.game] = counts.get(summary.game, 0) + 1
    if len(counts) < 2:
        return ()
    shares = ", ".join(
        f"{game} {played.scope.weights.get(game, 1.0):g} ({counts[game]} matches)" for game in sorted(counts)
    )
    return (f"over {len(counts)} games, each match weighing: {shares}",)


def maker_of(family: str) -> str:
    """Return who made the models of a family: openai of openai/gpt; an agent is a maker of its own."""
    return family if family.partition(":")[0] in AGENTS else family.partition("/")[0]


def of_makers(families: Mapping[str, str], listed: Collection[str], played: Iterable[str]) -> Iterator[str]:
    """A note for each maker of several players of which only some are still listed: one that enters many and
    keeps the best looks better than it is (Singh and others, "The Leaderboard Illusion", 2025)."""
    of = grouped((maker_of(families.get(name, "")) or name, name) for name in sorted({*played, *listed}))
    for maker, names in of.items():
        gone = [name for name in names if name not in listed]
        left = len(names) - len(gone)
        if gone and left:
            more = f" and {len(gone) - WITHDRAWN} more" if len(gone) > WITHDRAWN else ""
            yield (
                f"{maker} entered {len(names)} players, of which {left} {'is' if left == 1 else 'are'} still "
                f"listed; withdrawn: {', '.join(gone[:WITHDRAWN])}{more}. The best of several tries looks "
                "better than it is"
            )
