"""From what players achieved to scores for any number of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SCORE = "Your score is the share of the other players that you are ahead of; a tie counts half."
"""Rule by which ranks become scores, as players see it."""


def by_rank(achieved: Mapping[str, Any]) -> dict[str, float]:
    """Each label's share of the others it is ahead of, a tie counting half: 1 for the only best, 0 for the
    only last. Greater values are better; two players get 1, ½ or 0. At least two labels.
    """
    values = list(achieved.values())
    return {
        label: (sum(own > theirs for theirs in values) + (values.count(own) - 1) / 2) / (len(values) - 1)
        for label, own in achieved.items()
    }
