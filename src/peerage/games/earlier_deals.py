"""The deals of a match that are over as a seat may know them: its own view, what was shown, the score."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import dropwhile
from typing import Any, NamedTuple

MOST_CHARS, END_CHARS = 4_000, 1_000
"""Characters of all deals that are over (the oldest are left out), and of one view of how one ended."""
_EARLIER = """

The deals before this one, the newest last:
{deals}
Points so far, by what each player is in this deal: {points}.

Now deal {deal}."""


class Showdown(NamedTuple):
    """The part of a deal that is over which players see: their own view where something is `hidden`, and
    those of "all" or of the "unfolded", who made no move `fold` ("Pass after Bet": no such move after that
    one)."""

    hidden: bool
    shown: str
    fold: str


class EarlierDeals:
    """The deals that are over, by the label of the seat that reads of them."""

    def __init__(self, showdown: Showdown, labels: Sequence[str]) -> None:
        self.points = dict.fromkeys(labels, 0.0)
        self._showdown = showdown
        self._ends: dict[str, list[str]] = {label: [] for label in labels}

    def add(self, view: Callable[[int], str], recorded: Mapping[str, Any]) -> None:
        """Take in a deal that is over, as on record, with the `view` of each player."""
        players: Sequence[str] = recorded["players"]
        shown = showing(self._showdown, players, recorded["moves"])
        for at, (label, points) in enumerate(zip(players, recorded["points"], strict=True)):
            self.points[label] = round(self.points[label] + points, 9)
            lines = [f"Deal {len(self._ends[label]) + 1}: you were player {at} and got {points:+g} points."]
            if self._showdown.hidden:
                lines.append(f"You saw in the end:\n{_end(view, at)}")
            lines += [
                f"Player {other} showed what it saw:\n{_end(view, other)}" for other in shown if other != at
            ]
            self._ends[label].append("\n".join(lines))

    def shown_to(self, label: str, players: Sequence[str]) -> str:
        """Return what a seat reads of them in a deal between `players`; nothing in the first one."""
        kept, size = list[str](), 0
        for end in reversed(self._ends[label]):
            size += len(end) + 1
            if size > MOST_CHARS:
                break
            kept.insert(0, end)
        if not kept:
            return ""
        score = [
            f"{self.points[player]:+g} of player {at}{' (you)' if player == label else ''}"
            for at, player in enumerate(players)
        ]
        return _EARLIER.format(
            deals="\n".join(kept), points=", ".join(score), deal=len(self._ends[label]) + 1
        )


def showing(showdown: Showdown, players: Sequence[str], moves: Sequence[str]) -> list[int]:
    """Return the players whose views all see when a deal is over. `moves` are as on record, "A: Fold". Of
    players who may fold nobody shows anything when one alone is left."""
    if not showdown.shown:
        return []
    fold, _, bet = showdown.fold.partition(" after ")
    later = dropwhile(lambda move: bool(bet) and not move.endswith(f": {bet}"), moves)
    folded = {move.partition(": ")[0] for move in later if move.endswith(f": {fold}")}
    left = [at for at, label in enumerate(players) if showdown.shown == "all" or label not in folded]
    return left if len(left) > 1 else []


def _end(view: Callable[[int], str], player: int) -> str:
    text, half = view(player).strip(), END_CHARS // 2
    return text if len(text) <= END_CHARS else f"{text[:half]} … {text[-half:]}"
