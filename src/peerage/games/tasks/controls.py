"""Controls: matches that a check decides and judges see all the same, so that judges are held against it.

Until each judge has seen as many as the rules want, matches are drawn as controls: those of them whose check
tells the answers apart are shown to their judges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

CONTROL, SEEN = "control", "controlled"
"""The key of what is drawn, and that of the fact with the players who judged a control."""


class Controls:
    """A memory of how many controls each judge has seen; implements `games.game.Memory`."""

    def __init__(self, wanted: int, draw: Callable[[str, int], Mapping[str, Any]]) -> None:
        self._wanted = wanted
        self._draw = draw
        self._seen: Counter[str] = Counter()

    def learn(self, match: int, facts: Sequence[Mapping[str, Any]]) -> None:
        """Take in who judged a control."""
        for fact in facts:
            self._seen.update(fact.get(SEEN, ()))

    def amend(self, said: Mapping[str, Any]) -> None:
        """Nothing is amended."""

    def draw(self, secret: str, number: int, sealing: str) -> Mapping[str, Any]:
        """Return the draw for match `number`; it may be a control while judges lack some."""
        drawn = self._draw(secret, number)
        few = self._seen.total() < self._wanted * max(1, len(self._seen))
        return {**drawn, CONTROL: True} if few and drawn.get("checks") else drawn
